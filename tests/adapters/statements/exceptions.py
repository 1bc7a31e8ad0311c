"""The statements that do not name the organization of every tenant's row, and why they need not.

This list may only shrink: `test_every_statement.py` has its length. An entry is the name of a statement, as in
`texts.Sent`: a constant of a module, or the function that sends it, with how many statements of that name there are and
the tables that they mention unbound. What these tables are compared with counts as bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

NOT_OF_TENANTS: Final[Mapping[str, str]] = {
    "users": "an account is of its person; the organizations that it names have made or deactivated it",
    "recent_refusals": "a refused sign-in counts for its person; the organization that it names is where it was",
    "sessions": "a session is of its person; the organization that it names is the one in which it is used",
    "passkeys": "a passkey is of its person; the domain that it names is where it works",
    "mfa_challenges": "a challenge is of the person who signs in; the domain that it names is where",
    "browser_sessions": "a browser session is of its person; the domain that it names is where",
    "customer_active_people": "a count of people, which is written for the customer that their session names",
    "customer_user_checks": "a queue of changes of which an actor tells vendors, whichever organization made them",
    "customer_rechecks": "a queue of changes whose sessions an actor checks, whichever organization made them",
    "ended_log_owners": "a queue of deletions whose logs housekeeping looks at again, of any organization",
    "platform_audit_entries": "the log of the platform, in which an organization is only what was acted upon",
    "sandbox_customers": "the sandbox stands for the payment provider, and is no part of an installation with one",
}


class Unbound(NamedTuple):
    """How many statements of a name do not bind these tables."""

    statements: int
    tables: frozenset[str]


def _unbound(statements: int, tables: str) -> Unbound:
    return Unbound(statements, frozenset(tables.split()))


# By the reason, and by the name of the statement.
UNBOUND: Final[Mapping[str, Mapping[str, Unbound]]] = {
    "The session that a token names, whether its user belongs elsewhere, and sessions that descend from it.": {
        "accounts.names.OF_SESSION_WITH_NAMES": _unbound(1, "domain_routes memberships service_users"),
        # In place of a session, the row of one that there is not.
        "customers.claims.PREVIEWED": _unbound(1, "domain_routes memberships plans service_users subscriptions"),
        "openid.clients.PostgresClients.children_with_pages": _unbound(1, "services"),
        "organizations.access.CONTEXT": _unbound(1, "domain_routes memberships service_users"),
        "saml.sessions.ALIVE": _unbound(1, "saml_sessions"),
        "saml.sessions.END_EARLIER": _unbound(1, "saml_sessions"),
        "saml.sessions.PostgresSamlSessions.find": _unbound(1, "saml_sessions"),
        "sessions.browser_sessions.PostgresBrowserSessions.by_secret_hash": _unbound(1, "domain_routes"),
        "sessions.browser_sessions.PostgresBrowserSessions.defer_lock": _unbound(
            1, "custom_domains domain_routes memberships"
        ),
        "sessions.callers.OF_SESSION": _unbound(1, "domain_routes memberships service_users"),
        "sessions.callers.PARENT": _unbound(1, "domain_routes memberships service_users"),
        "sessions.customer_endings.BATCH": _unbound(
            1,
            "customer_assignments directory_group_members domain_routes memberships organizations service_customers"
            " services upstream_connections",
        ),
    },
    "One person, in every organization: the use case works on the account as a whole, or its own user does.": {
        "organizations.group_rules.PostgresGroupRules.ruled_by_connections": _unbound(1, "memberships"),
        "accounts.account_splits.PostgresAccountSplits.move_person": _unbound(
            3, "departed_identities identities login_events upstream_sign_ins"
        ),
        "accounts.account_splits._ALL_KNOWN_IDS": _unbound(1, "known_account_ids memberships service_users"),
        "accounts.account_splits._ALL_MEMBERSHIPS": _unbound(1, "memberships service_grants"),
        "accounts.account_splits._ALL_OF_SERVICES": _unbound(
            1, "billing_checkouts billing_customers billing_subscriptions service_users subscriptions"
        ),
        "accounts.own_accounts.BELONGING": _unbound(1, "memberships service_users"),
        "billing.reconciliation.PostgresBillingCancellations.add_of_user": _unbound(1, "billing_subscriptions"),
        "credentials.mfa.PostgresSecondFactors.rules_of": _unbound(1, "memberships"),
        "organizations.departures.PostgresDepartures.unconfirm": _unbound(2, "memberships service_users"),
        "organizations.departures._LINKS_SINCE": _unbound(1, "service_users"),
        "organizations.departures._UNCONFIRMED_LINKS": _unbound(1, "service_users"),
        "organizations.members.PostgresMembers.all_organizations_of": _unbound(1, "memberships"),
        "organizations.members.PostgresMembers.defer_organizations_of": _unbound(1, "memberships"),
        "organizations.members.PostgresMembers.of_account": _unbound(1, "memberships"),
        "organizations.members.PostgresMembers.unconfirmed_organizations_of": _unbound(1, "memberships"),
        "organizations.organizations.OF_MEMBER": _unbound(1, "memberships"),
        "organizations.takeovers.PostgresTakeovers.confirmed_roles": _unbound(1, "memberships"),
        "organizations.takeovers.PostgresTakeovers.grants": _unbound(1, "service_grants"),
        "organizations.takeovers._REVERT_GRANTS": _unbound(1, "service_grants"),
        "privacy.anonymization.PostgresAnonymization._delete_invitation_mails": _unbound(1, "invitations"),
        "privacy.anonymization.PostgresAnonymization._details": _unbound(1, "audit_entries"),
        "privacy.anonymization.PostgresAnonymization._replace_names": _unbound(2, "organization_roles organizations"),
        "privacy.anonymization.PostgresAnonymization.addresses": _unbound(1, "events"),
        "privacy.anonymization.PostgresAnonymization.affiliations": _unbound(1, "organizations"),
        "privacy.anonymization.PostgresAnonymization.delete_credentials": _unbound(
            8,
            "billing_checkouts billing_customers departed_identities directory_group_members identities scim_profiles "
            "service_user_metadata trial_sign_ins upstream_sign_ins",
        ),
        "privacy.anonymization.PostgresAnonymization.lock": _unbound(1, "invitations"),
        "privacy.anonymization.PostgresAnonymization.lock_next_closed": _unbound(1, "memberships"),
        "privacy.anonymization.PostgresAnonymization.replace_addresses": _unbound(
            17,
            "billing_customers bulk_job_rows bulk_jobs customer_claims events invitations mails memberships "
            "organizations scim_log_entries service_customers service_user_metadata trial_sign_ins",
        ),
        "privacy.anonymization.PostgresAnonymization.replace_origins": _unbound(3, "audit_entries events login_events"),
        "privacy.export.PostgresPrivacyExport.organizations_owned_by": _unbound(1, "memberships"),
        "sign_in.identities.PostgresIdentities.claim_refresh": _unbound(1, "identities"),
        "sign_in.identities.PostgresIdentities.find": _unbound(1, "identities"),
        "sign_in.identities.PostgresIdentities.lock_tokens": _unbound(1, "identities"),
        "sign_in.identities.PostgresIdentities.of_user": _unbound(1, "identities"),
        "sign_in.identities.PostgresIdentities.release_refresh": _unbound(1, "identities"),
        "sign_in.identities.PostgresIdentities.accounts_of": _unbound(1, "identities"),
        "sign_in.identities._REMOVE": _unbound(1, "departed_identities identities"),
        "sign_in.identities.PostgresIdentities.remove_all": _unbound(
            2, "departed_identities identities upstream_sign_ins"
        ),
        "sign_in.identities.PostgresIdentities.save_tokens": _unbound(1, "identities"),
        "sign_in.identities.PostgresIdentities.use": _unbound(1, "identities"),
        "sign_in.sign_ins.COUNT": _unbound(1, "login_events"),
        "sign_in.sign_ins.FIND": _unbound(1, "login_events upstream_connections"),
        "sign_in.sign_ins.FOLLOWING": _unbound(1, "login_events upstream_connections"),
        "sign_in.sign_ins.FOLLOWING_OF_ORGANIZATION": _unbound(1, "upstream_connections"),
        "sign_in.sign_ins.PAGE": _unbound(1, "login_events upstream_connections"),
        "sign_in.sign_ins.PAGE_OF_ORGANIZATION": _unbound(1, "upstream_connections"),
        "sign_in.upstream.connections.connections.PostgresUpstreamConnections.count_without_other_way": _unbound(
            1, "identities"
        ),
        "sign_in.upstream.revocation.moves.OF_DOMAIN": _unbound(1, "memberships service_users"),
        "sign_in.upstream.revocation.moves.OF_LINKED": _unbound(1, "memberships service_users"),
    },
    "Finds out which organization it is: by a public part of a credential, a client, a connection, or a domain.": {
        "openid.clients.FIND": _unbound(1, "services"),
        "organizations.departures.PostgresDepartures.organization_of_mail_domain": _unbound(1, "domain_routes"),
        "organizations.keys.CALLERS": _unbound(1, "memberships"),
        "organizations.settings.domain.PostgresCustomDomains.host": _unbound(1, "custom_domains"),
        "scim.tokens.CALLERS": _unbound(1, "scim_tokens"),
        "services.api_keys.CALLERS": _unbound(1, "api_keys"),
        "sign_in.places.PostgresSignInPlaces.defer_of_client": _unbound(
            2, "memberships organizations scim_profiles services"
        ),
        "services.workloads.PostgresWorkloads.key": _unbound(1, "organization_keys"),
        "sign_in.browser_returns.PostgresBrowserReturns.find": _unbound(1, "organizations"),
        "sign_in.own_account._REQUIRED": _unbound(1, "domain_routes"),
        "sign_in.places._TARGET": _unbound(1, "organizations"),
        "organizations.organizations.PostgresOrganizations.of_connection": _unbound(
            1, "organizations upstream_connections"
        ),
        "sign_in.upstream.connections.connections.PostgresUpstreamConnections.own_side": _unbound(
            1, "upstream_connections"
        ),
        "sign_in.upstream.domains.domain_routes._ENFORCED": _unbound(1, "domain_routes"),
        "sign_in.upstream.domains.domain_routes._OPEN": _unbound(1, "domain_routes"),
    },
    "A domain has one organization, so that what others have proved matters.": {
        "organizations.domain_proofs.DomainClaims._save_proof": _unbound(4, "custom_domains domain_routes"),
        "services.services.PostgresVerifiedDomains.cover": _unbound(1, "custom_domains"),
        "sign_in.upstream.domains.domain_routes._MADE": _unbound(1, "domain_routes"),
        # Notifies vendors that an organization has proved the domain of their customers.
        "sign_in.upstream.domains.domain_routes.PostgresDomainRoutes.proved_for_customers": _unbound(
            1, "domain_routes"
        ),
    },
    "The payment provider knows its own ids alone; the row says of which organization they are.": {
        "billing.provider_customers.PostgresBillingCustomers._defer_add": _unbound(1, "billing_customers"),
        "billing.provider_customers.PostgresBillingCustomers.bind": _unbound(1, "billing_customers"),
        "billing.provider_customers.PostgresBillingCustomers.lock": _unbound(1, "billing_customers"),
        "billing.provider_customers.PostgresBillingCustomers.mark_deleted": _unbound(1, "billing_customers"),
        "billing.provider_customers.PostgresBillingCustomers.save_default_method": _unbound(1, "billing_customers"),
        "billing.provider_customers.PostgresBillingCustomers.save_profile": _unbound(1, "billing_customers"),
        "billing.provider_customers._HOLD": _unbound(1, "billing_customers"),
        "billing.events.PostgresBillingEvents.defer_add": _unbound(1, "billing_events"),
        "billing.events.PostgresBillingEvents.mark_noticed": _unbound(1, "billing_events"),
        "billing.events.PostgresBillingEvents.methods": _unbound(1, "billing_events"),
        "billing.events.PostgresBillingEvents.refuse": _unbound(1, "billing_events"),
        "billing.subscriptions.CURRENT": _unbound(1, "plans"),
        "billing.subscriptions.HISTORY": _unbound(1, "billing_events billing_subscriptions"),
        "billing.subscriptions.PLANS": _unbound(1, "billing_events billing_subscriptions plans"),
        "billing.subscriptions.PostgresBillingSubscriptions._defer_add": _unbound(1, "billing_subscriptions"),
        "billing.subscriptions.PostgresBillingSubscriptions._defer_lock": _unbound(1, "billing_subscriptions"),
        "billing.subscriptions.PostgresBillingSubscriptions.of_customer": _unbound(1, "billing_subscriptions"),
        "billing.subscriptions.PostgresBillingSubscriptions.postpone": _unbound(1, "billing_subscriptions"),
        "billing.subscriptions.PostgresBillingSubscriptions.save": _unbound(
            1, "billing_customers billing_subscriptions"
        ),
    },
    "The id is that of a row or a service which the same transaction has read for its organization.": {
        "organizations.bulk_jobs.PostgresBulkJobs.add": _unbound(1, "bulk_job_rows"),
        "organizations.bulk_jobs.PostgresBulkJobs.rows": _unbound(1, "bulk_job_rows"),
        "service_api.analytics.FIGURES": _unbound(1, "service_user_changes service_user_milestones"),
        "service_api.subscriptions.COUNT_OF_ALL": _unbound(1, "subscriptions"),
        "service_api.subscriptions.COUNT_OF_STATUS": _unbound(1, "subscriptions"),
        "service_api.subscriptions.PAGE_OF_ALL": _unbound(1, "plans"),
        "service_api.subscriptions.PAGE_OF_STATUS": _unbound(1, "plans"),
        "services.services.PostgresServices.remove": _unbound(1, "service_user_changes"),
    },
    "The next work of all organizations, which an actor takes and does for each of them apart.": {
        "organizations.deletion.LOCK_NEXT": _unbound(1, "organizations"),
        "audit.audit_log.UNCOUNTED": _unbound(1, "audit_entries"),
        "audit.audit_log.PostgresAuditLog._until_next": _unbound(1, "audit_entries"),
        "audit.chain.BACKLOG": _unbound(1, "audit_totals"),
        "audit.chain.WAITING_IN_PART": _unbound(1, "audit_entries"),
        "audit.chain.MARKED": _unbound(1, "log_dues"),
        "audit.siem.LEASE": _unbound(1, "siem_streams"),
        "audit.sign_in_counts.BATCH": _unbound(1, "login_events"),
        "audit.sign_in_counts.FIRST_UNCOUNTED": _unbound(1, "login_events"),
        "audit.sign_in_counts.PostgresSignInCounts._until_next": _unbound(1, "login_events"),
        "billing.provider_customers.PostgresBillingCustomers.lease_due": _unbound(1, "billing_customers"),
        "invitations.invitations.DUE": _unbound(1, "invitations"),
        "invitations.invitations.DUE_AFTER": _unbound(1, "invitations"),
        "invitations.invitations.EXPIRE": _unbound(1, "invitations"),
        "mail.mail._DUE": _unbound(1, "mail_dues organizations"),
        "mail.routed_mail.PostgresRoutedMail.expire": _unbound(2, "mails"),
        "mail.routed_mail.PostgresRoutedMail.lease": _unbound(1, "mail_dues mail_servers"),
        "openid.logout.PostgresLogoutNotices.lease": _unbound(1, "logout_queues"),
        "openid.logout.PostgresLogoutNotices.postpone_inactive": _unbound(1, "logout_queues"),
        "organizations.domain_proofs.DomainClaims._claim_checks": _unbound(2, "custom_domains domain_routes"),
        "platform.bulk_work.LEASE": _unbound(1, "bulk_jobs"),
        "platform.overlooked.LONG_WAITING": _unbound(1, "audit_entries events mails webhook_deliveries"),
        "platform.polling.NEXT": _unbound(
            1,
            "billing_customers billing_subscriptions bulk_jobs events invitations log_dues "
            "logout_queues mail_dues mail_servers organizations service_user_changes siem_streams "
            "webhook_queues webhooks",
        ),
        "saml.certificates.CLAIM_ENDING": _unbound(1, "saml_certificates"),
        "service_api.users.PostgresServiceUsers.add_milestones": _unbound(1, "service_user_milestones"),
        "service_api.users.PostgresServiceUsers.count_changes": _unbound(1, "service_user_changes"),
        "services.sales.ADD_UP": _unbound(1, "subscription_changes"),
        "services.sales.NEW": _unbound(1, "subscription_changes"),
        "sign_in.upstream.connections.connection_keys.CLAIM_ENDING": _unbound(1, "connection_keys"),
        "sign_in.upstream.connections.connections.CLAIM_ENDING": _unbound(1, "upstream_connections"),
        "sign_in.upstream.connections.connections.PostgresUpstreamConnections.with_published_metadata": _unbound(
            1, "organizations upstream_connections"
        ),
        "webhooks.deliveries.LEASE": _unbound(1, "webhook_queues"),
        "webhooks.deliveries.PostgresWebhookDeliveries.postpone_inactive": _unbound(1, "webhook_queues"),
        "webhooks.sequencing.DUE": _unbound(1, "event_positions log_dues"),
    },
    "Deletes after the retention, or counts, what is of no organization in particular.": {
        "mail.mail._FORGET": _unbound(1, "mails"),
        "mail.mail._OLD": _unbound(1, "mails"),
        "platform.ended_invitations._DELETE": _unbound(1, "invitations"),
        "platform.housekeeping.PostgresHousekeeping.delete": _unbound(
            17,
            "address_conflicts authorization_codes authorization_requests billing_checkouts "
            "bulk_jobs client_problems customer_claims device_codes organization_keys recent_acts saml_logouts "
            "saml_requests service_customers setup_links trial_sign_ins upstream_failures upstream_sign_ins",
        ),
        "platform.housekeeping.PostgresHousekeeping.overdue": _unbound(
            1,
            "address_conflicts authorization_codes authorization_requests billing_checkouts "
            "bulk_jobs client_problems customer_claims device_codes events invitations organization_keys recent_acts "
            "saml_logouts saml_requests scim_log_entries service_customers setup_links trial_sign_ins "
            "upstream_failures upstream_sign_ins webhook_deliveries",
        ),
        "platform.retention.OldLogRows.delete": _unbound(4, "events login_events scim_log_entries webhook_deliveries"),
        "platform.log_months.PostgresLogMonths.has_strays": _unbound(
            7, "audit_entries events login_events mails scim_log_entries webhook_attempts webhook_deliveries"
        ),
        "platform.unproved_accounts.DELETE": _unbound(
            1,
            "api_keys billing_checkouts billing_customers billing_subscriptions "
            "branding_versions bulk_jobs departed_identities group_rules identities invitations memberships "
            "organizations scim_profiles scim_tokens service_grants service_users setup_links "
            "subscriptions trial_sign_ins upstream_sign_ins workloads",
        ),
        "platform.unproved_accounts.NAMED": _unbound(1, "audit_entries login_events"),
        "platform.unproved_accounts._KEEP": _unbound(
            1,
            "api_keys billing_customers billing_subscriptions branding_versions "
            "bulk_jobs departed_identities group_rules identities invitations memberships organizations "
            "scim_profiles scim_tokens service_grants service_users setup_links subscriptions "
            "trial_sign_ins workloads",
        ),
    },
    "Figures, lists and checks that only the operators of the platform see.": {
        "audit.chain.PostgresAuditChains.of_organizations": _unbound(1, "organizations"),
        "audit.entry_search._NAMES_FOR_PLATFORM": _unbound(1, "mails services"),
        "audit.sign_in_counts.ACTIVE_OF_PLATFORM": _unbound(1, "login_events"),
        "audit.sign_in_counts.BY_DAY_OF_PLATFORM": _unbound(1, "login_events"),
        "audit.sign_in_counts.FIGURES_OF_PLATFORM": _unbound(1, "login_events"),
        "audit.sign_in_counts.FIRST_OF_PLATFORM": _unbound(1, "login_events"),
        "audit.sign_in_log.LAST_OF_ADDRESS": _unbound(1, "login_events"),
        "audit.sign_in_log.OF_ADDRESS": _unbound(1, "login_events organizations services upstream_connections"),
        "audit.sign_in_log.ACTIVE_IN_PLATFORM": _unbound(1, "login_events"),
        "audit.sign_in_log.LISTED_OF_PLATFORM": _unbound(1, "login_events upstream_connections"),
        "audit.sign_in_log.OF_PERSON": _unbound(1, "login_events upstream_connections"),
        "mail.mail.PostgresMailOutbox.latest": _unbound(1, "mails"),
        "organizations.tiers.PostgresTiers.counted": _unbound(1, "organizations"),
        "platform.users.LISTED": _unbound(1, "memberships"),
        "platform.health_figures.BACKLOG": _unbound(1, "audit_entries mails siem_streams webhook_deliveries"),
        "platform.health_figures.COUNT": _unbound(1, "organizations saml_certificates"),
        "platform.doctor.CANDIDATES": _unbound(1, "organizations"),
        "platform.mails._OF_MAIL": _unbound(1, "mails"),
        "platform.mails.PostgresPlatformMails.page": _unbound(12, "mails"),
        "platform.mfa.RISKY": _unbound(1, "login_events"),
        "platform.organization_records.PostgresOrganizationRecords.count": _unbound(2, "organizations"),
        "platform.organization_records.PostgresOrganizationRecords.page": _unbound(2, "organizations"),
        "platform.organization_records._WAITING": _unbound(1, "organizations"),
        "platform.organizations.PAGE": _unbound(1, "organizations"),
        "platform.mails.PostgresBrowsedOutbox.count": _unbound(12, "mails"),
        "platform.mails.HIDDEN": _unbound(1, "mails"),
        "platform.mails.PostgresBrowsedOutbox.count_undelivered": _unbound(6, "mails"),
        "platform.overview.FAILING_STREAMS": _unbound(1, "siem_streams"),
        "platform.overview.FAILING_WEBHOOKS": _unbound(1, "webhook_queues"),
        "platform.overview.GONE_WEBHOOKS": _unbound(1, "organizations webhooks"),
        "platform.overview.ORGANIZATIONS": _unbound(1, "organizations"),
        "platform.overview.SETUP": _unbound(1, "service_users services"),
        "platform.doctor.PostgresPublicNames.dotted": _unbound(1, "organizations"),
        "platform.search.BY_ID": _unbound(1, "services"),
        "platform.search.BY_REQUEST": _unbound(1, "login_events"),
        "platform.search._BY_DOMAIN": _unbound(1, "organizations"),
        "platform.system.RECENT_MAILS": _unbound(1, "mails"),
        "platform.system.WORK": _unbound(1, "audit_chains bulk_jobs events mails webhook_deliveries"),
        "platform.users.WITH_BEGINNING": _unbound(1, "memberships"),
        "platform.users.WITH_ID": _unbound(1, "memberships"),
        "platform.users.WITH_PART": _unbound(1, "memberships"),
        "scim.directory_groups.LEFT": _unbound(1, "directory_ends directory_groups scim_tokens"),
        "services.sales.SELLERS": _unbound(1, "subscription_totals"),
        "services.sales._TOTALS": _unbound(1, "subscription_changes"),
        "sign_in.upstream.connections.connections.with_changed_issuer": _unbound(1, "upstream_connections"),
    },
}
# Statements about one person, or about the audience of a token, that name the organization if the session or the use
# case is confined to one, `%s IS NULL OR organization_id = %s`; without that condition they are found.
BOUND_IF_GIVEN: Final[Mapping[str, int]] = {
    "billing.own_subscriptions.PAGE": 1,
    "customers.my_applications.PAGE": 1,
    "billing.own_subscriptions._CUSTOMER": 1,
    "invitations.invitations.PostgresInvitations.pending_for": 1,
    "invitations.invitations.PostgresInvitations.withdraw": 1,
    "openid.clients.PostgresClients.audience_among": 1,
    "organizations.keys.PostgresOrganizationKeys.remove_of_makers": 1,
    "organizations.organizations.PostgresOrganizations.search_of_member": 2,
    "privacy.export.PostgresPrivacyExport.count_logins": 1,
    "privacy.export.PostgresPrivacyExport.groups": 1,
    "privacy.export.PostgresPrivacyExport.identities": 1,
    "privacy.export.PostgresPrivacyExport.memberships": 1,
    "privacy.export.PostgresPrivacyExport.newest_logins": 1,
    "privacy.export.PostgresPrivacyExport.service_metadata": 1,
    "services.applications.PAGE": 1,
    "services.workloads.PostgresWorkloads.remove_of_makers": 1,
    "sign_in.own_account.FIGURES": 1,
    "sign_in.own_account.PAGE": 1,
    "sign_in.own_account._SUPPORT": 1,
}

"""An annotation for each aggregate of a unit of work, which creates the aggregate when it is first used, and keeps it.

This module evaluates its annotations, so it has no `from __future__ import annotations`.
"""

from typing import TYPE_CHECKING

from adapters.postgres.accounts.account_splits import PostgresAccountSplits
from adapters.postgres.accounts.names import PostgresPersonNames
from adapters.postgres.accounts.one_time_tokens import PostgresOneTimeTokens
from adapters.postgres.accounts.open_registrations import PostgresOpenRegistrations
from adapters.postgres.accounts.own_accounts import PostgresOwnAccounts
from adapters.postgres.accounts.sign_in_failures import PostgresSignInFailures
from adapters.postgres.accounts.user_import import PostgresUserImport
from adapters.postgres.accounts.users import PostgresCredentials, PostgresKnownIds, PostgresUsers
from adapters.postgres.audit.analytics import PostgresAnalytics
from adapters.postgres.audit.audit_log import PostgresAuditLog
from adapters.postgres.audit.chain import PostgresAuditChains
from adapters.postgres.audit.chain_verification import PostgresSealedEntries
from adapters.postgres.audit.entry_search import PostgresAuditSearches
from adapters.postgres.audit.person_records import PostgresPersonRecords
from adapters.postgres.audit.siem import PostgresSiemSignIns, PostgresSiemStreams
from adapters.postgres.audit.sign_in_counts import PostgresSignInCounts
from adapters.postgres.audit.sign_in_log import PostgresSignInLog
from adapters.postgres.billing.checkout import PostgresBillingCheckouts
from adapters.postgres.billing.events import PostgresBillingEvents
from adapters.postgres.billing.own_subscriptions import PostgresSubscriptionsOfUser
from adapters.postgres.billing.provider_customers import PostgresBillingCustomers
from adapters.postgres.billing.reconciliation import PostgresBillingCancellations
from adapters.postgres.billing.sandbox import PostgresSandbox
from adapters.postgres.billing.subscriptions import PostgresBillingSubscriptions
from adapters.postgres.credentials.devices import PostgresDevices
from adapters.postgres.credentials.mfa import (
    PostgresBackupCodes,
    PostgresMfaEvents,
    PostgresSecondFactors,
    PostgresTotpSecrets,
)
from adapters.postgres.credentials.passkeys import PostgresPasskeyChallenges, PostgresPasskeys
from adapters.postgres.customers.claiming import PostgresCustomerClaims
from adapters.postgres.customers.claims import PostgresTokenPreviews
from adapters.postgres.customers.customers import PostgresServiceCustomers
from adapters.postgres.customers.found_customers import PostgresFoundCustomers
from adapters.postgres.customers.found_products import PostgresFoundProducts
from adapters.postgres.customers.group_rules import PostgresCustomerGroupRules
from adapters.postgres.customers.made_customers import PostgresEndedCustomers
from adapters.postgres.customers.made_for_us import PostgresMadeForUs
from adapters.postgres.customers.my_applications import PostgresMyApplications, PostgresOwnCustomers
from adapters.postgres.customers.people import PostgresCustomerPeople
from adapters.postgres.customers.people_events import PostgresPeopleEvents
from adapters.postgres.customers.product_sign_ins import PostgresProductSignIns
from adapters.postgres.customers.products import PostgresProducts
from adapters.postgres.customers.refused_sign_ins import PostgresRefusedSignIns
from adapters.postgres.customers.service_settings import PostgresServiceRoleUses
from adapters.postgres.customers.setup_links import PostgresCustomerSetupLinks
from adapters.postgres.customers.setup_progress import PostgresCustomerSetupProgresses
from adapters.postgres.customers.usage import PostgresCustomerUsages
from adapters.postgres.events.actions import PostgresAuditEntries, PostgresPlatformAuditEntries
from adapters.postgres.events.events import PostgresEvents
from adapters.postgres.invitations.found_invitations import PostgresFoundInvitations
from adapters.postgres.invitations.invitations import PostgresInvitations
from adapters.postgres.mail.brands import PostgresMailBrands
from adapters.postgres.mail.mail import PostgresMailCounts, PostgresMailOutbox
from adapters.postgres.mail.routed_mail import PostgresRoutedMail
from adapters.postgres.openid.clients import PostgresClients
from adapters.postgres.openid.device import PostgresDeviceCodes
from adapters.postgres.openid.logout import PostgresLogoutNotices
from adapters.postgres.openid.requests import PostgresAuthorizationRequests
from adapters.postgres.openid.token_grants import PostgresAuthorizationCodes, PostgresSingleUses
from adapters.postgres.organizations.access import PostgresAccess
from adapters.postgres.organizations.bulk_jobs import PostgresBulkJobs
from adapters.postgres.organizations.deletion import PostgresDeletedOrganizations
from adapters.postgres.organizations.departures import PostgresDepartures, PostgresMadeCredentials
from adapters.postgres.organizations.found_members import PostgresFoundMembers
from adapters.postgres.organizations.group_rules import PostgresGroupRules
from adapters.postgres.organizations.keys import PostgresMadeByKeys, PostgresOrganizationKeys
from adapters.postgres.organizations.members import PostgresMembers
from adapters.postgres.organizations.organizations import PostgresOrganizations
from adapters.postgres.organizations.overview import PostgresOverviews
from adapters.postgres.organizations.relations import PostgresRelations
from adapters.postgres.organizations.roles import PostgresRoles
from adapters.postgres.organizations.settings.branding import PostgresBrandings, PostgresBrandingVersions
from adapters.postgres.organizations.settings.domain import PostgresCustomDomains
from adapters.postgres.organizations.settings.smtp import PostgresMailServers
from adapters.postgres.organizations.setup_links import PostgresSetupLinks
from adapters.postgres.organizations.takeover_credentials import PostgresTakeoverClaims, PostgresTakeoverCredentials
from adapters.postgres.organizations.takeover_mails import PostgresTakeoverRecords
from adapters.postgres.organizations.takeovers import PostgresTakeovers
from adapters.postgres.organizations.tiers import PostgresTiers
from adapters.postgres.platform.audit_log import PostgresPlatformAuditLog
from adapters.postgres.platform.bulk_work import PostgresBulkWork
from adapters.postgres.platform.doctor import PostgresLeftCredentials, PostgresPublicNames
from adapters.postgres.platform.explained_customers import PostgresExplainedCustomers
from adapters.postgres.platform.health_figures import PostgresFigures
from adapters.postgres.platform.housekeeping import PostgresHousekeeping
from adapters.postgres.platform.log_months import PostgresLogMonths
from adapters.postgres.platform.mails import PostgresBrowsedOutbox, PostgresPlatformMails
from adapters.postgres.platform.mfa import PostgresPlatformMfa
from adapters.postgres.platform.organization_records import PostgresOrganizationRecords
from adapters.postgres.platform.organizations import PostgresPlatformOrganizations
from adapters.postgres.platform.overlooked import PostgresOverlookedWork
from adapters.postgres.platform.overview import PostgresPlatformOverviews
from adapters.postgres.platform.owners import PostgresPlatformOwners
from adapters.postgres.platform.polling import PostgresDueWork
from adapters.postgres.platform.search import PostgresPlatformSearches
from adapters.postgres.platform.support import PostgresPlatformSupport
from adapters.postgres.platform.system import PostgresClusters, PostgresPrimary, PostgresSystem
from adapters.postgres.platform.users import PostgresFoundUsers, PostgresPlatformUsers
from adapters.postgres.privacy.anonymization import PostgresAnonymization
from adapters.postgres.privacy.export import PostgresPrivacyExport
from adapters.postgres.saml.certificates import PostgresSamlCertificates
from adapters.postgres.saml.configurations import PostgresSamlConfigurations, PostgresSamlProviders
from adapters.postgres.saml.logouts import PostgresSamlLogouts
from adapters.postgres.saml.requests import PostgresSamlRequests
from adapters.postgres.saml.sessions import PostgresSamlSessions
from adapters.postgres.scim.directory import PostgresScimDirectory
from adapters.postgres.scim.directory_groups import PostgresDirectoryGroups
from adapters.postgres.scim.groups import PostgresScimGroups
from adapters.postgres.scim.log import PostgresScimLog
from adapters.postgres.scim.tokens import PostgresScimTokens
from adapters.postgres.scim.users import PostgresScimUsers
from adapters.postgres.service_api.analytics import PostgresServiceFigures
from adapters.postgres.service_api.subscriptions import PostgresServiceSubscriptions
from adapters.postgres.service_api.users import PostgresServiceUsers
from adapters.postgres.services.api_keys import PostgresApiKeys
from adapters.postgres.services.applications import PostgresApplicationsOfUser
from adapters.postgres.services.assignments import PostgresServiceAssignments
from adapters.postgres.services.end_users import PostgresEndUsers, PostgresFoundEndUsers
from adapters.postgres.services.first_sign_ins import PostgresFirstSignIns
from adapters.postgres.services.found_services import PostgresFoundServices
from adapters.postgres.services.grants import PostgresServiceGrants
from adapters.postgres.services.plans import PostgresPlans
from adapters.postgres.services.problems import PostgresClientProblems
from adapters.postgres.services.sales import PostgresSalesBook
from adapters.postgres.services.services import PostgresServices, PostgresVerifiedDomains
from adapters.postgres.services.subscriptions import PostgresFoundSubscriptions, PostgresSubscriptions
from adapters.postgres.services.user_metadata import PostgresServiceUserMetadata
from adapters.postgres.services.workloads import PostgresWorkloads
from adapters.postgres.sessions.browser_sessions import PostgresBrowserSessions
from adapters.postgres.sessions.callers import PostgresCallers
from adapters.postgres.sessions.client_grants import PostgresClientGrants
from adapters.postgres.sessions.customer_endings import PostgresCustomerSessions
from adapters.postgres.sessions.server_secrets import PostgresServerSecrets
from adapters.postgres.sessions.sessions import PostgresSessions
from adapters.postgres.sessions.shown_secrets import PostgresShownSecrets
from adapters.postgres.sessions.signing_keys import PostgresSigningKeys
from adapters.postgres.sessions.unfinished_sign_ins import PostgresUnfinishedSignIns
from adapters.postgres.sign_in.browser_returns import PostgresBrowserReturns
from adapters.postgres.sign_in.customer_choices import PostgresCustomerVisits
from adapters.postgres.sign_in.identities import PostgresIdentities
from adapters.postgres.sign_in.login_events import PostgresLoginEvents
from adapters.postgres.sign_in.mfa_challenges import PostgresMfaChallenges
from adapters.postgres.sign_in.own_account import PostgresFiguresOfUser, PostgresSessionsOfUser, PostgresWaysOfUser
from adapters.postgres.sign_in.places import PostgresSignInPlaces
from adapters.postgres.sign_in.sign_in_rules import PostgresMembersUnderRules
from adapters.postgres.sign_in.sign_ins import PostgresSignIns
from adapters.postgres.sign_in.upstream.connections.connection_keys import PostgresConnectionKeys
from adapters.postgres.sign_in.upstream.connections.connections import PostgresUpstreamConnections
from adapters.postgres.sign_in.upstream.connections.failures import PostgresUpstreamFailures
from adapters.postgres.sign_in.upstream.connections.oauth_credentials import PostgresOauthCredentials
from adapters.postgres.sign_in.upstream.domains.domain_routes import PostgresDomainRoutes
from adapters.postgres.sign_in.upstream.flows import PostgresUpstreamSignIns
from adapters.postgres.sign_in.upstream.revocation.moves import PostgresConnectionMoves
from adapters.postgres.sign_in.upstream.revocation.provider_sessions import PostgresProviderSessions
from adapters.postgres.sign_in.upstream.trials.trials import PostgresTrialSignIns
from adapters.postgres.transaction import Aggregate
from adapters.postgres.webhooks.deliveries import PostgresWebhookDeliveries
from adapters.postgres.webhooks.delivery_log import PostgresWebhookDeliveryLog
from adapters.postgres.webhooks.events import PostgresEventFeed, PostgresKnownAddresses
from adapters.postgres.webhooks.health import PostgresWebhookHealths
from adapters.postgres.webhooks.sequencing import PostgresEventSequencing
from adapters.postgres.webhooks.webhooks import PostgresWebhooks


class Aggregates:
    """The aggregates of one transaction."""

    audit_entries: PostgresAuditEntries
    platform_audit_entries: PostgresPlatformAuditEntries
    events: PostgresEvents
    access: PostgresAccess
    callers: PostgresCallers
    users: PostgresUsers
    credentials: PostgresCredentials
    open_registrations: PostgresOpenRegistrations
    own_accounts: PostgresOwnAccounts
    account_splits: PostgresAccountSplits
    known_ids: PostgresKnownIds
    person_names: PostgresPersonNames
    user_import: PostgresUserImport
    sessions: PostgresSessions
    browser_sessions: PostgresBrowserSessions
    shown_secrets: PostgresShownSecrets
    unfinished_sign_ins: PostgresUnfinishedSignIns
    devices: PostgresDevices
    sign_in_failures: PostgresSignInFailures
    login_events: PostgresLoginEvents
    sign_ins: PostgresSignIns
    applications: PostgresApplicationsOfUser
    own_subscriptions: PostgresSubscriptionsOfUser
    account_figures: PostgresFiguresOfUser
    own_ways: PostgresWaysOfUser
    own_sessions: PostgresSessionsOfUser
    sign_in_places: PostgresSignInPlaces
    one_time_tokens: PostgresOneTimeTokens
    totp_secrets: PostgresTotpSecrets
    second_factors: PostgresSecondFactors
    backup_codes: PostgresBackupCodes
    passkeys: PostgresPasskeys
    passkey_challenges: PostgresPasskeyChallenges
    mfa_challenges: PostgresMfaChallenges
    customer_visits: PostgresCustomerVisits
    sign_in_rules: PostgresMembersUnderRules
    browser_returns: PostgresBrowserReturns
    identities: PostgresIdentities
    upstream_sign_ins: PostgresUpstreamSignIns
    oauth_credentials: PostgresOauthCredentials
    connection_moves: PostgresConnectionMoves
    upstream_connections: PostgresUpstreamConnections
    upstream_failures: PostgresUpstreamFailures
    trial_sign_ins: PostgresTrialSignIns
    provider_sessions: PostgresProviderSessions
    connection_keys: PostgresConnectionKeys
    domain_routes: PostgresDomainRoutes
    mfa_events: PostgresMfaEvents
    organizations: PostgresOrganizations
    deleted_organizations: PostgresDeletedOrganizations
    platform_organizations: PostgresPlatformOrganizations
    platform_owners: PostgresPlatformOwners
    system: PostgresSystem
    primary: PostgresPrimary
    organization_records: PostgresOrganizationRecords
    platform_overviews: PostgresPlatformOverviews
    platform_searches: PostgresPlatformSearches
    platform_support: PostgresPlatformSupport
    explained_customers: PostgresExplainedCustomers
    platform_mails: PostgresPlatformMails
    browsed_outbox: PostgresBrowsedOutbox
    tiers: PostgresTiers
    platform_audit_log: PostgresPlatformAuditLog
    members: PostgresMembers
    overviews: PostgresOverviews
    found_members: PostgresFoundMembers
    bulk_jobs: PostgresBulkJobs
    bulk_work: PostgresBulkWork
    departures: PostgresDepartures
    roles: PostgresRoles
    group_rules: PostgresGroupRules
    mail_servers: PostgresMailServers
    branding: PostgresBrandings
    branding_versions: PostgresBrandingVersions
    custom_domains: PostgresCustomDomains
    setup_links: PostgresSetupLinks
    organization_keys: PostgresOrganizationKeys
    made_by_keys: PostgresMadeByKeys
    made_credentials: PostgresMadeCredentials
    takeovers: PostgresTakeovers
    takeover_claims: PostgresTakeoverClaims
    takeover_credentials: PostgresTakeoverCredentials
    takeover_records: PostgresTakeoverRecords
    service_assignments: PostgresServiceAssignments
    service_grants: PostgresServiceGrants
    relations: PostgresRelations
    services: PostgresServices
    found_services: PostgresFoundServices
    client_problems: PostgresClientProblems
    first_sign_ins: PostgresFirstSignIns
    verified_domains: PostgresVerifiedDomains
    plans: PostgresPlans
    sales: PostgresSalesBook
    found_subscriptions: PostgresFoundSubscriptions
    api_keys: PostgresApiKeys
    workloads: PostgresWorkloads
    subscriptions: PostgresSubscriptions
    service_users: PostgresServiceUsers
    service_user_metadata: PostgresServiceUserMetadata
    service_subscriptions: PostgresServiceSubscriptions
    service_figures: PostgresServiceFigures
    billing_cancellations: PostgresBillingCancellations
    billing_checkouts: PostgresBillingCheckouts
    billing_customers: PostgresBillingCustomers
    billing_events: PostgresBillingEvents
    billing_subscriptions: PostgresBillingSubscriptions
    sandbox: PostgresSandbox
    clients: PostgresClients
    client_grants: PostgresClientGrants
    customer_sessions: PostgresCustomerSessions
    single_uses: PostgresSingleUses
    authorization_requests: PostgresAuthorizationRequests
    authorization_codes: PostgresAuthorizationCodes
    device_codes: PostgresDeviceCodes
    logout_notices: PostgresLogoutNotices
    saml_configurations: PostgresSamlConfigurations
    saml_providers: PostgresSamlProviders
    saml_certificates: PostgresSamlCertificates
    saml_requests: PostgresSamlRequests
    saml_sessions: PostgresSamlSessions
    saml_logouts: PostgresSamlLogouts
    webhooks: PostgresWebhooks
    webhook_deliveries: PostgresWebhookDeliveries
    webhook_delivery_log: PostgresWebhookDeliveryLog
    webhook_healths: PostgresWebhookHealths
    event_feed: PostgresEventFeed
    known_addresses: PostgresKnownAddresses
    event_sequencing: PostgresEventSequencing
    invitations: PostgresInvitations
    found_invitations: PostgresFoundInvitations
    end_users: PostgresEndUsers
    found_end_users: PostgresFoundEndUsers
    scim_tokens: PostgresScimTokens
    scim_users: PostgresScimUsers
    scim_groups: PostgresScimGroups
    directory_groups: PostgresDirectoryGroups
    scim_directory: PostgresScimDirectory
    scim_log: PostgresScimLog
    audit_log: PostgresAuditLog
    audit_searches: PostgresAuditSearches
    audit_chains: PostgresAuditChains
    sealed_entries: PostgresSealedEntries
    person_records: PostgresPersonRecords
    siem_streams: PostgresSiemStreams
    siem_sign_ins: PostgresSiemSignIns
    analytics: PostgresAnalytics
    sign_in_counts: PostgresSignInCounts
    sign_in_log: PostgresSignInLog
    platform_users: PostgresPlatformUsers
    found_users: PostgresFoundUsers
    platform_mfa: PostgresPlatformMfa
    privacy_export: PostgresPrivacyExport
    anonymization: PostgresAnonymization
    mail: PostgresMailOutbox
    mail_counts: PostgresMailCounts
    routed_mail: PostgresRoutedMail
    mail_brands: PostgresMailBrands
    signing_keys: PostgresSigningKeys
    server_secrets: PostgresServerSecrets
    housekeeping: PostgresHousekeeping
    log_months: PostgresLogMonths
    clusters: PostgresClusters
    overlooked_work: PostgresOverlookedWork
    public_names: PostgresPublicNames
    figures: PostgresFigures
    due_work: PostgresDueWork
    left_credentials: PostgresLeftCredentials
    service_customers: PostgresServiceCustomers
    customer_usage: PostgresCustomerUsages
    customer_claims: PostgresCustomerClaims
    ended_customers: PostgresEndedCustomers
    products: PostgresProducts
    found_customers: PostgresFoundCustomers
    found_products: PostgresFoundProducts
    service_role_uses: PostgresServiceRoleUses
    customer_people: PostgresCustomerPeople
    token_previews: PostgresTokenPreviews
    refused_sign_ins: PostgresRefusedSignIns
    product_sign_ins: PostgresProductSignIns
    own_customers: PostgresOwnCustomers
    my_applications: PostgresMyApplications
    people_events: PostgresPeopleEvents
    customer_setup_links: PostgresCustomerSetupLinks
    customer_setup_progress: PostgresCustomerSetupProgresses
    customer_group_rules: PostgresCustomerGroupRules
    made_for_us: PostgresMadeForUs

    if not TYPE_CHECKING:
        # With this method a type checker would accept any attribute.

        def __getattr__(self, name: str) -> Aggregate:
            aggregate = _AGGREGATES.get(name)
            if aggregate is None:
                raise AttributeError(name)
            created = self.__dict__[name] = aggregate(self._transaction)
            return created


_AGGREGATES: dict[str, type[Aggregate]] = Aggregates.__annotations__

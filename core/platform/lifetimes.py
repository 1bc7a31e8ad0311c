"""How long the rows of every table live, so that none grows for ever unnoticed.

Each table is listed once, with its bound. `tests/adapters/platform/test_lifetimes.py` reads the schema and fails for a
table that is missing here, and for an owner whose deletion leaves rows behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from core.lazy_dataclasses import dataclass
from core.platform.housekeeping import Leftover


@dataclass(frozen=True, slots=True)
class Owned:
    """Rows that live as long as their owner, a row of another table; `bound` says how many an owner has.

    The owner's deletion deletes them by a foreign key, or by a trigger where there is none.
    """

    owner: str
    bound: str = ""
    has_trigger: bool = False


@dataclass(frozen=True, slots=True)
class Expiring:
    """Rows that housekeeping deletes; `exempt` says which of them stay."""

    leftover: Leftover
    exempt: str = ""


@dataclass(frozen=True, slots=True)
class Logged:
    """Rows of a log whose old months are dropped; housekeeping deletes rows that are in no month."""

    leftover: Leftover


@dataclass(frozen=True, slots=True)
class Drained:
    """Rows that are deleted once they are processed; the sentence says how."""

    until: str


@dataclass(frozen=True, slots=True)
class Counted:
    """Sums, which grow with days and not with what they count; the sentence says what has a row."""

    row_for_each: str


@dataclass(frozen=True, slots=True)
class Few:
    """Rows of which there are few by construction; the sentence says why."""

    because: str


@dataclass(frozen=True, slots=True)
class OneRow:
    """The only row of a table; the schema ensures that.

    Autovacuum hardly ever analyzes such a table, so its migration runs ANALYZE, and statements read its columns as
    scalars.
    """


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows that are kept until a person deletes them, or for ever; the sentence says how long and why."""

    until: str


Lifetime: TypeAlias = Owned | Expiring | Logged | Drained | Counted | Few | OneRow | Kept

_OF_ORGANIZATION: Final = Owned("organizations")
_OF_SERVICE: Final = Owned("services")
_OF_USER: Final = Owned("users")
_OF_SESSION: Final = Owned("sessions")
# The legal time differs, for example six years in the United Kingdom, and eight or ten in Germany.
_FOR_THE_LAW: Final = "for ever: what was charged has to be shown for years, and how many depends on the country"

LIFETIMES: Final[Mapping[str, Lifetime]] = {
    # Accounts and their credentials.
    "users": Expiring(
        Leftover.UNPROVED_ACCOUNTS,
        "every other account until it is closed; anonymized, its id stays, so that logs and counts keep their meaning",
    ),
    "active_days": Drained("no window of analytics contains the day"),
    "backup_codes": Owned("users", "ten"),
    "browser_returns": Expiring(Leftover.BROWSER_RETURNS),
    "departed_identities": Owned("users", "one for each connection by which the person signed in before leaving"),
    "device_tokens": Expiring(Leftover.DEVICE_TOKENS),
    "devices": Expiring(Leftover.DEVICES),
    "identities": _OF_USER,
    "known_account_ids": Owned("organizations", "one for each user who moved to another account"),
    "known_addresses": Owned("users", "one for each address that the person had"),
    "login_events": Logged(Leftover.LOGIN_EVENTS),
    "mfa_challenges": Expiring(Leftover.MFA_CHALLENGES),
    "mfa_events": Expiring(Leftover.MFA_EVENTS, "those of anonymizations for ever"),
    "one_time_tokens": Expiring(Leftover.ONE_TIME_TOKENS),
    "open_registrations": Expiring(
        Leftover.OPEN_REGISTRATIONS, "those of an import until the address is proved, one for each account"
    ),
    "passkey_challenges": Expiring(Leftover.PASSKEY_CHALLENGES),
    "passkeys": Owned("users", "at most 20"),
    "recent_refusals": Expiring(Leftover.RECENT_REFUSALS),
    "sign_in_failures": Expiring(Leftover.SIGN_IN_FAILURES),
    "sign_in_habits": Expiring(Leftover.SIGN_IN_HABITS),
    "totp_secrets": Owned("users", "one"),
    "trial_sign_ins": Expiring(Leftover.TRIAL_SIGN_INS),
    "upstream_sign_ins": Expiring(Leftover.UPSTREAM_SIGN_INS),
    # Sessions and what belongs to them.
    "sessions": Expiring(Leftover.SESSIONS),
    "browser_sessions": _OF_SESSION,
    "client_grants": _OF_SESSION,
    "provider_sessions": _OF_SESSION,
    "saml_sessions": _OF_SESSION,
    "shown_secrets": Expiring(Leftover.SHOWN_SECRETS),
    "request_sign_ins": Expiring(Leftover.REQUEST_SIGN_INS),
    # Requests of applications.
    "authorization_codes": Expiring(Leftover.AUTHORIZATION_CODES),
    "authorization_requests": Expiring(Leftover.AUTHORIZATION_REQUESTS),
    "device_codes": Expiring(Leftover.DEVICE_CODES),
    "logout_notices": Drained("the service has taken it, or five attempts have failed"),
    "logout_queues": Owned("services", "one"),
    "saml_logouts": Expiring(Leftover.SAML_LOGOUTS),
    "saml_requests": Expiring(Leftover.SAML_REQUESTS),
    "single_uses": Expiring(Leftover.SINGLE_USES),
    # Organizations and their settings.
    "organizations": Kept("until a platform owner deletes it, or 14 days after its owner has deleted it"),
    "address_conflicts": Expiring(Leftover.ADDRESS_CONFLICTS),
    "branding_pictures": Owned("organizations", "a logo and an icon"),
    "branding_version_pictures": Owned("organizations", "those of the versions"),
    "branding_versions": Owned("organizations", "the last 20"),
    "brandings": Owned("organizations", "one"),
    "connection_keys": Owned("upstream_connections", "the next one deletes those that are no longer published"),
    "custom_domains": Owned("organizations", "one"),
    "directory_authorities": Owned("organizations", "one for what makers of its tokens could do, at most 100"),
    "directory_ends": Owned("organizations", "one"),
    "directory_group_members": Owned("directory_groups", "its members"),
    "directory_groups": Owned("organizations", "at most 5,000"),
    "domain_routes": _OF_ORGANIZATION,
    "group_rules": Owned("organizations", "at most 200, or those of an earlier version"),
    "invitations": Expiring(Leftover.INVITATIONS, "those that wait for an answer, at most 1,000 of an organization"),
    "mail_servers": Owned("organizations", "one"),
    "membership_totals": Owned("memberships", "one for each organization", has_trigger=True),
    "memberships": _OF_ORGANIZATION,
    "oauth_credentials": Owned("organizations", "one for each provider"),
    "organization_keys": Expiring(
        Leftover.ORGANIZATION_KEYS, "those without an end until they are deleted, at most 50 of an organization"
    ),
    "organization_roles": Owned("organizations", "at most 100"),
    "recent_acts": Expiring(Leftover.RECENT_ACTS),
    "scim_log_entries": Expiring(Leftover.SCIM_LOG_ENTRIES),
    "scim_profiles": Owned("memberships", "one"),
    "scim_tokens": Owned("organizations", "at most 20"),
    "setup_links": Expiring(Leftover.SETUP_LINKS),
    "setup_visits": Owned("setup_links"),
    "siem_streams": Owned("organizations", "one"),
    "upstream_connections": _OF_ORGANIZATION,
    "upstream_failures": Expiring(Leftover.UPSTREAM_FAILURES),
    # Services and what they sell.
    "services": _OF_ORGANIZATION,
    "api_keys": Owned("services", "at most 100"),
    "workloads": Owned("organizations", "at most 20 of a service or of a key"),
    "plans": Owned("services", "at most 100"),
    "client_problems": Expiring(Leftover.CLIENT_PROBLEMS, "at most 20 of each kind for a service"),
    "refused_redirects": Owned("services", "the last one of an earlier version"),
    "saml_certificates": Owned("services", "the next one deletes those that are no longer published"),
    "saml_configurations": Owned("services", "one"),
    "service_assignments": Owned("services", "at most 200"),
    "service_audiences": Owned("services", "at most 20"),
    "service_grants": Owned("memberships", "one for each service"),
    "service_user_changes": Drained("they are counted"),
    "service_user_milestones": Owned("services", "one where many users have come since the last one"),
    "service_users": _OF_SERVICE,
    "service_user_metadata": Owned(
        "service_users", "one for each user of a service, by link or customer", has_trigger=True
    ),
    "service_customers": Expiring(
        Leftover.CUSTOMER_OFFERS, "those that were accepted, until either side ends them or the service is deleted"
    ),
    "customer_claims": Expiring(Leftover.CUSTOMER_CLAIMS),
    "customer_group_rules": Owned("service_customers", "at most 200"),
    "customer_assignments": Owned("service_customers", "at most 200"),
    "customer_rechecks": Drained("the sessions that the change has ended are ended"),
    "customer_slugs": Kept("for ever: a slug that a customer had is never given to another organization"),
    "customer_user_checks": Drained("the vendors are told what has changed"),
    "customer_users_told": Owned("service_customers", "people that the vendor sees"),
    "customer_active_people": Owned("service_customers", "one for each person and month"),
    "customer_users": Owned("service_customers", "those who are members and have signed in"),
    "subscriptions": Owned("services", "what was bought"),
    "subscription_changes": Owned("organizations", "the books of what was sold", has_trigger=True),
    "subscription_days": Owned("organizations", "one for each plan and day with a change", has_trigger=True),
    "subscription_totals": Owned("organizations", "one for each currency", has_trigger=True),
    "currency_totals": Few("there is one for each currency"),
    # Billing.
    "billing_cancellations": Expiring(
        Leftover.BILLING_CANCELLATIONS, "those that the payment provider has still to end"
    ),
    "billing_checkouts": Expiring(Leftover.BILLING_CHECKOUTS),
    "billing_customers": Kept(
        "as long as the organization or the buyer, and those that name neither for ever, as their events"
    ),
    "billing_events": Kept(_FOR_THE_LAW),
    "billing_subscriptions": Kept(
        "as long as the service and the buyer, and those that name neither for ever, as their events"
    ),
    "sandbox_customers": Owned("organizations", "one, and one for each buyer of the sandbox"),
    "sandbox_deliveries": Drained("the receiver has taken it, or the attempts have failed"),
    "sandbox_sessions": Expiring(Leftover.SANDBOX_SESSIONS),
    "sandbox_subscriptions": Owned("sandbox_customers"),
    # Events, logs and their receivers.
    "audit_chains": Owned("organizations", "one"),
    "audit_entries": Owned("organizations", "kept as long as that", has_trigger=True),
    "audit_milestones": Owned("organizations", "one where many entries have come since the last one"),
    "audit_seals": Owned("organizations", "one for each entry", has_trigger=True),
    "audit_totals": Owned("organizations", "one for each kind"),
    "platform_audit_entries": Kept(
        "for ever: it shows what the platform's staff did, also in organizations that are gone"
    ),
    "bulk_jobs": Expiring(Leftover.BULK_JOBS),
    "bulk_job_rows": Owned("bulk_jobs", "at most 10,000"),
    "ended_log_owners": Expiring(Leftover.ENDED_LOG_OWNERS),
    "events": Expiring(Leftover.EVENTS),
    "log_dues": Owned("organizations", "one"),
    "webhooks": _OF_ORGANIZATION,
    "webhook_attempts": Owned("webhooks", "they go with their deliveries, or with their month", has_trigger=True),
    "webhook_deliveries": Expiring(Leftover.WEBHOOK_DELIVERIES),
    "webhook_queues": Owned("webhooks", "one"),
    "mail_dues": Owned("organizations", "one, and one of the platform", has_trigger=True),
    "mail_counts": Expiring(Leftover.MAIL_COUNTS),
    "mails": Drained("it is seven days old; one that waits to be sent stays until it is sent or has failed"),
    # Counts.
    "active_user_changes": Counted("organization and day"),
    "platform_active_user_changes": Counted("day"),
    "platform_sign_in_counts": Counted("day, reason and method"),
    "sign_in_counts": Counted("organization, day, reason, method and service"),
    "user_count_changes": Drained("they are counted"),
    # The installation.
    "audit_counting": OneRow(),
    "audit_sealing": OneRow(),
    "event_positions": Few("one for each organization that had an event, and one of the platform"),
    "event_sequencing": OneRow(),
    "platform_figures": OneRow(),
    "recovery_runs": Few("one of each kind"),
    "sign_in_counting": OneRow(),
    "elliptic_signing_keys": Few("a rotation deletes those that are no longer published"),
    "schema_migrations": Few("there is one for each migration"),
    "server_secrets": Few("there is one for each purpose"),
    "signing_keys": Few("a rotation deletes those that are no longer published"),
    "tiers": Few("a person makes each of them"),
}

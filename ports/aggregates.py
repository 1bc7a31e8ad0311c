"""The table of aggregates: what a use case reads and writes, and which of it a replica may serve as well.

A new aggregate is a line here, and one of `adapters/postgres/aggregates.py`.
"""

from typing import Final, Protocol

from ports.accounts.accounts import (
    AccountSplits,
    KnownIds,
    OneTimeTokens,
    OpenRegistrations,
    OwnAccounts,
    SignInFailures,
    StoredNames,
    UserImport,
)
from ports.accounts.users import Credentials, Users
from ports.audit.audit_log import Analytics, AuditLog, AuditSearches, PersonRecords, SignInCounts, SignInLog
from ports.audit.chain import AuditChains, SealedEntries
from ports.audit.siem import SiemSignIns, SiemStreams
from ports.billing.gateway import BillingCheckouts, Sandbox
from ports.billing.provider_customers import BillingCustomers
from ports.billing.subscriptions import BillingCancellations, BillingEvents, BillingSubscriptions, SubscriptionsOfUser
from ports.credentials.devices import Devices, Locations
from ports.credentials.mfa import MfaEvents, SecondFactors, StoredBackupCodes, Totp, TotpSecrets
from ports.credentials.passkeys import PasskeyChallenges, Passkeys
from ports.customers.customers import (
    CustomerClaims,
    CustomerUsages,
    EndedCustomers,
    FoundCustomers,
    MadeForUs,
    OwnCustomers,
    ServiceCustomers,
    ServiceRoleUses,
    TokenPreviews,
)
from ports.customers.people import CustomerPeople, PeopleEvents
from ports.customers.products import FoundProducts, MyApplications, Products, ProductSignIns, RefusedSignIns
from ports.customers.setup import CustomerGroupRules, CustomerSetupLinks, CustomerSetupProgresses
from ports.invitations.invitations import FoundInvitations, Invitations
from ports.mail.mail import MailBrands, MailCounts, MailOutbox, RoutedMail
from ports.openid.openid import (
    AuthorizationCodes,
    AuthorizationRequests,
    Clients,
    DeviceCodes,
    LogoutNotices,
    SingleUses,
)
from ports.organizations.keys import MadeByKeys, MadeCredentials, OrganizationKeys, SetupLinks
from ports.organizations.members import FoundMembers, GroupRules, Members, Roles, Tiers
from ports.organizations.organizations import (
    BulkJobs,
    DeletedOrganizations,
    Departures,
    Organizations,
    Overviews,
    Relations,
)
from ports.organizations.settings.settings import Brandings, BrandingVersions, CustomDomains, MailServers
from ports.organizations.takeovers import TakeoverClaims, TakeoverCredentials, TakeoverRecords, Takeovers
from ports.platform.operation import (
    BulkWork,
    Clusters,
    DueWork,
    Figures,
    Housekeeping,
    LeftCredentials,
    LogMonths,
    OverlookedWork,
    Primary,
    PublicNames,
    SystemReadings,
)
from ports.platform.platform import (
    BrowsedOutbox,
    ExplainedCustomers,
    FoundUserList,
    OrganizationRecords,
    PlatformAuditLog,
    PlatformMails,
    PlatformMfa,
    PlatformOrganizations,
    PlatformOverviews,
    PlatformOwners,
    PlatformSearches,
    PlatformSupportStaff,
    PlatformUsers,
)
from ports.privacy.anonymization import Anonymization
from ports.privacy.export import PrivacyExport
from ports.saml.saml import SamlConfigurations, SamlLogouts, SamlProviders, SamlRequests, SamlSessions
from ports.scim.scim import DirectoryGroups, ScimDirectory, ScimGroups, ScimLog, ScimTokens, ScimUsers
from ports.service_api.service_api import ServiceFigures, ServiceSubscriptions, ServiceUsers
from ports.services.end_users import (
    EndUsers,
    FirstSignIns,
    FoundEndUsers,
    ServiceAssignments,
    ServiceGrants,
    ServiceUserMetadata,
)
from ports.services.sales import FoundSubscriptions, Plans, SalesBook, Subscriptions
from ports.services.services import (
    ApiKeys,
    ApplicationsOfUser,
    ClientProblems,
    FoundServicesOfOrganization,
    Services,
    VerifiedDomains,
    Workloads,
)
from ports.sessions.secrets import ServerSecrets, ShownSecrets, SigningKeys
from ports.sessions.sessions import (
    BrowserSessions,
    Callers,
    ClientGrants,
    CustomerSessions,
    Sessions,
    UnfinishedSignIns,
)
from ports.sign_in.identities import Identities
from ports.sign_in.sign_in import (
    BrowserReturns,
    CustomerVisits,
    FiguresOfUser,
    LoginEvents,
    MembersUnderRules,
    MfaChallenges,
    SessionsOfUser,
    SignInPlaces,
    SignIns,
    WaysOfUser,
)
from ports.sign_in.upstream.connections import DomainRoutes, KeyCertificates, UpstreamConnections
from ports.sign_in.upstream.flows import (
    ConnectionMoves,
    OauthCredentials,
    ProviderSessions,
    TrialSignIns,
    UpstreamFailures,
    UpstreamSignIns,
)
from ports.webhooks.deliveries import EventFeed, EventSequencing, WebhookDeliveries, WebhookDeliveryLog
from ports.webhooks.webhooks import KnownAddresses, WebhookHealths, Webhooks


class ReadsElsewhere(Protocol):
    """Reads that a replica may serve: lists, logs, figures and files, for a caller who was authorized on the primary.

    A unit of work chooses the place at the first of these reads: a replica that shows everything that was committed
    before the caller was read, or else the primary. Reads that decide something go to the unit of work itself:
    sessions, memberships, revocations, single uses and limits are in none of these aggregates, or in methods of them
    that no use case calls here (`tests/core/test_reads_elsewhere.py`). Nothing is written here; a replica refuses
    writes.
    """

    analytics: Final[Analytics]
    audit_chains: Final[AuditChains]
    audit_log: Final[AuditLog]
    audit_searches: Final[AuditSearches]
    browsed_outbox: Final[BrowsedOutbox]
    bulk_jobs: Final[BulkJobs]
    customer_people: Final[CustomerPeople]
    customer_setup_progress: Final[CustomerSetupProgresses]
    directory_groups: Final[DirectoryGroups]
    end_users: Final[EndUsers]
    event_feed: Final[EventFeed]
    figures: Final[Figures]
    found_customers: Final[FoundCustomers]
    found_end_users: Final[FoundEndUsers]
    found_products: Final[FoundProducts]
    found_services: Final[FoundServicesOfOrganization]
    found_users: Final[FoundUserList]
    invitations: Final[Invitations]
    found_invitations: Final[FoundInvitations]
    known_addresses: Final[KnownAddresses]
    members: Final[Members]
    organization_records: Final[OrganizationRecords]
    found_members: Final[FoundMembers]
    person_records: Final[PersonRecords]
    plans: Final[Plans]
    platform_audit_log: Final[PlatformAuditLog]
    platform_mails: Final[PlatformMails]
    platform_mfa: Final[PlatformMfa]
    platform_organizations: Final[PlatformOrganizations]
    platform_overviews: Final[PlatformOverviews]
    platform_searches: Final[PlatformSearches]
    privacy_export: Final[PrivacyExport]
    product_sign_ins: Final[ProductSignIns]
    products: Final[Products]
    refused_sign_ins: Final[RefusedSignIns]
    sales: Final[SalesBook]
    scim_directory: Final[ScimDirectory]
    scim_log: Final[ScimLog]
    sealed_entries: Final[SealedEntries]
    service_customers: Final[ServiceCustomers]
    service_figures: Final[ServiceFigures]
    service_grants: Final[ServiceGrants]
    service_subscriptions: Final[ServiceSubscriptions]
    services: Final[Services]
    sign_in_counts: Final[SignInCounts]
    sign_in_log: Final[SignInLog]
    sign_ins: Final[SignIns]
    found_subscriptions: Final[FoundSubscriptions]
    webhook_deliveries: Final[WebhookDeliveries]
    webhook_delivery_log: Final[WebhookDeliveryLog]
    webhook_healths: Final[WebhookHealths]


class Aggregates(ReadsElsewhere, Protocol):
    """All aggregates of a transaction, by area."""

    # Mail
    mail: Final[MailOutbox]
    mail_counts: Final[MailCounts]
    mail_brands: Final[MailBrands]
    routed_mail: Final[RoutedMail]
    # Sessions
    callers: Final[Callers]
    sessions: Final[Sessions]
    customer_sessions: Final[CustomerSessions]
    client_grants: Final[ClientGrants]
    browser_sessions: Final[BrowserSessions]
    shown_secrets: Final[ShownSecrets]
    unfinished_sign_ins: Final[UnfinishedSignIns]
    signing_keys: Final[SigningKeys]
    server_secrets: Final[ServerSecrets]
    # Organizations
    organizations: Final[Organizations]
    deleted_organizations: Final[DeletedOrganizations]
    tiers: Final[Tiers]
    overviews: Final[Overviews]
    departures: Final[Departures]
    roles: Final[Roles]
    group_rules: Final[GroupRules]
    branding: Final[Brandings]
    branding_versions: Final[BrandingVersions]
    custom_domains: Final[CustomDomains]
    mail_servers: Final[MailServers]
    setup_links: Final[SetupLinks]
    organization_keys: Final[OrganizationKeys]
    made_by_keys: Final[MadeByKeys]
    made_credentials: Final[MadeCredentials]
    takeovers: Final[Takeovers]
    takeover_claims: Final[TakeoverClaims]
    takeover_credentials: Final[TakeoverCredentials]
    takeover_records: Final[TakeoverRecords]
    relations: Final[Relations]
    # Services
    api_keys: Final[ApiKeys]
    applications: Final[ApplicationsOfUser]
    service_assignments: Final[ServiceAssignments]
    subscriptions: Final[Subscriptions]
    first_sign_ins: Final[FirstSignIns]
    service_user_metadata: Final[ServiceUserMetadata]
    client_problems: Final[ClientProblems]
    workloads: Final[Workloads]
    verified_domains: Final[VerifiedDomains]
    # Billing
    billing_cancellations: Final[BillingCancellations]
    billing_checkouts: Final[BillingCheckouts]
    billing_customers: Final[BillingCustomers]
    billing_events: Final[BillingEvents]
    own_subscriptions: Final[SubscriptionsOfUser]
    billing_subscriptions: Final[BillingSubscriptions]
    sandbox: Final[Sandbox]
    # Credentials
    locations: Final[Locations]
    devices: Final[Devices]
    totp: Final[Totp]
    totp_secrets: Final[TotpSecrets]
    second_factors: Final[SecondFactors]
    backup_codes: Final[StoredBackupCodes]
    passkeys: Final[Passkeys]
    passkey_challenges: Final[PasskeyChallenges]
    mfa_events: Final[MfaEvents]
    # Accounts
    users: Final[Users]
    credentials: Final[Credentials]
    user_import: Final[UserImport]
    sign_in_failures: Final[SignInFailures]
    one_time_tokens: Final[OneTimeTokens]
    open_registrations: Final[OpenRegistrations]
    person_names: Final[StoredNames]
    own_accounts: Final[OwnAccounts]
    account_splits: Final[AccountSplits]
    known_ids: Final[KnownIds]
    # Sign-in
    login_events: Final[LoginEvents]
    own_sessions: Final[SessionsOfUser]
    account_figures: Final[FiguresOfUser]
    own_ways: Final[WaysOfUser]
    sign_in_places: Final[SignInPlaces]
    mfa_challenges: Final[MfaChallenges]
    sign_in_rules: Final[MembersUnderRules]
    customer_visits: Final[CustomerVisits]
    browser_returns: Final[BrowserReturns]
    identities: Final[Identities]
    upstream_sign_ins: Final[UpstreamSignIns]
    oauth_credentials: Final[OauthCredentials]
    connection_moves: Final[ConnectionMoves]
    upstream_connections: Final[UpstreamConnections]
    upstream_failures: Final[UpstreamFailures]
    trial_sign_ins: Final[TrialSignIns]
    connection_keys: Final[KeyCertificates]
    provider_sessions: Final[ProviderSessions]
    domain_routes: Final[DomainRoutes]
    # OpenID
    clients: Final[Clients]
    single_uses: Final[SingleUses]
    authorization_requests: Final[AuthorizationRequests]
    authorization_codes: Final[AuthorizationCodes]
    device_codes: Final[DeviceCodes]
    logout_notices: Final[LogoutNotices]
    # SAML
    saml_configurations: Final[SamlConfigurations]
    saml_providers: Final[SamlProviders]
    saml_certificates: Final[KeyCertificates]
    saml_requests: Final[SamlRequests]
    saml_sessions: Final[SamlSessions]
    saml_logouts: Final[SamlLogouts]
    # SCIM
    scim_tokens: Final[ScimTokens]
    scim_users: Final[ScimUsers]
    scim_groups: Final[ScimGroups]
    # Webhooks
    webhooks: Final[Webhooks]
    event_sequencing: Final[EventSequencing]
    # Audit
    siem_streams: Final[SiemStreams]
    siem_sign_ins: Final[SiemSignIns]
    # Privacy
    anonymization: Final[Anonymization]
    # Customers
    customer_claims: Final[CustomerClaims]
    ended_customers: Final[EndedCustomers]
    made_for_us: Final[MadeForUs]
    service_role_uses: Final[ServiceRoleUses]
    token_previews: Final[TokenPreviews]
    own_customers: Final[OwnCustomers]
    my_applications: Final[MyApplications]
    people_events: Final[PeopleEvents]
    customer_usage: Final[CustomerUsages]
    customer_setup_links: Final[CustomerSetupLinks]
    customer_group_rules: Final[CustomerGroupRules]
    # Service api
    service_users: Final[ServiceUsers]
    # Platform
    bulk_work: Final[BulkWork]
    primary: Final[Primary]
    platform_owners: Final[PlatformOwners]
    platform_support: Final[PlatformSupportStaff]
    explained_customers: Final[ExplainedCustomers]
    platform_users: Final[PlatformUsers]
    housekeeping: Final[Housekeeping]
    log_months: Final[LogMonths]
    clusters: Final[Clusters]
    overlooked_work: Final[OverlookedWork]
    left_credentials: Final[LeftCredentials]
    public_names: Final[PublicNames]
    system: Final[SystemReadings]
    due_work: Final[DueWork]

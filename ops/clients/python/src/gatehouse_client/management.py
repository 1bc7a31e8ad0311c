"""The interface for members, organizations and the platform, with an access token or a key.

Generated from the OpenAPI document by `generate.py`: do not change it by hand. A function returns a call, which the
`send` of `Gatehouse` or `AsyncGatehouse` sends, or `pages` where it is a list. What is left out is not sent, and None
is sent as null. `API_VERSION` is that of this module: its first number rises when a name has gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final, Literal, NotRequired, TypeAlias, TypedDict

from gatehouse_client.calls import UNSET, Call, ListCall, Unset, body_of, query_of, segment

API_VERSION: Final = "3.13"


class AddressLimits(TypedDict):
    """The failed sign-ins for an address in the last 15 minutes."""

    failures: int
    blocked_until: str | None
    networks: list[NetworkLimit]


Admission: TypeAlias = Literal["assigned", "everyone", "members"]


AdmittedBy: TypeAlias = Literal["connection", "directory"]


class AdoptedThing(TypedDict):
    """What the organization has now; `token` is the secret of an adopted SCIM token, which is shown only here."""

    id: str
    kind: ThingKind
    token: str | None


class AnonymizedUser(TypedDict):
    """The user who was anonymized."""

    success: bool
    message: str
    user_id: str


class ApiKey(TypedDict):
    """An API key of a service, without its secret."""

    id: str
    service_id: str
    name: str
    prefix: str
    permissions: list[Permission]
    last_used_at: str | None
    expires_at: str | None
    created_at: str
    created_by: str | None
    made_by_key: str | None


class ApiKeyCreated(TypedDict):
    """The new key with its secret in `key`, which is shown only here. Send it in the `X-Api-Key` header."""

    id: str
    service_id: str
    name: str
    prefix: str
    permissions: list[Permission]
    expires_at: str | None
    created_at: str
    created_by: str | None
    made_by_key: str | None
    key: str


class ApiKeyList(TypedDict):
    """A page of keys, and their total number."""

    api_keys: list[ApiKey]
    total: int


class AppointedSupport(TypedDict):
    """The person who was appointed."""

    user: PlatformSupport


class AssertionResponse(TypedDict):
    """The assertion that the authenticator signed; bytes are in base64url."""

    clientDataJSON: str
    authenticatorData: str
    signature: str
    userHandle: NotRequired[str | None]


class AttestationResponse(TypedDict):
    """The answer of the authenticator that created the passkey; bytes are in base64url."""

    clientDataJSON: str
    attestationObject: str
    transports: NotRequired[list[str]]


AuditAction: TypeAlias = Literal[
    "account.locked",
    "api_key.created",
    "api_key.deleted",
    "audit_log.exported",
    "billing.portal_opened",
    "branding.updated",
    "connection.certificates_replaced",
    "customer.accepted",
    "customer.changed",
    "customer.claimed",
    "customer.declined",
    "customer.ended",
    "customer.offered",
    "customer.owner_named",
    "customer.paused",
    "customer.resumed",
    "customer.user_added",
    "customer.user_changed",
    "customer.user_removed",
    "domain.deleted",
    "domain.set",
    "domain.verified",
    "domain_route.created",
    "domain_route.deleted",
    "domain_route.updated",
    "domain_route.verified",
    "group.changed",
    "group.created",
    "group.deleted",
    "invitation.accepted",
    "invitation.declined",
    "invitation.expired",
    "invitation.revoked",
    "organization.claimed",
    "organization.deleted",
    "organization.restored",
    "organization.smtp.configured",
    "organization.smtp.removed",
    "organization.smtp.tested",
    "organization.updated",
    "organization_key.created",
    "organization_key.deleted",
    "plan.created",
    "plan.deleted",
    "plan.updated",
    "product_access.accepted",
    "product_access.declined",
    "product_access.ended",
    "product_access.paused",
    "product_access.resumed",
    "product_access.updated",
    "saml_certificate.created",
    "saml_configuration.updated",
    "scim.kept",
    "scim_token.created",
    "scim_token.revoked",
    "security.mfa.disabled",
    "security.mfa.enabled",
    "security.password.changed",
    "service.access_changed",
    "service.created",
    "service.deleted",
    "service.oauth_credentials.updated",
    "service.updated",
    "session.revoked",
    "siem.configured",
    "siem.removed",
    "siem.tested",
    "subscription.canceled",
    "subscription.created",
    "subscription.updated",
    "upstream_connection.created",
    "upstream_connection.deleted",
    "upstream_connection.updated",
    "user.anonymized",
    "user.deactivated",
    "user.exported",
    "user.impersonated",
    "user.invited",
    "user.joined",
    "user.reactivated",
    "user.removed",
    "user.role_updated",
    "user.updated",
    "webhook.redelivered",
    "webhook.tested",
    "workload.created",
    "workload.deleted",
]


class AuditLogActor(TypedDict):
    """The actor. The id of background work is `system`; of a deleted user only the id is kept."""

    id: str
    email: str
    is_platform_owner: bool


class AuditLogEntryRecord(TypedDict):
    """An entry of the audit log."""

    id: str
    org_id: str
    actor: AuditLogActor
    action: str
    target_type: str
    target_id: str
    ip_address: str | None
    user_agent: str | None
    success: bool
    details: dict[str, Any]
    created_at: str


class AuditLogPageRecord(TypedDict):
    """A page of entries, newest first."""

    logs: list[AuditLogEntryRecord]
    pagination: Pagination
    looked_back_to: NotRequired[str]
    looked_back_to_id: NotRequired[str]


class AuditLogProof(TypedDict):
    """What the log contains at this moment. `head` is a JWS that names the last position and its hash."""

    entries: int
    sealed_through: int
    pending: int
    head: str
    sealed_at: str | None


AuthMethod: TypeAlias = Literal["password", "upstream"]


class AuthenticationCredential(TypedDict):
    """The result of `navigator.credentials.get()`, as its `toJSON()` writes it."""

    id: str
    type: Literal["public-key"]
    response: AssertionResponse


AwaitedStep: TypeAlias = Literal["connection", "mailed_code"]


BackgroundTaskState: TypeAlias = Literal["backing_off", "running", "starting", "stopped"]


class BackupCodes(TypedDict):
    """The new backup codes, shown this one time only."""

    backup_codes: list[str]


class BrandingRecord(TypedDict):
    """The branding of an organization; `logo` and `icon` are addresses of pictures."""

    logo: str | None
    icon: str | None
    primary_color: str | None
    background_color: str | None
    support_email: str | None
    terms_url: str | None
    privacy_url: str | None
    updated_at: str | None


Capability: TypeAlias = Literal[
    "analytics.view",
    "audit_logs.view",
    "billing.manage",
    "end_users.manage",
    "end_users.view",
    "integrations.manage",
    "org.members.manage",
    "org.members.view",
    "org.roles.manage",
    "org.settings.manage",
    "products.manage",
    "services.create",
    "services.manage",
    "services.view",
    "webhooks.manage",
]


class CertificateRecord(TypedDict):
    """A certificate. Its private key never leaves Gatehouse."""

    public_key: str
    valid_from: str
    valid_until: str
    is_active: bool
    created_at: str


class ChangedPasskeyItem(TypedDict):
    """The passkey after the change; with backup codes if it has turned multi-factor authentication on."""

    id: str
    name: str
    aaguid: str
    backup_eligible: bool
    created_at: str
    last_used_at: str | None
    second_factor: bool
    backup_codes: NotRequired[list[str]]


class CheckoutSession(TypedDict):
    """A checkout page of the provider; the names of the fields are the interface's."""

    checkout_url: str
    session_id: str


class ClientProblem(TypedDict):
    """A refused request; `ip_address` is only the network of a request through a browser."""

    at: str
    kind: ProblemKind
    details: ProblemDetails
    ip_address: str


class ClientProblemList(TypedDict):
    """The requests that were refused, the newest first, and their number."""

    problems: list[ClientProblem]
    total: int


class ConnectionChangeEffects(TypedDict):
    """What a change ends, and how its people are linked again at their next sign-in."""

    identities_unlinked: int
    sessions_ended: int
    at_once: int
    by_code: int
    kept_out: int


class ConnectionKeyRecord(TypedDict):
    """The certificate of a connection's key. Its private key never leaves Gatehouse."""

    public_key: str
    valid_from: str
    valid_until: str
    is_active: bool
    created_at: str


class ConnectionList(TypedDict):
    """All connections of the organization, the oldest first."""

    upstream_providers: list[ConnectionRecord]
    total: int


class ConnectionRecord(TypedDict):
    """A connection, without its secret. One by SAML has an issuer as soon as it has metadata."""

    id: str
    type: ConnectionType
    name: str
    issuer: str | None
    client_id: str | None
    has_secret: bool
    scopes: list[str]
    metadata_url: str | None
    metadata_xml: str | None
    metadata_valid_until: str | None
    signs_requests: bool
    attribute_mapping: dict[str, str]
    joins_as: str | None
    trust_mfa: bool
    enabled: bool
    created_at: str
    updated_at: str
    token_issuer: str | None
    name_id_format: str | None
    signs_out_at_provider: bool


class ConnectionTested(TypedDict):
    """Whether the provider can be reached, describes itself as it should, and accepts the client secret."""

    success: bool
    message: str


ConnectionType: TypeAlias = Literal["oidc", "saml"]


class CreatedCustomerLink(TypedDict):
    """The new link with its address, which is shown only once."""

    id: str
    parts: list[str]
    return_url: str | None
    actor: str | None
    created_at: str
    expires_at: str
    url: str


class CreatedCustomerToken(TypedDict):
    """The new token with its secret in `token`, which is shown only here. Send it in the `Authorization` header."""

    id: str
    name: str
    prefix: str
    created_at: str
    expires_at: str | None
    token: str


class CreatedInvitation(TypedDict):
    """The new invitation. `token` is shown here only; `invitation` contains its SHA-256."""

    invitation: InvitationRecord
    inviter: Inviter
    token: str


class CreatedOrganizationRecord(TypedDict):
    """A new organization, with its owner."""

    organization: Organization
    owner: PersonSummary
    membership: MembershipRecord


class CreatedPlatformOwner(TypedDict):
    """The new platform owner."""

    user: PlatformOwner


class CreatedScimToken(TypedDict):
    """The new token with its secret in `token`, which is shown only here. Send it in the `Authorization` header."""

    id: str
    name: str
    prefix: str
    groups: FoundGroups
    created_at: str
    expires_at: str | None
    made_by_key: str | None
    token: str


class CreatedSetupLink(TypedDict):
    """The new link with its address, which is shown only once."""

    id: str
    parts: list[str]
    service_slug: str | None
    roles: list[str]
    created_by: str
    created_at: str
    expires_at: str
    last_used_at: str | None
    made_by_key: str | None
    url: str


class CreatedWebhook(TypedDict):
    """The new webhook with its secret, which is shown only once."""

    id: str
    name: str
    url: str
    events: list[str]
    is_active: bool
    created_at: str
    updated_at: str
    secret: str


class CurrentOwner(TypedDict):
    """The new owner."""

    user_id: str
    role: Literal["owner"]


class CustomDomain(TypedDict):
    """The custom domain of an organization, with the TXT record that proves it."""

    domain: str
    status: ProofStatus
    txt_name: str
    txt_value: str
    verified_at: str | None
    checked_at: str | None
    failing_since: str | None
    ends_at: str | None


class CustomerConnectionList(TypedDict):
    """All connections of a customer, the oldest first."""

    connections: list[CustomerConnectionRecord]
    total: int


class CustomerConnectionRecord(TypedDict):
    """A connection of a customer, without its secret; `state` and `last_attempt` say how far it is."""

    id: str
    type: ConnectionType
    name: str
    issuer: str | None
    client_id: str | None
    has_secret: bool
    scopes: list[str]
    metadata_url: str | None
    metadata_xml: str | None
    metadata_valid_until: str | None
    signs_requests: bool
    attribute_mapping: dict[str, str]
    enabled: bool
    token_issuer: str | None
    name_id_format: str | None
    signs_out_at_provider: bool
    created_at: str
    updated_at: str
    state: CustomerConnectionState
    last_attempt: SetupAttempt | None


CustomerConnectionState: TypeAlias = Literal["configured", "failing", "in_use", "tested"]


class CustomerDomainList(TypedDict):
    """All mail domains of a customer, by their names."""

    mail_domains: list[CustomerMailDomain]
    total: int


class CustomerLinkAttempt(TypedDict):
    """When the link was last opened."""

    at: str
    succeeded: bool


class CustomerLinkList(TypedDict):
    """The valid links, the newest first."""

    setup_links: list[CustomerLinkRecord]
    total: int


class CustomerLinkRecord(TypedDict):
    """A setup link of a customer; `last_attempt` is null until it has been opened."""

    id: str
    parts: list[str]
    return_url: str | None
    actor: str | None
    created_at: str
    expires_at: str
    last_attempt: CustomerLinkAttempt | None


class CustomerList(TypedDict):
    """A part of the customers and open offers, and how many there are."""

    customers: list[CustomerRecord]
    total: int


class CustomerMailDomain(TypedDict):
    """A mail domain, the connection by which its addresses sign in, and the TXT record that proves it."""

    id: str
    domain: str
    provider_id: str
    status: ProofStatus
    txt_name: str
    txt_value: str
    last_attempt: SetupAttempt | None


CustomerMembership: TypeAlias = Literal["admitted", "confirmed", "none", "suspended", "unconfirmed"]


class CustomerOfSignIn(TypedDict):
    """The customer for which the user comes, and what the user is to it; null for what is the customer's alone."""

    customer_id: str
    slug: str
    name: str
    state: CustomerState
    paused_by: list[CustomerSide]
    has_signed_in: bool
    membership: CustomerMembership | None
    is_assigned: bool | None


class CustomerOrganization(TypedDict):
    """The organization of a customer; its name is null until it has accepted."""

    slug: str
    name: str | None


CustomerPolicy: TypeAlias = Literal["any", "listed", "none"]


class CustomerRecord(TypedDict):
    """A customer of a service, or an offer to become one."""

    id: str
    organization: CustomerOrganization
    state: CustomerState
    external_id: str | None
    paused: bool
    shares_directory: bool
    unclaimed: bool
    vendor_setup: list[SetupPart]
    last_sign_in_at: str | None
    created_at: str
    metadata: dict[str, Any]


class CustomerRuleList(TypedDict):
    """All rules of a customer, the oldest first."""

    group_rules: list[CustomerRuleRecord]
    total: int


class CustomerRuleRecord(TypedDict):
    """A rule; `group_name` is null for what a connection asserts, and `last_attempt` always: a rule is not tried."""

    id: str
    source: str
    group: str
    group_name: str | None
    service_roles: list[str]
    created_at: str
    last_attempt: SetupAttempt | None


class CustomerScimToken(TypedDict):
    """A token without its secret; `last_attempt` is the last known call of the directory."""

    id: str
    name: str
    prefix: str
    created_at: str
    expires_at: str | None
    last_attempt: SetupAttempt | None


CustomerSide: TypeAlias = Literal["customer", "vendor"]


CustomerState: TypeAlias = Literal["active", "offered", "paused"]


class CustomerTokenList(TypedDict):
    """The tokens of a customer, and their number."""

    tokens: list[CustomerScimToken]
    total: int


class DailyLogins(TypedDict):
    """The number of sign-ins on a day."""

    date: str
    count: int


class Delivery(TypedDict):
    """A delivery of an event to a webhook."""

    id: str
    webhook_id: str
    webhook_name: str
    event_type: str
    payload: dict[str, Any]
    response_status_code: int | None
    response_body: str | None
    attempt_count: int
    max_attempts: int
    next_retry_at: str | None
    delivered: bool
    delivery_error: str | None
    created_at: str
    updated_at: str


class DeliveryList(TypedDict):
    """A page of deliveries, newest first."""

    deliveries: list[Delivery]
    pagination: Pagination


class DeviceAuthorizationCodes(TypedDict):
    """The codes of a device (RFC 8628, 3.2): one to poll `/auth/token` with, and one to show."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: int
    interval: int


class DeviceDetails(TypedDict):
    """Everything known about a device. `risk_score` is the score of the last sign-in from it, from 0 to 1."""

    id: str
    name: str
    device_type: DeviceType
    browser: str
    os: str
    last_used_at: str
    last_ip: str
    is_current: bool
    trusted: bool
    created_at: str
    browser_version: str
    os_version: str
    last_location: DeviceLocation
    risk_score: float


class DeviceItem(TypedDict):
    """A device in its owner's list. A text is empty where the value is unknown."""

    id: str
    name: str
    device_type: DeviceType
    browser: str
    os: str
    last_used_at: str
    last_ip: str
    is_current: bool
    trusted: bool
    created_at: str


class DeviceList(TypedDict):
    """The devices of the caller that were used last, and how many there are in total."""

    devices: list[DeviceItem]
    total: int


class DeviceLocation(TypedDict):
    """The location of the last sign-in from a device; the country as a two-letter code (ISO 3166)."""

    city: str
    country: str


class DeviceService(TypedDict):
    """The service that a device signs in to, and the external providers that its users can sign in with."""

    org_slug: str
    service_slug: str
    available_providers: list[str]


DeviceType: TypeAlias = Literal["browser", "cli", "desktop", "mobile"]


class DirectoryGroup(TypedDict):
    """A group of the directory."""

    id: str
    name: str
    external_id: str | None
    member_count: int
    created_at: str
    updated_at: str


class DirectoryGroupList(TypedDict):
    """A page of groups, and the number of all."""

    groups: list[DirectoryGroup]
    total: int


class DomainRoute(TypedDict):
    """A route, with the TXT record that proves the domain."""

    id: str
    domain: str
    provider_id: str
    enforced: bool
    status: ProofStatus
    txt_name: str
    txt_value: str


class EmailLookupResult(TypedDict):
    """How the addresses of a domain sign in; fields that do not apply are null."""

    domain: str
    auth_method: AuthMethod
    connection_id: str | None
    provider_name: str | None
    organization: str | None
    sso_required: bool
    login_url: str | None


class Empty(TypedDict):
    """The request succeeded."""


class EndUser(TypedDict):
    """An end user in a list; `services` holds slugs."""

    id: str
    email: str
    name: str | None
    created_at: str
    last_login_at: str | None
    mfa_enabled: bool
    services: list[str]


class EndUserDetails(TypedDict):
    """An end user in detail, as the organization sees them."""

    id: str
    email: str
    name: str | None
    email_verified: bool
    created_at: str
    updated_at: str
    last_login_at: str | None
    mfa_enabled: bool
    services: list[EndUserService]
    sessions: SessionSummary
    linked_identities: list[LinkedIdentity]


class EndUserList(TypedDict):
    """A page of end users."""

    users: list[EndUser]
    pagination: PageInfo


class EndUserService(TypedDict):
    """A service that the end user has signed in to: when first and last, and what the service notes about them."""

    id: str
    slug: str
    name: str
    first_login_at: str
    last_login_at: str | None
    metadata: dict[str, Any]


class EventList(TypedDict):
    """Events after a cursor, the oldest first, and the cursor after them."""

    events: list[dict[str, Any]]
    next_cursor: str
    has_more: bool


EventType: TypeAlias = Literal[
    "account.locked",
    "api_key.created",
    "api_key.deleted",
    "audit_log.exported",
    "billing.portal_opened",
    "branding.updated",
    "connection.certificates_replaced",
    "customer.accepted",
    "customer.changed",
    "customer.claimed",
    "customer.connection_changed",
    "customer.declined",
    "customer.directory_changed",
    "customer.domain_lost",
    "customer.domain_proved",
    "customer.ended",
    "customer.offered",
    "customer.owner_named",
    "customer.paused",
    "customer.resumed",
    "customer.user_added",
    "customer.user_changed",
    "customer.user_removed",
    "domain.deleted",
    "domain.set",
    "domain.verified",
    "domain_route.created",
    "domain_route.deleted",
    "domain_route.updated",
    "domain_route.verified",
    "group.changed",
    "group.created",
    "group.deleted",
    "invitation.accepted",
    "invitation.declined",
    "invitation.expired",
    "invitation.revoked",
    "organization.claimed",
    "organization.deleted",
    "organization.owner.changed",
    "organization.restored",
    "organization.smtp.configured",
    "organization.smtp.removed",
    "organization.smtp.tested",
    "organization.updated",
    "organization_key.created",
    "organization_key.deleted",
    "plan.created",
    "plan.deleted",
    "plan.updated",
    "product_access.accepted",
    "product_access.declined",
    "product_access.ended",
    "product_access.paused",
    "product_access.resumed",
    "product_access.updated",
    "saml_certificate.created",
    "saml_configuration.updated",
    "scim.kept",
    "scim_token.created",
    "scim_token.revoked",
    "security.mfa.disabled",
    "security.mfa.enabled",
    "security.password.changed",
    "service.access_changed",
    "service.created",
    "service.deleted",
    "service.oauth_credentials.updated",
    "service.updated",
    "session.revoked",
    "siem.configured",
    "siem.removed",
    "siem.tested",
    "subscription.canceled",
    "subscription.created",
    "subscription.updated",
    "upstream_connection.created",
    "upstream_connection.deleted",
    "upstream_connection.updated",
    "user.anonymized",
    "user.deactivated",
    "user.exported",
    "user.impersonated",
    "user.invited",
    "user.joined",
    "user.login.failed",
    "user.login.success",
    "user.logout",
    "user.mfa.disabled",
    "user.mfa.enabled",
    "user.mfa.verify.failed",
    "user.mfa.verify.success",
    "user.reactivated",
    "user.removed",
    "user.role_updated",
    "user.signup.success",
    "user.updated",
    "webhook.redelivered",
    "webhook.test",
    "webhook.tested",
    "workload.created",
    "workload.deleted",
]


class EventTypeItem(TypedDict):
    """An event type of the audit log or of webhook subscriptions, with its label and description."""

    value: str
    label: str
    category: str
    description: str


class ExplainedAccount(TypedDict):
    """The account of the question; `is_told` says whether the answer includes what concerns the account alone."""

    id: str
    email: str
    is_told: bool


class ExplainedGroupRule(TypedDict):
    """A rule that fits a member, and what becomes of it."""

    source: str
    group: str
    group_name: str | None
    role: str
    outcome: RuleOutcome


class ExplainedRole(TypedDict):
    """The role of a member, the rule that gave it, and the rules that fit."""

    role: str
    role_source: RoleSource | None
    rules: list[ExplainedGroupRule]
    groups_overage: bool


class ExplainedRule(TypedDict):
    """What one rule answers."""

    rule: Rule
    verdict: RuleVerdict
    reason: SignInReason | None
    reason_text: str | None
    until: str | None
    networks: list[str]
    required: NamedConnection | None


class ExplainedSignIn(TypedDict):
    """Why a user cannot sign in; `account` is null for an address that the caller learns nothing about."""

    account: ExplainedAccount | None
    ways: list[ExplainedWay]
    attempts: list[SignIn]
    problems: list[ProblemsOfConnection]
    role: ExplainedRole | None
    customer: CustomerOfSignIn | None
    setup: SetupOfSignIn | None
    next_step: StepOfSignIn | None


class ExplainedWay(TypedDict):
    """The rules in the order in which a way meets them, and the one that refuses."""

    way: SignInWay
    connection: WalkedConnection | None
    refused_by: Rule | None
    rules: list[ExplainedRule]


class ExportedAdmission(TypedDict):
    """A customer for which the vendor of a service has admitted the person, who need not be a member of the
    customer.
    """

    customer_id: str
    organization_slug: str
    vendor_slug: str
    service_slug: str
    admitted_at: str
    suspended_at: str | None


class ExportedAssignment(TypedDict):
    """An assignment of the person by an organization, to a service of its own or one that it uses as a customer."""

    organization_id: str
    organization_slug: str
    vendor_slug: str
    service_slug: str
    roles: list[str]


class ExportedAuditEntry(TypedDict):
    """A sealed entry of the audit log, as a line of the export."""

    id: str
    org_id: str
    actor_user_id: str | None
    action: str
    target_type: str
    target_id: str
    ip_address: str | None
    user_agent: str | None
    success: bool
    details: dict[str, Any]
    created_at: str
    position: int
    digests: dict[str, str]
    salts: dict[str, str]
    previous_hash: str
    hash: str


class ExportedCustomer(TypedDict):
    """An organization for which the person has signed in to a service that it uses as a customer."""

    customer_id: str
    organization_id: str
    organization_slug: str
    vendor_slug: str
    service_slug: str
    first_sign_in_at: str
    last_sign_in_at: str


class ExportedGroup(TypedDict):
    """A group that the directory or the identity provider of an organization has put the person into."""

    organization_id: str
    source: str
    name: str


class ExportedIdentity(TypedDict):
    """An account at an external provider with which the person signs in."""

    provider: str
    provider_user_id: str
    linked_at: str
    own_id: str | None
    name: str | None
    given_name: str | None
    family_name: str | None
    left_at: str | None


class ExportedLogin(TypedDict):
    """A sign-in attempt; `risk_score` is 0 to 100, and `risk_factors` is a list of words as a JSON text."""

    id: str
    timestamp: str
    ip_address: str | None
    user_agent: str | None
    provider: str
    success: bool
    reason: str | None
    risk_score: int
    risk_factors: str
    geo_country: str | None
    geo_city: str | None


class ExportedMembership(TypedDict):
    """An organization that the person is a member of."""

    organization_id: str
    organization_slug: str
    role: str
    joined_at: str


class ExportedMessage(TypedDict):
    """The message of an invitation that the person has sent or received, in an organization that they belong to."""

    organization_id: str
    organization_slug: str
    is_sent: bool
    message: str
    created_at: str


class ExportedMetadata(TypedDict):
    """What a service notes about its user."""

    organization_id: str
    organization_slug: str
    service_slug: str
    metadata: dict[str, Any]


class ExportedMfaEvent(TypedDict):
    """An event of the person's second factor or of the account's security."""

    event_type: str
    timestamp: str
    success: bool


FoundGroups: TypeAlias = Literal["directory", "organization"]


class GrantedTokens(TypedDict):
    """The tokens of a grant. With the scope `openid` there is an ID token; a client itself gets no refresh token."""

    access_token: str
    token_type: str
    expires_in: int
    refresh_token: NotRequired[str]
    id_token: NotRequired[str]
    scope: NotRequired[str]


class Grantee(TypedDict):
    """The member who has a grant."""

    id: str
    email: str
    status: MembershipStatus


class GroupMemberItem(TypedDict):
    """A member of the organization who is in the group."""

    user_id: str
    email: str
    name: str | None
    role: str
    status: MembershipStatus


class GroupMemberList(TypedDict):
    """A page of the members of a group, and the number of all."""

    members: list[GroupMemberItem]
    total: int


class GroupRuleInput(TypedDict):
    """A rule: who is in the group has the role."""

    source: str
    group: str
    role: str


class GroupRuleItem(TypedDict):
    """A rule of the organization."""

    source: str
    group: str
    group_name: str | None
    role: str
    made_by: str | None
    gives_role: bool
    created_at: str


class GroupRuleList(TypedDict):
    """The rules of the organization, in the order in which they count."""

    rules: list[GroupRuleItem]


GroupsAs: TypeAlias = Literal["ids", "names", "objects"]


class Health(TypedDict):
    """The service runs."""

    status: Literal["healthy"]
    version: str


class IdentityItem(TypedDict):
    """An identity, as its user sees it."""

    provider: str
    provider_user_id: str
    email: str | None
    linked_at: str


class ImpersonatedUser(TypedDict):
    """The user who is impersonated."""

    id: str
    email: str


class ImpersonationSession(TypedDict):
    """A session as another user, and the id of the entry in the platform's audit log."""

    access_token: str
    refresh_token: str
    expires_in: int
    token_type: Literal["Bearer"]
    impersonated_user: ImpersonatedUser
    session_id: str
    expires_at: str
    audit_log_id: str


Individuals: TypeAlias = Literal["all", "none", "others"]


class InvitationRecord(TypedDict):
    """An invitation. `token` is the SHA-256 hash of the token; only the creation returns the token itself."""

    id: str
    org_id: str
    email: str
    role: str
    invited_by: str | None
    status: InvitationStatus
    token: str
    expires_at: str
    created_at: str
    services: list[str]
    message: str | None


InvitationStatus: TypeAlias = Literal["accepted", "cancelled", "expired", "pending", "rejected"]


class Inviter(TypedDict):
    """The user who sent the invitation; placeholders when the account no longer exists."""

    id: str
    email: str
    created_at: str


class InvitingOrganization(TypedDict):
    """The organization of an invitation."""

    slug: str
    name: str


class JsonWebKeySet(TypedDict):
    """A JSON Web Key Set (RFC 7517)."""

    keys: list[dict[str, str]]


KeptReason: TypeAlias = Literal["owner", "role"]


class LiftedLimits(TypedDict):
    """What no longer counts: failed sign-ins, and kinds of mail that were sent lately."""

    failed_sign_ins: int
    mail_counts: int


LimitSource: TypeAlias = Literal["default", "organization", "tier"]


class LinkBegun(TypedDict):
    """The address at which the user continues, in their browser, to link the account."""

    authorization_url: str


class LinkedIdentity(TypedDict):
    """An account at an external identity provider with which the end user signs in."""

    provider: str
    provider_user_id: str
    email: str | None
    linked_at: str


ListedMailState: TypeAlias = Literal["failed", "kept", "queued", "routed", "sent"]


class ListedPlatformOwner(TypedDict):
    """A platform owner and their second factor; `appointed_at` is None when it was not recorded."""

    id: str
    email: str
    name: str | None
    email_verified: bool
    mfa_enabled: bool
    is_active: bool
    created_at: str
    appointed_at: str | None


LogoutBinding: TypeAlias = Literal["post", "redirect"]


class MadeByKey(TypedDict):
    """Something that a key has made; the name of a setup link is its parts."""

    kind: MadeByKeyKind
    id: str
    name: str
    service_slug: str | None
    customer_id: str | None
    made_at: str


MadeByKeyKind: TypeAlias = Literal["api_key", "scim_token", "setup_link"]


class MadeByKeyList(TypedDict):
    """A page of what a key has made, and the number of all of it."""

    things: list[MadeByKey]
    total: int


class MadeConnection(TypedDict):
    """A connection that the vendor has made; `problem` is what the last check found, if anything."""

    id: str
    name: str
    is_enabled: bool
    problem: ProviderProblem | None
    failing_since: str | None


MadeRoute: TypeAlias = Literal["failing", "leads", "taken", "unproved"]


class MadeThingList(TypedDict):
    """A part of what vendors have made, and how much there is."""

    things: list[MadeThingRecord]
    total: int


class MadeThingRecord(TypedDict):
    """Something that a vendor has made for the organization."""

    id: str
    kind: ThingKind
    vendor: ProductVendor
    service: ProductService
    name: str
    made_at: str
    made_by: MadeThrough | None


MadeThrough: TypeAlias = Literal["member", "program", "setup_link"]


class MagicLinkRequested(TypedDict):
    """What was done, and the challenge that the code of the mail answers."""

    message: str
    challenge_id: str


class MailServerSettings(TypedDict):
    """The mail server of an organization without its password, and whether it takes mail."""

    host: str
    port: int
    tls: TlsMode
    username: str | None
    has_password: bool
    from_name: str
    from_email: str
    status: MailServerStatus
    failing_since: str | None
    last_error: str | None
    next_attempt_at: str | None
    last_success_at: str | None
    last_tested_at: str | None
    last_test_accepted: bool | None
    last_test_answer: str | None
    waiting_mails: int
    created_at: str
    updated_at: str


MailServerStatus: TypeAlias = Literal["failing", "working"]


class MailServerTestResult(TypedDict):
    """Whether the mail server took the test mail, and what it answered."""

    success: bool
    message: str


MailState: TypeAlias = Literal["discarded", "failed", "kept", "queued", "routed", "sent"]


MailTemplate: TypeAlias = Literal[
    "account_closed",
    "account_exists",
    "account_locked",
    "address_code",
    "choose_password",
    "connection_certificates_replaced",
    "connection_key_ending",
    "credentials_left",
    "customer_claim",
    "customer_impersonation_started",
    "domain_failing",
    "email_change_requested",
    "email_changed",
    "email_changed_by_organization",
    "identity_linked",
    "impersonation_started",
    "invitation",
    "invitation_accepted",
    "magic_link",
    "mail_server_failing",
    "member_takeover_undone",
    "membership_added",
    "mfa_disabled",
    "mfa_enabled",
    "mfa_factor_added",
    "mfa_factor_removed",
    "mfa_force_disabled",
    "new_sign_in",
    "organization_deleted",
    "passkey_added",
    "passkey_removed",
    "password_changed",
    "password_set",
    "payment_action_required",
    "reset_password",
    "saml_certificate_ending",
    "scim_kept",
    "takeover_undone",
    "test",
    "trial_ending",
    "upstream_metadata_ending",
    "verify_email",
    "verify_new_email",
    "webhook_off",
    "welcome",
]


MailedProof: TypeAlias = Literal["code", "link"]


class MemberItem(TypedDict):
    """A member."""

    user: MemberUser
    membership: MembershipSummary


class MemberLimits(TypedDict):
    """How many members an organization may have (null means unlimited), and what sets this limit."""

    max_users: int | None
    source: LimitSource


class MemberList(TypedDict):
    """A page of members, and the limit of their number."""

    members: list[MemberItem]
    pagination: PageInfo
    limits: MemberLimits


class MemberUser(TypedDict):
    """The person who is a member."""

    id: str
    email: str
    name: str | None
    is_platform_owner: bool


class MembershipRecord(TypedDict):
    """A user's membership in an organization; `role` is a built-in role or the slug of a custom role."""

    id: str
    org_id: str
    user_id: str
    role: str
    created_at: str
    status: MembershipStatus


MembershipStatus: TypeAlias = Literal["active", "inactive"]


class MembershipSummary(TypedDict):
    """The membership: the role, when it began, and whether it gives access."""

    id: str
    role: str
    role_source: RoleSource | None
    created_at: str
    status: MembershipStatus


class Message(TypedDict):
    """What was done, in words for people."""

    message: str


class MfaAlert(TypedDict):
    """A possible attack on a user's second factor."""

    user_id: str
    email: str
    alert_type: MfaAlertType
    details: dict[str, Any]
    detected_at: str


class MfaAlertList(TypedDict):
    """Possible attacks."""

    alerts: list[MfaAlert]


MfaAlertType: TypeAlias = Literal[
    "backup_code_from_new_device", "many_mfa_failures", "mfa_disabled_after_risky_sign_in"
]


class MfaDisabled(TypedDict):
    """Multi-factor authentication is off."""

    success: bool
    message: str


class MfaEnabled(TypedDict):
    """The app is a second factor. The backup codes are shown this one time; there are none beside another factor."""

    enabled: bool
    backup_codes: list[str]


MfaMethods: TypeAlias = Literal["any", "phishing_resistant"]


class MfaMetrics(TypedDict):
    """Metrics of the second factors of all users; the rate is in percent of all accounts."""

    total_users: int
    mfa_enabled_users: int
    mfa_adoption_rate: float
    backup_codes_used_7d: int
    mfa_failures_7d: int


class MfaSetup(TypedDict):
    """The secret for an authenticator app: as text to type, as a QR code to scan, and as an address to open."""

    secret: str
    qr_code_svg: str
    qr_code_uri: str


class MfaStatus(TypedDict):
    """Whether sign-ins require a second factor, and whether the user has unused backup codes."""

    enabled: bool
    has_backup_codes: bool


class NamedConnection(TypedDict):
    """A connection of an organization, by its name and the organization's."""

    id: str
    organization_id: str
    name: str
    organization_name: str


class NetworkLimit(TypedDict):
    """The failed sign-ins from one client network, and until when it is refused; None while it is not."""

    network: str
    failures: int
    blocked_until: str | None


class Organization(TypedDict):
    """An organization, with all its fields."""

    id: str
    slug: str
    name: str
    status: OrganizationStatus
    tier_id: str
    max_services: int | None
    max_users: int | None
    mfa_required: bool
    device_trust_days: int
    created_at: str
    updated_at: str
    approved_at: str | None
    approved_by: str | None
    rejected_at: str | None
    rejection_reason: str | None
    suspended_at: str | None
    suspension_reason: str | None
    mfa_methods: MfaMethods
    deletes_at: str | None
    metadata: dict[str, Any]


class OrganizationDetails(TypedDict):
    """An organization as its members see it."""

    organization: Organization
    membership_count: int
    service_count: int
    tier: Tier


class OrganizationKey(TypedDict):
    """A key of an organization, without its secret."""

    id: str
    name: str
    prefix: str | None
    permissions: list[Capability]
    created_at: str
    expires_at: str | None
    last_used_at: str | None


class OrganizationKeyCreated(TypedDict):
    """The new key and its secret, which is shown only here. Send it in the `X-Api-Key` header."""

    key: OrganizationKey
    secret: NotRequired[str]


class OrganizationKeyList(TypedDict):
    """The keys of an organization, and their number."""

    keys: list[OrganizationKey]
    total: int


class OrganizationMemberItem(TypedDict):
    """A member of an organization; null is what the organization is not told before the person has confirmed."""

    user_id: str
    email: str
    name: str | None
    role: str
    created_at: str
    is_confirmed: bool
    is_suspended: bool
    has_second_factor: bool | None
    last_sign_in_at: str | None


class OrganizationMemberList(TypedDict):
    """A part of the members, their number, and where the list continues."""

    members: list[OrganizationMemberItem]
    total: int
    next: str | None


class OrganizationMembershipRecord(TypedDict):
    """An organization of the user, with their membership and its tier."""

    organization: Organization
    membership: MembershipRecord
    tier: Tier


class OrganizationOwner(TypedDict):
    """The owner of an organization; placeholders when that user no longer exists."""

    id: str
    email: str
    is_platform_owner: bool
    created_at: str


class OrganizationRecord(TypedDict):
    """The current state of an organization."""

    organization: Organization


OrganizationStatus: TypeAlias = Literal["active", "deleting", "pending", "rejected", "suspended"]


class OutboxMail(TypedDict):
    """A mail without its content. `due_at` is when the next attempt is due, if the mail waits."""

    id: str
    recipient: str
    template: MailTemplate
    state: MailState
    attempts: int
    due_at: str
    last_error: str | None
    organization_id: str | None
    created_at: str


class OutboxMailList(TypedDict):
    """A page of mails, the newest first, and how many there are; 10,001 stands for more than 10,000."""

    mails: list[OutboxMail]
    total: int


class OwnCredentials(TypedDict):
    """The credentials of an organization at a provider, without the secret."""

    provider: str
    client_id: str
    has_secret: bool


class OwnSubscription(TypedDict):
    """The caller's subscription to the service of their token."""

    service: str
    plan: str
    plan_id: str
    features: list[str]
    status: SubscriptionStatus
    current_period_end: str | None


class OwnershipTransferred(TypedDict):
    """A message for people, the previous owner and the new one."""

    message: str
    old_owner: PreviousOwner
    new_owner: CurrentOwner


class PageInfo(TypedDict):
    """The page, and the total number of items."""

    page: int
    limit: int
    total: int


class Pagination(TypedDict):
    """The position of a page in a list."""

    page: int
    limit: int
    total: int
    total_pages: int
    has_next: bool
    has_prev: bool


class PasskeyChallenge(TypedDict):
    """The options for the browser, and the id to send with its answer within five minutes."""

    challenge_id: str
    options: dict[str, Any]


class PasskeyEndpoints(TypedDict):
    """The pages on which a person adds passkeys and manages them."""

    enroll: str
    manage: str


class PasskeyFactorOptions(TypedDict):
    """The options for `navigator.credentials.get()`, whose answer is taken once, within five minutes."""

    options: dict[str, Any]


class PasskeyItem(TypedDict):
    """A passkey as its owner sees it."""

    id: str
    name: str
    aaguid: str
    backup_eligible: bool
    created_at: str
    last_used_at: str | None
    second_factor: bool


class PasskeyList(TypedDict):
    """The passkeys of the caller."""

    passkeys: list[PasskeyItem]
    total: int


PasswordNotice: TypeAlias = Literal["breached"]


class PendingSecondFactor(TypedDict):
    """The first factor was right and a second one is required: `POST /api/auth/mfa/verify` takes the pre-auth token."""

    access_token: str
    refresh_token: Literal[""]
    expires_in: int
    mfa_required: Literal[True]
    preauth_token: str


class PeopleOfMonth(TypedDict):
    """How many people have used a service for a customer in a month."""

    month: str
    active_people: int


Permission: TypeAlias = Literal[
    "delete:subscriptions",
    "delete:users",
    "read:analytics",
    "read:customers",
    "read:service",
    "read:subscriptions",
    "read:users",
    "setup:customers",
    "write:customers",
    "write:service",
    "write:subscriptions",
    "write:users",
]


class PersonSummary(TypedDict):
    """A user, as shown beside an organization."""

    id: str
    email: str
    is_platform_owner: bool
    created_at: str


class PersonalDataExport(TypedDict):
    """The personal data of a person; `login_events` has the newest ones, and `login_events_count` counts all."""

    user_id: str
    email: str
    name: str | None
    language: str | None
    created_at: str
    memberships: list[ExportedMembership]
    groups: list[ExportedGroup]
    customers: list[ExportedCustomer]
    admissions: list[ExportedAdmission]
    assignments: list[ExportedAssignment]
    service_metadata: list[ExportedMetadata]
    messages: list[ExportedMessage]
    login_events_count: int
    login_events: list[ExportedLogin]
    oauth_identities: list[ExportedIdentity]
    mfa_events: list[ExportedMfaEvent]
    passkeys: list[PasskeyItem]


class PlanItem(TypedDict):
    """A plan in a list, with the number of users who are subscribed to it."""

    id: str
    service_id: str
    is_default: bool
    created_at: str
    name: str
    price_cents: int
    currency: str
    features: list[str]
    billing_price_id: str | None
    subscription_count: int


class PlanRecord(TypedDict):
    """A plan. The default plan holds for users without a subscription and cannot be deleted."""

    id: str
    service_id: str
    is_default: bool
    created_at: str
    name: str
    price_cents: int
    currency: str
    features: list[str]
    billing_price_id: str | None


PlatformAction: TypeAlias = Literal[
    "address.limits_lifted",
    "impersonation.acted",
    "impersonation.started",
    "impersonation.stopped",
    "list.narrowed",
    "mail.retried",
    "mfa.force_disabled",
    "organization.activated",
    "organization.approved",
    "organization.deleted",
    "organization.rejected",
    "organization.suspended",
    "organization.tier_changed",
    "platform_owner.demoted",
    "platform_owner.promoted",
    "platform_support.appointed",
    "platform_support.demoted",
    "secrets.rewrapped",
    "signing_key.rotated",
    "tier.changed",
    "tier.created",
    "tier.deleted",
    "user.anonymized",
    "user.exported",
    "user.limits_lifted",
    "user.locked",
    "user.opened",
    "user.sessions_ended",
    "user.unlocked",
    "user.verification_sent",
    "user_anonymized",
]


class PlatformAuditLogEntryRecord(TypedDict):
    """An entry of the platform's audit log; `org_id` is the organization concerned, if there is one."""

    id: str
    org_id: str | None
    actor: AuditLogActor
    action: str
    target_type: str
    target_id: str
    ip_address: str | None
    user_agent: str | None
    success: bool
    details: dict[str, Any]
    created_at: str


class PlatformAuditLogPageRecord(TypedDict):
    """A page of entries, newest first."""

    logs: list[PlatformAuditLogEntryRecord]
    pagination: Pagination
    looked_back_to: NotRequired[str]
    looked_back_to_id: NotRequired[str]


class PlatformOrganization(TypedDict):
    """An organization as the platform lists it."""

    organization: Organization
    owner: OrganizationOwner | None
    unclaimed: bool
    tier: TierSummary


class PlatformOrganizationList(TypedDict):
    """A page of organizations, and the total number."""

    organizations: list[PlatformOrganization]
    total: int


class PlatformOwner(TypedDict):
    """A user who was promoted to platform owner."""

    id: str
    email: str
    is_platform_owner: bool
    created_at: str


class PlatformOwnerList(TypedDict):
    """The platform owners."""

    owners: list[ListedPlatformOwner]
    total: int


class PlatformSupport(TypedDict):
    """A user of the platform's support; this has effect while the address is verified and MFA is enabled."""

    id: str
    email: str
    name: str | None
    email_verified: bool
    mfa_enabled: bool
    created_at: str
    appointed_at: str | None


class PlatformSupportList(TypedDict):
    """The people of the platform's support."""

    support: list[PlatformSupport]
    total: int


PlatformTargetType: TypeAlias = Literal["address", "key", "list", "mail", "organization", "tier", "user"]


class PlatformUser(TypedDict):
    """A found user."""

    id: str
    email: str
    name: str | None
    is_platform_owner: bool
    mfa_enabled: bool
    created_at: str
    organizations: list[PlatformUserOrganization]


class PlatformUserOrganization(TypedDict):
    """An organization of a found user, and the user's role in it."""

    id: str
    slug: str
    name: str
    role: str


class PortalOpened(TypedDict):
    """The address of the portal; anyone who has it can use the portal for a while."""

    portal_url: str


# A claim of the product, its source, and what it says; null where the source has no value.
PreviewedClaim = TypedDict("PreviewedClaim", {"claim": "str", "from": "str", "value": "Any"})


class PreviousOwner(TypedDict):
    """The previous owner and their new role."""

    user_id: str
    new_role: Literal["admin"]


class ProblemDetails(TypedDict):
    """What the request sent, and what the service had registered, or what would have been valid."""

    sent: str | None
    registered: list[str]


ProblemKind: TypeAlias = Literal[
    "access", "client_authentication", "grant", "logout_uri", "pkce", "redirect_uri", "response_type", "scope"
]


class ProblemsOfConnection(TypedDict):
    """Why sign-ins by a connection failed lately; whose they were is not known."""

    connection_id: str
    name: str
    failures: list[UpstreamFailure]


ProductAccess: TypeAlias = Literal["assigned", "members"]


class ProductAssignment(TypedDict):
    """A subject of the organization that the product is assigned to, with roles of the product."""

    subject: str
    roles: NotRequired[list[str]]


class ProductList(TypedDict):
    """A part of the products, and how many there are."""

    products: list[ProductRecord]
    total: int


class ProductRecord(TypedDict):
    """A service of another organization that the organization uses, or that is offered to it."""

    client_id: str
    customer_id: str
    service: ProductService
    vendor: ProductVendor
    state: CustomerState
    access: ProductAccess
    assignments: list[ProductAssignment]
    shares_directory: bool
    groups: list[str]
    hidden: bool
    vendor_setup: list[SetupPart]
    paused: bool
    created_at: str


class ProductService(TypedDict):
    """The service of a product."""

    slug: str
    name: str


class ProductVendor(TypedDict):
    """The organization whose service a product is."""

    slug: str
    name: str


class Profile(TypedDict):
    """The caller's account in the context of the session; `org` and `service` are empty outside such a context."""

    id: str
    email: str
    name: str | None
    org: str
    service: str
    email_verified: bool
    is_platform_owner: bool
    is_platform_support: bool
    created_at: str
    role: str | None
    permissions: list[Capability]
    plan: str | None
    features: list[str]


class ProfileForCustomer(TypedDict):
    """The same for a session that acts for a customer of its service; role and capabilities are empty there."""

    id: str
    email: str
    name: str | None
    org: str
    service: str
    email_verified: bool
    is_platform_owner: bool
    is_platform_support: bool
    created_at: str
    role: str | None
    permissions: list[Capability]
    plan: str | None
    features: list[str]
    service_roles: list[str]
    customer: str
    customer_id: str
    customer_name: str
    customer_role: str | None
    customer_external_id: str | None


class ProfileWithRoles(TypedDict):
    """The same for a session of a service with roles of its own: those that the user has there."""

    id: str
    email: str
    name: str | None
    org: str
    service: str
    email_verified: bool
    is_platform_owner: bool
    is_platform_support: bool
    created_at: str
    role: str | None
    permissions: list[Capability]
    plan: str | None
    features: list[str]
    service_roles: list[str]


ProofStatus: TypeAlias = Literal["failing", "pending", "verified"]


class ProviderLogins(TypedDict):
    """The number of sign-ins with a provider: `password`, `passkey`, `magic_link`, `saml` or an external provider."""

    provider: str
    count: int


ProviderProblem: TypeAlias = Literal[
    "address_refused",
    "busy",
    "certificate",
    "certificates_replaced",
    "clocks",
    "code_refused",
    "declined",
    "error_at_provider",
    "for_another",
    "foreign_domain",
    "metadata",
    "metadata_ended",
    "name_unknown",
    "no_address",
    "no_answer",
    "no_discovery_document",
    "no_endpoint",
    "no_id",
    "no_keys",
    "no_tls",
    "no_token",
    "not_admitted",
    "not_an_address",
    "not_json",
    "of_another",
    "organization_full",
    "other",
    "other_issuer",
    "other_sign_in",
    "other_slash",
    "request_refused",
    "secret_ended",
    "secret_unclear",
    "session_over",
    "signature",
    "token_endpoint",
    "too_large",
    "too_slow",
    "transient_id",
    "undeciphered",
    "unknown_client",
    "unreachable",
    "unreadable",
    "unsigned",
    "user_unknown",
    "weak_signature",
    "wrong_redirect",
    "wrong_secret",
]


class ProviderToken(TypedDict):
    """An access token that the provider has issued for the user."""

    provider: str
    access_token: str
    token_type: str
    expires_at: str | None
    scopes: list[str]


class ProvisioningLog(TypedDict):
    """A page of the log, and the number of all entries."""

    entries: list[ProvisioningLogEntry]
    total: int


class ProvisioningLogEntry(TypedDict):
    """A line of the provisioning log."""

    id: str
    created_at: str
    token_id: str
    token_name: str
    method: str
    path: str
    resource_id: str | None
    user_name: str | None
    status: int
    scim_type: str | None
    detail: str | None


class PublicBranding(TypedDict):
    """The public branding of an active organization, with its name."""

    logo: str | None
    icon: str | None
    primary_color: str | None
    background_color: str | None
    support_email: str | None
    terms_url: str | None
    privacy_url: str | None
    name: str


class PushedRequestReference(TypedDict):
    """What the browser brings instead of the parameters: good once, for a minute."""

    request_uri: str
    expires_in: int


class QueuedDeliveries(TypedDict):
    """How many deliveries were queued again."""

    queued: int


class QueuedDelivery(TypedDict):
    """The delivery that was queued."""

    delivery_id: str


class Readiness(TypedDict):
    """Whether the service can process requests, the problem if it cannot, and the state of its background tasks."""

    status: Literal["ready", "unhealthy"]
    version: str
    database: Literal["connected", "disconnected"]
    problem: str | None
    actors: dict[str, BackgroundTaskState]


class ReceivedInvitationRecord(TypedDict):
    """A pending invitation of the caller."""

    id: str
    email: str
    role: str
    token: str
    expires_at: str
    created_at: str
    service_names: list[str]
    message: str | None
    organization: InvitingOrganization


class RecentLogin(TypedDict):
    """One sign-in; `service_id` is null if it was to the organization itself."""

    id: str
    user_id: str
    service_id: str | None
    provider: str
    created_at: str


class RecordedAccount(TypedDict):
    """The account itself."""

    id: str
    email: str
    name: str | None
    language: str | None
    email_verified: bool
    disowned: bool
    is_platform_owner: bool
    is_platform_support: bool
    created_at: str
    updated_at: str
    deactivated_at: str | None
    closed_at: str | None
    locked_at: str | None


class RecordedDevice(TypedDict):
    """A device that the user has signed in from; `trusted` is whether it was ever trusted as a second factor."""

    id: str
    name: str
    last_used_at: str
    last_ip: str | None
    trusted: bool
    created_at: str


class RecordedSession(TypedDict):
    """A live session of the user; `geo_country` and `geo_city` locate its network address, None if not known."""

    id: str
    provider: str
    amr: list[str]
    created_at: str
    last_used_at: str
    expires_at: str
    ip_address: str | None
    geo_country: str | None
    geo_city: str | None
    user_agent: str | None
    is_impersonation: bool
    organization: SignInOrganization | None
    service: SignInService | None


class RecordedWays(TypedDict):
    """The user's ways to sign in."""

    has_password: bool
    mfa_enabled: bool
    backup_codes_remaining: int
    passkeys: list[PasskeyItem]
    identities: list[IdentityItem]


RefusalReason: TypeAlias = Literal[
    "audience", "claims", "expired", "keys_unavailable", "lifetime", "not_yet_valid", "signature"
]


class RefusedAssertion(TypedDict):
    """The last token that did not fit, with the claims that the rule names, None for a missing one."""

    at: str
    reason: RefusalReason
    claims: dict[str, Any]


class RegistrationCredential(TypedDict):
    """The result of `navigator.credentials.create()`, as its `toJSON()` writes it."""

    id: str
    type: Literal["public-key"]
    response: AttestationResponse


class RenamedDevice(TypedDict):
    """A device with its new name."""

    id: str
    name: str
    device_type: DeviceType
    updated_at: str


class RetriedMail(TypedDict):
    """The mail that is sent again."""

    mail: OutboxMail


class RevokedSessions(TypedDict):
    """A message for people, and how many sessions were ended."""

    message: str
    sessions_revoked: int


class Role(TypedDict):
    """A named set of capabilities; the times of a built-in role are null."""

    slug: str
    name: str
    description: str
    permissions: list[Capability]
    scopes: list[str]
    is_built_in: bool
    created_at: str | None
    updated_at: str | None


class RoleList(TypedDict):
    """All roles, the built-in ones first."""

    roles: list[Role]
    total: int


class RoleSource(TypedDict):
    """The rule that gave a role: `source` is `scim` or the id of a connection, `group` the group that it names."""

    source: str
    group: str


class RouteEffects(TypedDict):
    """What leading the domain to a connection does with the people of the organization who have an address in it."""

    connection_id: str
    connection_name: str
    linked: int
    at_once: int
    by_code: int
    kept_out: int


class RouteList(TypedDict):
    """All routes of the organization, by their domains."""

    domain_routes: list[DomainRoute]
    total: int


Rule: TypeAlias = Literal[
    "access",
    "account",
    "activated",
    "address_confirmed",
    "address_owned",
    "address_verified",
    "affiliation",
    "confinement",
    "connection_kept",
    "connection_open",
    "credential",
    "customer",
    "failures",
    "link",
    "mail_domain",
    "mail_limit",
    "membership",
    "not_suspended",
    "organization",
    "organization_active",
    "reopening",
    "required_second_factor",
    "saml_admission",
    "seat",
    "second_factor",
    "security_profile",
    "service",
    "single_sign_on",
]


RuleOutcome: TypeAlias = Literal["earlier_rule", "gives", "maker_lost_right", "stays", "token_may_not", "waits"]


RuleVerdict: TypeAlias = Literal["asks", "depends", "not_reached", "not_told", "passes", "refuses"]


class SamlChanged(TypedDict):
    """The change is made."""

    success: bool
    message: str


class SamlRecord(TypedDict):
    """The SAML configuration of a service; the defaults when it was never set."""

    enabled: bool
    entity_id: str | None
    acs_url: str | None
    slo_url: str | None
    slo_binding: LogoutBinding
    name_id_format: str | None
    attribute_mapping: dict[str, str] | None
    sign_assertions: bool
    sign_response: bool
    sp_certificate: str | None
    members_only: bool
    has_certificate: bool


class ScimEmail(TypedDict):
    """An address of a user."""

    value: NotRequired[str]
    type: NotRequired[str]
    primary: NotRequired[bool]


class ScimEmailInput(TypedDict):
    """An address of a user; the primary one counts, else that of work, else the first."""

    value: NotRequired[str | None]
    type: NotRequired[str | None]
    primary: NotRequired[bool | str | None]


# The organization, as a group of its members, or a group of its directory.
ScimGroup = TypedDict(
    "ScimGroup",
    {
        "schemas": "list[str]",
        "id": "str",
        "externalId": "NotRequired[str | None]",
        "meta": "NotRequired[ScimMeta]",
        "displayName": "NotRequired[str]",
        "members": "NotRequired[list[ScimMember] | None]",
        "urn:gatehouse:scim:kept": "NotRequired[list[ScimKeptMember] | None]",
    },
)


class ScimGroupList(TypedDict):
    """A page of groups."""

    schemas: list[str]
    totalResults: int
    startIndex: int
    itemsPerPage: int
    Resources: list[ScimGroup]


class ScimKeptMember(TypedDict):
    """A member that the change should have removed from the organization, and who stays."""

    value: str
    display: str
    reason: KeptReason


# A member of a group.
ScimMember = TypedDict(
    "ScimMember", {"value": "NotRequired[str]", "$ref": "NotRequired[str]", "type": "NotRequired[str]"}
)


class ScimMemberInput(TypedDict):
    """A member of a group."""

    value: str
    type: NotRequired[str | None]


class ScimMeta(TypedDict):
    """About a resource."""

    resourceType: NotRequired[str]
    created: NotRequired[str]
    lastModified: NotRequired[str]
    location: NotRequired[str]
    version: NotRequired[str]


class ScimName(TypedDict):
    """The name of a user."""

    formatted: NotRequired[str | None]
    givenName: NotRequired[str | None]
    familyName: NotRequired[str | None]


class ScimNameInput(TypedDict):
    """The name of a user."""

    formatted: NotRequired[str | None]
    givenName: NotRequired[str | None]
    familyName: NotRequired[str | None]


class ScimPatchOperation(TypedDict):
    """A change of one attribute, or without a path of several."""

    op: str
    path: NotRequired[str | None]
    value: NotRequired[Any]


class ScimToken(TypedDict):
    """A SCIM token of an organization, without its secret."""

    id: str
    name: str
    prefix: str
    groups: FoundGroups
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    made_by_key: str | None


class ScimTokenList(TypedDict):
    """The tokens of an organization, and their number."""

    tokens: list[ScimToken]
    total: int


class ScimUser(TypedDict):
    """A member of the organization."""

    schemas: list[str]
    id: str
    externalId: NotRequired[str | None]
    meta: NotRequired[ScimMeta]
    userName: NotRequired[str]
    name: NotRequired[ScimName | None]
    displayName: NotRequired[str | None]
    emails: NotRequired[list[ScimEmail]]
    active: NotRequired[bool]


class ScimUserList(TypedDict):
    """A page of users."""

    schemas: list[str]
    totalResults: int
    startIndex: int
    itemsPerPage: int
    Resources: list[ScimUser]


class SecretRotated(TypedDict):
    """The service and its new secret, which is shown only here."""

    service: ServiceRecord
    client_secret: str


SecurityProfile: TypeAlias = Literal["fapi2"]


class SelectedOrganization(TypedDict):
    """The user, their membership of the selected organization, and the new tokens."""

    access_token: str
    refresh_token: str
    expires_in: int
    token_type: Literal["Bearer"]
    user: PersonSummary
    membership: MembershipRecord


class SentInvitationRecord(TypedDict):
    """An invitation as members who manage others see it."""

    invitation: InvitationRecord
    inviter: Inviter


class ServiceAssignment(TypedDict):
    """A subject of the organization that the service is assigned to, with roles of the service."""

    subject: str
    roles: NotRequired[list[str]]


# A claim of the product, and its source; access tokens have it where `in_access_token` says so.
ServiceClaim = TypedDict("ServiceClaim", {"claim": "str", "from": "str", "in_access_token": "NotRequired[bool]"})


class ServiceCreated(TypedDict):
    """The new service with its default plan. The secret of a confidential service is shown only here."""

    service: ServiceRecord
    default_plan: PlanRecord
    usage: Usage
    client_secret: NotRequired[str]


class ServiceGrant(TypedDict):
    """A member's grant on a service, with the user who granted it and when."""

    user: Grantee
    relation: ServiceRelation
    granted_by: str | None
    created_at: str


class ServiceGrantList(TypedDict):
    """A page of grants on one service."""

    grants: list[ServiceGrant]
    pagination: PageInfo


class ServiceItem(TypedDict):
    """A service in a list, with the numbers of its plans and of the users who are subscribed to it."""

    id: str
    org_id: str
    client_id: str
    previous_secret_expires_at: str | None
    created_at: str
    slug: str
    name: str
    service_type: ServiceType
    codehost_scopes: list[str] | None
    websuite_scopes: list[str] | None
    officesuite_scopes: list[str] | None
    redirect_uris: list[str]
    device_activation_uri: str | None
    post_logout_redirect_uris: list[str]
    backchannel_logout_uri: str | None
    frontchannel_logout_uri: str | None
    jwks_uri: str | None
    jwks: dict[str, list[dict[str, Any]]] | None
    audiences: list[str]
    group_claims: list[str]
    groups_as: GroupsAs
    security_profile: SecurityProfile | None
    token_signing: SignatureAlgorithm
    customers: CustomerPolicy
    individuals: Individuals
    access: Admission
    roles: list[ServiceRole]
    initiate_login_uri: str | None
    scopes: list[ServiceScope]
    machine_scopes: list[str]
    claims: list[ServiceClaim]
    assignments: list[ServiceAssignment]
    plan_count: int
    subscription_count: int


class ServiceList(TypedDict):
    """The services, and how many the organization has and may have."""

    services: list[ServiceItem]
    usage: Usage


class ServiceLogins(TypedDict):
    """The number of sign-ins to a service."""

    service_id: str
    service_name: str
    count: int


class ServiceRecord(TypedDict):
    """A service. Clients of OpenID Connect use `client_id`; it never changes."""

    id: str
    org_id: str
    client_id: str
    previous_secret_expires_at: str | None
    created_at: str
    slug: str
    name: str
    service_type: ServiceType
    codehost_scopes: list[str] | None
    websuite_scopes: list[str] | None
    officesuite_scopes: list[str] | None
    redirect_uris: list[str]
    device_activation_uri: str | None
    post_logout_redirect_uris: list[str]
    backchannel_logout_uri: str | None
    frontchannel_logout_uri: str | None
    jwks_uri: str | None
    jwks: dict[str, list[dict[str, Any]]] | None
    audiences: list[str]
    group_claims: list[str]
    groups_as: GroupsAs
    security_profile: SecurityProfile | None
    token_signing: SignatureAlgorithm
    customers: CustomerPolicy
    individuals: Individuals
    access: Admission
    roles: list[ServiceRole]
    initiate_login_uri: str | None
    scopes: list[ServiceScope]
    machine_scopes: list[str]
    claims: list[ServiceClaim]
    assignments: list[ServiceAssignment]


ServiceRelation: TypeAlias = Literal["manager", "viewer"]


class ServiceRole(TypedDict):
    """A role of the service itself, which its organization and its customers assign to their people."""

    name: str
    title: str
    description: NotRequired[str]
    scopes: NotRequired[list[str]]


class ServiceScope(TypedDict):
    """A scope of a service's own; people read its `description` before they allow it."""

    name: str
    description: str


ServiceType: TypeAlias = Literal["api", "desktop", "mobile", "web"]


class ServiceUser(TypedDict):
    """A user of the service, with the id by which the organization knows them."""

    id: str
    email: str
    created_at: str
    metadata: dict[str, Any]


class SessionItem(TypedDict):
    """A session, as its user sees it."""

    id: str
    provider: str
    ip_address: str | None
    user_agent: str | None
    device_id: str | None
    created_at: str
    last_used_at: str
    expires_at: str
    is_current: bool


class SessionList(TypedDict):
    """The sessions of the caller."""

    sessions: list[SessionItem]
    total: int


class SessionSummary(TypedDict):
    """The number of live sessions in this organization, and when the latest session began."""

    active_count: int
    last_created_at: str | None


class SetupAttempt(TypedDict):
    """When something was last tried or used, and whether that succeeded; `reason` is why it did not, None otherwise."""

    at: str
    succeeded: bool
    reason: str | None


class SetupLink(TypedDict):
    """A link as members see it; nothing shows its secret again."""

    id: str
    parts: list[str]
    service_slug: str | None
    roles: list[str]
    created_by: str
    created_at: str
    expires_at: str
    last_used_at: str | None
    made_by_key: str | None


class SetupLinkList(TypedDict):
    """The valid links, the newest first."""

    setup_links: list[SetupLink]
    total: int


class SetupOfSignIn(TypedDict):
    """What you have made for the customer: where the address leads, and by what you let a person in."""

    parts: list[str]
    organization: OrganizationStatus | None
    connections: list[MadeConnection]
    domain: str
    route: MadeRoute | None
    leads_to: str | None
    admitted_by: AdmittedBy | None
    is_deactivated: bool | None
    takes_code: bool | None


SetupPart: TypeAlias = Literal["groups", "mail_domain", "scim", "upstream"]


class SiemConfiguration(TypedDict):
    """The configuration and the state of the stream."""

    id: str
    provider: SiemProvider
    endpoint: str
    has_token: bool
    options: SiemOptions
    include: list[SiemContent]
    event_filter: list[str] | None
    enabled: bool
    status: SiemStatus
    last_success_at: str | None
    last_error: str | None
    cursor: int
    lag: int
    pending: int
    sign_ins_through: str | None
    created_at: str
    updated_at: str


SiemContent: TypeAlias = Literal["audit", "sign_ins"]


class SiemOptions(TypedDict):
    """Options of the receiver, each with a default that fits."""

    start: NotRequired[SiemStart]
    index: NotRequired[str | None]
    source: NotRequired[str | None]
    sourcetype: NotRequired[str | None]
    service: NotRequired[str | None]
    tags: NotRequired[list[str]]
    compress: NotRequired[bool]


SiemProvider: TypeAlias = Literal["datadog", "elastic", "http", "splunk"]


class SiemRemoved(TypedDict):
    """The configuration was deleted."""

    success: bool
    message: str


SiemStart: TypeAlias = Literal["beginning", "now"]


SiemStatus: TypeAlias = Literal["disabled", "failing", "healthy", "waiting"]


class SiemTestResult(TypedDict):
    """What came back for the test event; `status_code` is null when the receiver did not answer."""

    success: bool
    status_code: int | None
    latency_ms: int
    message: str


class SignIn(TypedDict):
    """One attempt to sign in; `reason` and `reason_text` are null for one that succeeded."""

    id: str
    created_at: str
    provider: str
    outcome: SignInOutcome
    reason: SignInReason | None
    reason_text: str | None
    organization: SignInOrganization | None
    service: SignInService | None
    connection: SignInConnection | None
    ip_address: str | None
    user_agent: str | None
    device: str
    device_id: str | None
    geo_country: str | None
    geo_city: str | None
    risk_score: int
    risk_factors: list[str]
    request_id: str | None
    customer: SignInCustomer | None
    mailed_proof: MailedProof | None


class SignInConnection(TypedDict):
    """The connection of an organization by which its user signed in."""

    id: str
    name: str


class SignInCustomer(TypedDict):
    """The customer of the service for which its user signed in; the id is the customer's, as tokens name it."""

    id: str
    slug: str
    name: str


class SignInOrganization(TypedDict):
    """The organization that was signed in to."""

    id: str
    slug: str
    name: str


SignInOutcome: TypeAlias = Literal["refused", "second_factor_asked", "success"]


SignInReason: TypeAlias = Literal[
    "address_changed",
    "address_disowned",
    "address_not_confirmed",
    "address_not_verified_there",
    "address_unusable_there",
    "assertion_expired",
    "assertion_for_another",
    "assertion_not_confirmed",
    "assertion_of_another",
    "certificate_outdated",
    "certificates_replaced",
    "closed",
    "confined_elsewhere",
    "connection_changed",
    "connection_closed",
    "consent_refused",
    "customer_asked",
    "customer_closed",
    "deactivated",
    "device_removed",
    "domain_not_proved",
    "email_not_verified",
    "expired_link",
    "identity_unlinked",
    "interaction_required",
    "link_for_elsewhere",
    "link_required",
    "locked",
    "mailed_proof_required",
    "metadata_expired",
    "mfa_turned_off",
    "no_authn_context",
    "no_customer",
    "no_password",
    "not_a_member",
    "not_admitted",
    "not_assigned",
    "not_member",
    "not_of_organization",
    "not_recorded",
    "organization_full",
    "organization_not_active",
    "other_subject",
    "other_way",
    "passkey_required",
    "password_changed",
    "provider_failed",
    "request_unsupported",
    "second_factor_asked",
    "second_factor_required",
    "session_over_there",
    "sign_count_regressed",
    "sign_in_over",
    "sso_required",
    "state_unknown",
    "suspended",
    "too_many_failures",
    "too_many_wrong_codes",
    "unknown_account",
    "unknown_link",
    "unknown_organization",
    "unknown_service",
    "used_link",
    "wrong_code",
    "wrong_passkey",
    "wrong_password",
]


class SignInRules(TypedDict):
    """The sign-in rules of an organization; `mfa_methods` says which second factors count where it requires one."""

    mfa_methods: MfaMethods


class SignInService(TypedDict):
    """The service that was signed in to."""

    id: str
    slug: str
    name: str


class SignInTokens(TypedDict):
    """A session has begun; clients without cookies send `device_token` as `X-Device-Token` from now on."""

    access_token: str
    refresh_token: str
    expires_in: int
    token_type: Literal["Bearer"]
    device_token: str
    method: NotRequired[Literal["totp", "backup_code", "passkey"]]
    password_notice: NotRequired[PasswordNotice]
    saml_redirect_url: NotRequired[str]


SignInWay: TypeAlias = Literal["connection", "link", "passkey", "password"]


class SignInsPage(TypedDict):
    """A page of sign-ins, and their total number."""

    sign_ins: list[SignIn]
    total: int


SignatureAlgorithm: TypeAlias = Literal["ES256", "RS256"]


class StepOfSignIn(TypedDict):
    """What the user does next, and by which connection."""

    step: AwaitedStep
    connection: NamedConnection


SubscriptionStatus: TypeAlias = Literal["active", "cancelled", "expired", "past_due"]


TargetType: TypeAlias = Literal[
    "api_key",
    "branding",
    "customer",
    "domain",
    "group",
    "invitation",
    "organization",
    "plan",
    "service",
    "subscription",
    "user",
    "workload",
]


ThingKind: TypeAlias = Literal["connection", "group_rule", "mail_domain", "scim_token", "setup_link"]


class Tier(TypedDict):
    """A set of limits with a price; a limit of null means unlimited."""

    name: str
    display_name: str
    default_max_services: int | None
    default_max_users: int | None
    price_cents: int
    id: str


class TierSummary(TypedDict):
    """A tier, as shown beside an organization."""

    id: str
    name: str
    display_name: str


TlsMode: TypeAlias = Literal["none", "starttls", "tls"]


class TokenPreview(TypedDict):
    """The payloads of tokens and assertions that are not issued; `bytes` is the size of the larger token."""

    id_token: dict[str, Any] | None
    access_token: dict[str, Any]
    userinfo: dict[str, Any] | None
    saml: dict[str, Any] | None
    claims: list[PreviewedClaim]
    bytes: int
    warnings: list[str]


class Tokens(TypedDict):
    """An access token, and the refresh token to get the next one."""

    access_token: str
    refresh_token: str
    expires_in: int
    token_type: Literal["Bearer"]


class UpdatedMember(TypedDict):
    """A member with the new role."""

    user: UserSummary
    membership: MembershipRecord


class UpstreamFailure(TypedDict):
    """A problem of a connection; `last_request_id` is the last request that met it."""

    problem: ProviderProblem
    first_at: str
    last_at: str
    occurrences: int
    last_request_id: str


class Usage(TypedDict):
    """How many services the organization has and may have (null means unlimited), and the name of its tier."""

    current_services: int
    max_services: int | None
    tier: str


class UserMfaStatus(TypedDict):
    """A user's second factor; `last_mfa_challenge` is when the user last tried a code."""

    user_id: str
    email: str
    mfa_enabled: bool
    mfa_enabled_at: str | None
    backup_codes_remaining: int
    last_mfa_challenge: str | None


class UserRecord(TypedDict):
    """Everything of an account that helps its user; long lists have the newest rows, and the number of all."""

    user: RecordedAccount
    sign_in_methods: RecordedWays
    limits: AddressLimits
    organizations: list[PlatformUserOrganization]
    devices: list[RecordedDevice]
    devices_total: int
    sessions: list[RecordedSession]
    sessions_total: int
    sign_ins: list[SignIn]
    sign_ins_total: int
    mails: list[OutboxMail]
    mails_total: int


class UserSearchResult(TypedDict):
    """The users found; `hint` is there only where the part is too short to be found within addresses."""

    users: list[PlatformUser]
    hint: NotRequired[str]


class UserSummary(TypedDict):
    """The person whose role was changed."""

    id: str
    email: str


class VerificationSent(TypedDict):
    """Whether a mail leaves; none does above the limit of mails to the address."""

    sent: bool


class VisitedCustomer(TypedDict):
    """A customer of the service for which you have signed in."""

    id: str
    slug: str
    name: str
    last_sign_in_at: str


class VisitedCustomers(TypedDict):
    """The customers for which you have signed in, the latest first."""

    customers: list[VisitedCustomer]
    total: int


class WalkedConnection(TypedDict):
    """The connection of a walk."""

    id: str
    name: str


class Webhook(TypedDict):
    """A webhook; its secrets are in `SigningSecrets`."""

    id: str
    name: str
    url: str
    events: list[str]
    is_active: bool
    created_at: str
    updated_at: str


class WebhookList(TypedDict):
    """All webhooks of the organization, the oldest first."""

    webhooks: list[Webhook]
    total: int


class Workload(TypedDict):
    """A program that authenticates by the tokens of another issuer, and the rule that they must fit."""

    id: str
    name: str
    issuer: str
    jwks_uri: str | None
    jwks: dict[str, Any] | None
    audience: str | None
    match: dict[str, str]
    created_at: str
    last_used_at: str | None
    last_refused: RefusedAssertion | None


class WorkloadList(TypedDict):
    """The workloads of a service or of a key, and their number."""

    workloads: list[Workload]
    total: int


def profile_lock_own_account() -> Call[None]:
    """Lock your account: void its password, end all its sessions, and refuse every way in."""
    return Call(method="POST", path="/api/user/lock", answer="nothing")


def profile_lock_account_of_organization(slug: str, user_id: str) -> Call[None]:
    """Lock an account of your organization's own: void its password, end what it holds, and refuse every way in.

    slug: The short name that paths contain. It never changes.
    user_id: The id of the user.
    """
    return Call(
        method="POST", path=f"/api/organizations/{segment(slug)}/users/{segment(user_id)}/lock", answer="nothing"
    )


def forgot_password(
    *,
    email: str,
    org_slug: str | Unset | None = UNSET,
    service_slug: str | Unset | None = UNSET,
    redirect_uri: str | Unset | None = UNSET,
) -> Call[Message]:
    """Mail a link to choose a new password; the answer is the same whether or not an account has the address.

    email: The email address to send the link to.
    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    redirect_uri: Where the page of the mailed link leads back to: exactly an address that the service has registered.
    """
    return Call(
        method="POST",
        path="/api/auth/forgot-password",
        body=body_of(email=email, org_slug=org_slug, service_slug=service_slug, redirect_uri=redirect_uri),
    )


def reset_password(*, token: str, new_password: str) -> Call[Message]:
    """Set a new password with the token of the mailed link, which can be used once; every session ends.

    token: The token of the mailed link, which can be used once.
    new_password: The new password. It is refused when it is among the commonest, has nothing but words of the address
        and of names around it, or is known from a data breach.
    """
    return Call(method="POST", path="/api/auth/reset-password", body=body_of(token=token, new_password=new_password))


def set_password(*, new_password: str) -> Call[Message]:
    """Set the first password of your account.

    new_password: The new password. It is refused when it is among the commonest, has nothing but words of the address
        and of names around it, or is known from a data breach.
    """
    return Call(method="POST", path="/api/user/set-password", body=body_of(new_password=new_password))


def change_password(*, current_password: str, new_password: str) -> Call[Message]:
    """Change your password; all your other sessions end.

    current_password: The present password.
    new_password: The new password. It is refused when it is among the commonest, has nothing but words of the address
        and of names around it, or is known from a data breach.
    """
    return Call(
        method="POST",
        path="/api/user/change-password",
        body=body_of(current_password=current_password, new_password=new_password),
    )


def read_profile() -> Call[Profile | ProfileWithRoles | ProfileForCustomer]:
    """Show your account, and your role and capabilities in the organization of your token."""
    return Call(method="GET", path="/api/user")


def change_profile(
    *, email: str | Unset | None = UNSET, name: str | Unset | None = UNSET
) -> Call[Profile | ProfileWithRoles | ProfileForCustomer]:
    """Change your name, and ask to change your email address.

    email: The new email address.
    name: What the person is called.
    """
    return Call(method="PATCH", path="/api/user", body=body_of(email=email, name=name))


def profile_close_account() -> Call[None]:
    """Close your account and end all its sessions, this one too; you must not belong to an organization."""
    return Call(method="DELETE", path="/api/user", answer="nothing")


def registration_register(
    *,
    email: str,
    password: str,
    org_slug: str | Unset | None = UNSET,
    service_slug: str | Unset | None = UNSET,
    redirect_uri: str | Unset | None = UNSET,
    name: str | Unset | None = UNSET,
) -> Call[Message]:
    """Create an account with an email address and a password, and mail the link that verifies the address.

    email: The email address.
    password: The password of the new account. It is refused when it is among the commonest, has nothing but words of
        the address and of names around it, or is known from a data breach.
    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    redirect_uri: Where the page of the mailed link leads back to: exactly an address that the service has registered.
    name: What the person is called.
    """
    return Call(
        method="POST",
        path="/api/auth/register",
        body=body_of(
            email=email,
            org_slug=org_slug,
            service_slug=service_slug,
            redirect_uri=redirect_uri,
            password=password,
            name=name,
        ),
    )


def registration_resend_verification(
    *,
    email: str,
    org_slug: str | Unset | None = UNSET,
    service_slug: str | Unset | None = UNSET,
    redirect_uri: str | Unset | None = UNSET,
) -> Call[Message]:
    """Mail another verification link; the answer is the same whether or not an account waits for it.

    email: The email address to send the link to.
    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    redirect_uri: Where the page of the mailed link leads back to: exactly an address that the service has registered.
    """
    return Call(
        method="POST",
        path="/api/auth/resend-verification",
        body=body_of(email=email, org_slug=org_slug, service_slug=service_slug, redirect_uri=redirect_uri),
    )


def login_choose_customer(
    *, customer_token: str, customer: str | None, saml_state: str | Unset | None = UNSET
) -> Call[SignInTokens]:
    """Complete a sign-in that was answered with `CUSTOMER_REQUIRED`, for the customer that the user has chosen.

    customer_token: The token of the sign-in that waits for the choice: 10 minutes, once.
    customer: The id or slug of one of the customers, or null to come as an individual.
    saml_state: The state under which a request of a service provider waits.
    """
    return Call(
        method="POST",
        path="/api/auth/customer",
        body=body_of(customer_token=customer_token, customer=customer, saml_state=saml_state),
    )


def list_identities() -> ListCall[list[IdentityItem], IdentityItem]:
    """List the linked accounts, the oldest first."""
    return ListCall(method="GET", path="/api/user/identities")


def identities_link_identity(provider: str) -> Call[LinkBegun]:
    """Begin to link an account of a provider. Open the address in the user's browser, within 15 minutes.

    provider: The sign-in method, such as `password`.
    """
    return Call(method="POST", path=f"/api/user/identities/{segment(provider)}/link")


def identities_unlink_identity(provider: str) -> Call[None]:
    """Unlink the account of a provider, unless it is the last way to sign in.

    provider: The sign-in method, such as `password`.
    """
    return Call(method="DELETE", path=f"/api/user/identities/{segment(provider)}", answer="nothing")


def login_log_in(
    *,
    email: str,
    password: str,
    org_slug: str | Unset | None = UNSET,
    service_slug: str | Unset | None = UNSET,
    customer: str | Unset | None = UNSET,
    saml_state: str | Unset | None = UNSET,
) -> Call[SignInTokens | PendingSecondFactor]:
    """Sign in with an email address and a password.

    email: The email address of the account.
    password: The password.
    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer: The customer of the service for which you sign in, by its id or slug; empty to come as an individual.
        Naming it confirms that you belong to it.
    saml_state: The state under which a request of a service provider waits.
    """
    return Call(
        method="POST",
        path="/api/auth/login",
        body=body_of(
            email=email,
            password=password,
            org_slug=org_slug,
            service_slug=service_slug,
            customer=customer,
            saml_state=saml_state,
        ),
    )


def login_look_email_up(
    *, email: str, org_slug: str | Unset | None = UNSET, service_slug: str | Unset | None = UNSET
) -> Call[EmailLookupResult]:
    """Show how addresses of this domain sign in; the answer does not depend on whether an account has the address.

    email: The email address.
    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    """
    return Call(
        method="POST",
        path="/api/auth/lookup-email",
        body=body_of(email=email, org_slug=org_slug, service_slug=service_slug),
    )


def request_link(
    *,
    email: str,
    org_slug: str | Unset | None = UNSET,
    service_slug: str | Unset | None = UNSET,
    redirect_uri: str | Unset | None = UNSET,
    customer: str | Unset | None = UNSET,
) -> Call[MagicLinkRequested]:
    """Mail a link and a code to sign in with, of which one can be used, once: the link for 15 minutes, the code for
    10.

    email: The email address.
    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    redirect_uri: Where the page of the mailed link leads back to: exactly an address that the service has registered.
    customer: The customer of the service for which the user comes, by its id or slug, unless the sign-in names another.
    """
    return Call(
        method="POST",
        path="/api/auth/magic-link/request",
        body=body_of(
            email=email, org_slug=org_slug, service_slug=service_slug, redirect_uri=redirect_uri, customer=customer
        ),
    )


def verify_link(
    *,
    token: str | Unset = UNSET,
    challenge_id: str | Unset = UNSET,
    code: str | Unset = UNSET,
    org_slug: str | Unset | None = UNSET,
    service_slug: str | Unset | None = UNSET,
    customer: str | Unset | None = UNSET,
) -> Call[SignInTokens | PendingSecondFactor]:
    """Sign in with a mailed link or code; the answer is the same as from `/api/auth/login`.

    token: The token of the link, or the code that its page shows; without `challenge_id` and `code`.
    challenge_id: What the request for the mail has answered; with `code`.
    code: The six digits in the mail.
    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer: The customer of the service for which the user comes, by its id or slug. Without it, the only one that is
        open is taken, or the user is asked.
    """
    return Call(
        method="POST",
        path="/api/auth/magic-link/verify",
        body=body_of(
            token=token,
            challenge_id=challenge_id,
            code=code,
            org_slug=org_slug,
            service_slug=service_slug,
            customer=customer,
        ),
    )


def identities_show_provider_token(provider: str) -> Call[ProviderToken]:
    """Show the user's access token at a provider; it is refreshed when it is about to expire.

    provider: The sign-in method, such as `password`.
    """
    return Call(method="GET", path=f"/api/provider-token/{segment(provider)}")


def show_sign_in_rules(slug: str) -> Call[SignInRules]:
    """Show the sign-in rules.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/sign-in-rules")


def change_sign_in_rules(slug: str, *, mfa_methods: MfaMethods | Unset | None = UNSET) -> Call[SignInRules]:
    """Change the sign-in rules, at once and for every session.

    slug: The short name that paths contain. It never changes.
    mfa_methods: Which second factors count where members need one.
    """
    return Call(
        method="PATCH", path=f"/api/organizations/{segment(slug)}/sign-in-rules", body=body_of(mfa_methods=mfa_methods)
    )


def sign_ins_list_sign_ins(
    slug: str, user_id: str, *, page: int | Unset = UNSET, limit: int | Unset = UNSET
) -> ListCall[SignInsPage, SignIn]:
    """List the sign-ins of a member or end user that concern your organization, the newest first.

    slug: The short name that paths contain. It never changes.
    user_id: The id of the user.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(slug)}/users/{segment(user_id)}/sign-ins",
        query=query_of(page=page, limit=limit),
        items="sign_ins",
        paging="page",
    )


def sign_ins_list_platform_sign_ins(
    user_id: str, *, page: int | Unset = UNSET, limit: int | Unset = UNSET
) -> ListCall[SignInsPage, SignIn]:
    """List all sign-ins of a user, the newest first. The platform's audit log records that support has opened them.

    user_id: The id of the user.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    """
    return ListCall(
        method="GET",
        path=f"/api/platform/users/{segment(user_id)}/sign-ins",
        query=query_of(page=page, limit=limit),
        items="sign_ins",
        paging="page",
    )


def show_oauth_credentials(slug: str, provider: str) -> Call[OwnCredentials]:
    """Show the credentials, without the secret.

    slug: The short name that paths contain. It never changes.
    provider: The sign-in method, such as `password`.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/oauth-credentials/{segment(provider)}")


def set_oauth_credentials(slug: str, provider: str, *, client_id: str, client_secret: str) -> Call[OwnCredentials]:
    """Set the credentials. Register `{base_url}/auth/{provider}/callback` with the provider.

    slug: The short name that paths contain. It never changes.
    provider: The sign-in method, such as `password`.
    client_id: The client id that the provider has given.
    client_secret: The client secret that the provider has given.
    """
    return Call(
        method="PUT",
        path=f"/api/organizations/{segment(slug)}/oauth-credentials/{segment(provider)}",
        body=body_of(client_id=client_id, client_secret=client_secret),
    )


def delete_oauth_credentials(slug: str, provider: str) -> Call[None]:
    """Delete the credentials; the platform's apply again, if it has any.

    slug: The short name that paths contain. It never changes.
    provider: The sign-in method, such as `password`.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(slug)}/oauth-credentials/{segment(provider)}",
        answer="nothing",
    )


def list_upstream_providers(slug: str) -> ListCall[ConnectionList, ConnectionRecord]:
    """List the connections, the oldest first.

    slug: The short name that paths contain. It never changes.
    """
    return ListCall(
        method="GET", path=f"/api/organizations/{segment(slug)}/upstream-providers", items="upstream_providers"
    )


def create_upstream_provider(
    slug: str,
    *,
    type: str,
    name: str | Unset | None = UNSET,
    issuer: str | Unset | None = UNSET,
    client_id: str | Unset | None = UNSET,
    client_secret: str | Unset | None = UNSET,
    scopes: Sequence[str] | Unset | None = UNSET,
    metadata_url: str | Unset | None = UNSET,
    metadata_xml: str | Unset | None = UNSET,
    attribute_mapping: Mapping[str, str] | Unset | None = UNSET,
    joins_as: str | Unset | None = UNSET,
    trust_mfa: bool | Unset | None = UNSET,
    token_issuer: str | Unset | None = UNSET,
    name_id_format: str | Unset | None = UNSET,
    signs_out_at_provider: bool | Unset | None = UNSET,
    enabled: bool | Unset | None = UNSET,
) -> Call[ConnectionRecord]:
    """Create a connection by OpenID Connect discovery, or by SAML metadata, which are read now.

    slug: The short name that paths contain. It never changes.
    type: `oidc` for OpenID Connect, or `saml`.
    name: The name for people.
    issuer: The issuer of the OpenID provider, exactly as it names itself; the entity id of a SAML identity provider, as
        in its metadata.
    client_id: The client id that the provider has given; none by SAML.
    client_secret: The client secret that the provider has given.
    scopes: The scopes to ask the provider for; `openid` is always one of them.
    metadata_url: Where the metadata of a SAML identity provider are, which are read again from time to time.
    metadata_xml: The metadata of a SAML identity provider, instead of their address.
    attribute_mapping: The claims or attributes in which the stable id (`id`, by default `sub` or the NameID), the
        address (`email`), the groups (`groups`) and the names of a person (`name`, `given_name`, `family_name`) are.
    joins_as: The role with which users become members: `member` or a custom role; null or empty for none.
    trust_mfa: Whether a sign-in by the connection satisfies the second factor, in this organization.
    token_issuer: Of a SAML connection: the issuer, found by OpenID Connect discovery, by whose keys its identity
        provider signs requests to end sessions; null or empty for none.
    name_id_format: Of a SAML connection: the format of names that requests ask for; null or empty for whichever the
        identity provider chooses (unspecified). With another one, the accounts of the one before are unlinked, unless
        the stable id is mapped.
    signs_out_at_provider: Of a connection by OpenID Connect: whether a browser that signs out here is led on to the
        provider's `end_session_endpoint`. Register `{base_url}/auth/upstream/signed-out` there as an address after
        logout.
    enabled: Whether people sign in by the connection.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(slug)}/upstream-providers",
        body=body_of(
            name=name,
            issuer=issuer,
            client_id=client_id,
            client_secret=client_secret,
            scopes=scopes,
            metadata_url=metadata_url,
            metadata_xml=metadata_xml,
            attribute_mapping=attribute_mapping,
            joins_as=joins_as,
            trust_mfa=trust_mfa,
            token_issuer=token_issuer,
            name_id_format=name_id_format,
            signs_out_at_provider=signs_out_at_provider,
            enabled=enabled,
            type=type,
        ),
    )


def show_upstream_provider(slug: str, provider_id: str) -> Call[ConnectionRecord]:
    """Show a connection, without its secret.

    slug: The short name that paths contain. It never changes.
    provider_id: The id of the connection.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/upstream-providers/{segment(provider_id)}")


def change_upstream_provider(
    slug: str,
    provider_id: str,
    *,
    dry_run: bool | Unset = UNSET,
    name: str | Unset | None = UNSET,
    issuer: str | Unset | None = UNSET,
    client_id: str | Unset | None = UNSET,
    client_secret: str | Unset | None = UNSET,
    scopes: Sequence[str] | Unset | None = UNSET,
    metadata_url: str | Unset | None = UNSET,
    metadata_xml: str | Unset | None = UNSET,
    attribute_mapping: Mapping[str, str] | Unset | None = UNSET,
    joins_as: str | Unset | None = UNSET,
    trust_mfa: bool | Unset | None = UNSET,
    token_issuer: str | Unset | None = UNSET,
    name_id_format: str | Unset | None = UNSET,
    signs_out_at_provider: bool | Unset | None = UNSET,
    enabled: bool | Unset | None = UNSET,
) -> Call[ConnectionRecord | ConnectionChangeEffects]:
    """Change a connection. With another issuer, the accounts of the one before are unlinked.

    slug: The short name that paths contain. It never changes.
    provider_id: The id of the connection.
    dry_run: Change nothing, and answer what would end.
    name: The name for people.
    issuer: The issuer of the OpenID provider, exactly as it names itself; the entity id of a SAML identity provider, as
        in its metadata.
    client_id: The client id that the provider has given; none by SAML.
    client_secret: The client secret that the provider has given.
    scopes: The scopes to ask the provider for; `openid` is always one of them.
    metadata_url: Where the metadata of a SAML identity provider are, which are read again from time to time.
    metadata_xml: The metadata of a SAML identity provider, instead of their address.
    attribute_mapping: The claims or attributes in which the stable id (`id`, by default `sub` or the NameID), the
        address (`email`), the groups (`groups`) and the names of a person (`name`, `given_name`, `family_name`) are.
    joins_as: The role with which users become members: `member` or a custom role; null or empty for none.
    trust_mfa: Whether a sign-in by the connection satisfies the second factor, in this organization.
    token_issuer: Of a SAML connection: the issuer, found by OpenID Connect discovery, by whose keys its identity
        provider signs requests to end sessions; null or empty for none.
    name_id_format: Of a SAML connection: the format of names that requests ask for; null or empty for whichever the
        identity provider chooses (unspecified). With another one, the accounts of the one before are unlinked, unless
        the stable id is mapped.
    signs_out_at_provider: Of a connection by OpenID Connect: whether a browser that signs out here is led on to the
        provider's `end_session_endpoint`. Register `{base_url}/auth/upstream/signed-out` there as an address after
        logout.
    enabled: Whether people sign in by the connection.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(slug)}/upstream-providers/{segment(provider_id)}",
        query=query_of(dry_run=dry_run),
        body=body_of(
            name=name,
            issuer=issuer,
            client_id=client_id,
            client_secret=client_secret,
            scopes=scopes,
            metadata_url=metadata_url,
            metadata_xml=metadata_xml,
            attribute_mapping=attribute_mapping,
            joins_as=joins_as,
            trust_mfa=trust_mfa,
            token_issuer=token_issuer,
            name_id_format=name_id_format,
            signs_out_at_provider=signs_out_at_provider,
            enabled=enabled,
        ),
    )


def delete_upstream_provider(slug: str, provider_id: str) -> Call[None]:
    """Delete a connection with its identities and domain routes. The sessions that began by it end.

    slug: The short name that paths contain. It never changes.
    provider_id: The id of the connection.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(slug)}/upstream-providers/{segment(provider_id)}",
        answer="nothing",
    )


def test_upstream_provider(slug: str, provider_id: str) -> Call[ConnectionTested]:
    """Fetch the provider's description of itself, and its keys or certificates.

    slug: The short name that paths contain. It never changes.
    provider_id: The id of the connection.
    """
    return Call(
        method="POST", path=f"/api/organizations/{segment(slug)}/upstream-providers/{segment(provider_id)}/test"
    )


def rotate_upstream_key(slug: str, provider_id: str) -> Call[ConnectionKeyRecord]:
    """Create a key for a connection by SAML, valid for three years, which signs our requests from now on.

    slug: The short name that paths contain. It never changes.
    provider_id: The id of the connection.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(slug)}/upstream-providers/{segment(provider_id)}/rotate-key-pair",
    )


def list_domain_routes(slug: str) -> ListCall[RouteList, DomainRoute]:
    """List the routes by their domains.

    slug: The short name that paths contain. It never changes.
    """
    return ListCall(method="GET", path=f"/api/organizations/{segment(slug)}/domain-routes", items="domain_routes")


def create_domain_route(
    slug: str, *, domain: str, provider_id: str, enforced: bool | Unset = UNSET
) -> Call[DomainRoute]:
    """Claim a mail domain. It routes nothing before it was verified.

    slug: The short name that paths contain. It never changes.
    domain: The domain of the email address.
    provider_id: The id of the connection.
    enforced: Whether every other way to sign in is refused for this domain.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(slug)}/domain-routes",
        body=body_of(domain=domain, provider_id=provider_id, enforced=enforced),
    )


def change_domain_route(
    slug: str,
    route_id: str,
    *,
    dry_run: bool | Unset = UNSET,
    provider_id: str | Unset | None = UNSET,
    enforced: bool | Unset | None = UNSET,
) -> Call[DomainRoute | RouteEffects]:
    """Change the connection of a route, or whether it is enforced.

    slug: The short name that paths contain. It never changes.
    route_id: The id of the domain route.
    dry_run: Change nothing, and answer what would become of people.
    provider_id: The id of the connection.
    enforced: Whether every other way to sign in is refused for this domain.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(slug)}/domain-routes/{segment(route_id)}",
        query=query_of(dry_run=dry_run),
        body=body_of(provider_id=provider_id, enforced=enforced),
    )


def delete_domain_route(slug: str, route_id: str) -> Call[None]:
    """Delete a route, and give the claim to its domain up.

    slug: The short name that paths contain. It never changes.
    route_id: The id of the domain route.
    """
    return Call(
        method="DELETE", path=f"/api/organizations/{segment(slug)}/domain-routes/{segment(route_id)}", answer="nothing"
    )


def verify_domain_route(slug: str, route_id: str) -> Call[DomainRoute]:
    """Ask the name servers of the domain for the TXT record now.

    slug: The short name that paths contain. It never changes.
    route_id: The id of the domain route.
    """
    return Call(method="POST", path=f"/api/organizations/{segment(slug)}/domain-routes/{segment(route_id)}/verify")


def upstream_connections_log_out_by_token(connection_id: str, *, logout_token: str | Unset = UNSET) -> Call[None]:
    """End the sessions that the OpenID provider of a connection names in a logout token.

    connection_id: The id of the connection to the identity provider.
    logout_token: The logout token of the provider, a signed JWT.
    """
    return Call(
        method="POST",
        path=f"/auth/upstream/{segment(connection_id)}/backchannel-logout",
        body=body_of(logout_token=logout_token),
        is_form=True,
        answer="nothing",
    )


def sign_ins_explain_sign_in(
    org_slug: str,
    *,
    email: str,
    service: str | Unset = UNSET,
    customer: str | Unset = UNSET,
    product: str | Unset = UNSET,
    way: SignInWay | Unset = UNSET,
    connection_id: str | Unset = UNSET,
) -> Call[ExplainedSignIn]:
    """Explain why a member or end user cannot sign in to your organization or to one of its services.

    org_slug: The slug of the organization.
    email: The email address.
    service: The slug of the service of your token; empty without one.
    customer: A customer of your service, by its id or slug; it takes `service`.
    product: The client id of a product that your organization uses, in place of a service of its own.
    way: The way to sign in.
    connection_id: The id of the connection to the identity provider.
    """
    return Call(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/why",
        query=query_of(
            email=email, service=service, customer=customer, product=product, way=way, connection_id=connection_id
        ),
    )


def signing_keys_jwks() -> Call[JsonWebKeySet]:
    """List the keys that sign tokens: the active one, the next one, and retired ones until their last token expires."""
    return Call(method="GET", path="/.well-known/jwks.json")


def sessions_log_out() -> Call[Message]:
    """End the session of this access token."""
    return Call(method="POST", path="/api/auth/logout")


def sessions_refresh(*, refresh_token: str) -> Call[Tokens]:
    """Exchange a refresh token for a new access token and the next refresh token.

    refresh_token: The token that `POST /api/auth/refresh` exchanges for new tokens, once.
    """
    return Call(method="POST", path="/api/auth/refresh", body=body_of(refresh_token=refresh_token))


def list_sessions() -> ListCall[SessionList, SessionItem]:
    """List your active sessions, the most recently used first."""
    return ListCall(method="GET", path="/api/user/sessions", items="sessions")


def end_other_sessions() -> Call[None]:
    """End all your sessions except this one, as far as this one lists them."""
    return Call(method="DELETE", path="/api/user/sessions", answer="nothing")


def end_session(id: str) -> Call[None]:
    """End one of your sessions.

    id: The unique id.
    """
    return Call(method="DELETE", path=f"/api/user/sessions/{segment(id)}", answer="nothing")


def list_devices() -> ListCall[DeviceList, DeviceItem]:
    """List your devices, the most recently used first."""
    return ListCall(method="GET", path="/api/user/devices", items="devices")


def show_device(id: str) -> Call[DeviceDetails]:
    """Show one of your devices.

    id: The unique id.
    """
    return Call(method="GET", path=f"/api/user/devices/{segment(id)}")


def rename_device(id: str, *, name: str) -> Call[RenamedDevice]:
    """Rename one of your devices.

    id: The unique id.
    name: The name for people.
    """
    return Call(method="PATCH", path=f"/api/user/devices/{segment(id)}", body=body_of(name=name))


def remove_device(id: str) -> Call[Message]:
    """Remove one of your devices.

    id: The unique id.
    """
    return Call(method="DELETE", path=f"/api/user/devices/{segment(id)}")


def multi_factor_authentication_status() -> Call[MfaStatus]:
    """Show whether multi-factor authentication is on, and whether unused backup codes are left."""
    return Call(method="GET", path="/api/user/mfa/status")


def multi_factor_authentication_set_up() -> Call[MfaSetup]:
    """Begin to set up an authenticator app: show the user the QR code, then send the app's first code to `verify`."""
    return Call(method="POST", path="/api/user/mfa/setup")


def multi_factor_authentication_enable(*, code: str) -> Call[MfaEnabled]:
    """Make the app a second factor with a code of it; the first second factor turns multi-factor authentication on.

    code: The six digits that the app shows.
    """
    return Call(method="POST", path="/api/user/mfa/verify", body=body_of(code=code))


def multi_factor_authentication_disable() -> Call[MfaDisabled]:
    """Turn multi-factor authentication off: the app and all backup codes are deleted."""
    return Call(method="DELETE", path="/api/user/mfa")


def multi_factor_authentication_renew_backup_codes() -> Call[BackupCodes]:
    """Generate ten new backup codes; all earlier ones become invalid."""
    return Call(method="POST", path="/api/user/mfa/backup-codes/regenerate")


def multi_factor_authentication_verify(
    *,
    code: str | Unset | None = UNSET,
    credential: AuthenticationCredential | Unset | None = UNSET,
    preauth_token: str | Unset | None = UNSET,
    trust_device: bool | Unset = UNSET,
) -> Call[SignInTokens]:
    """Finish a sign-in with a second factor: exchange the pre-auth token for an access token and a refresh token.

    code: A code of the authenticator app, or a backup code; in its place, `credential`.
    credential: What a passkey has signed, as its `toJSON()` writes it; else null.
    preauth_token: The pre-auth token, unless it is sent as a bearer token.
    trust_device: Whether this device remembers the second factor for a while.
    """
    return Call(
        method="POST",
        path="/api/auth/mfa/verify",
        body=body_of(code=code, credential=credential, preauth_token=preauth_token, trust_device=trust_device),
    )


def passkeys_start_registration() -> Call[PasskeyChallenge]:
    """Begin to register a passkey: the options are for `navigator.credentials.create()`."""
    return Call(method="POST", path="/api/auth/passkeys/register/start")


def passkeys_finish_registration(
    *, challenge_id: str, credential: RegistrationCredential, name: str | Unset | None = UNSET
) -> Call[PasskeyItem]:
    """Register the passkey that the browser created; without a `name` it is named after the browser.

    challenge_id: The id of the challenge, which is valid for 5 minutes.
    credential: The answer of the browser, as `toJSON()` writes it.
    name: The name of the passkey; by default the name of the browser.
    """
    return Call(
        method="POST",
        path="/api/auth/passkeys/register/finish",
        body=body_of(challenge_id=challenge_id, credential=credential, name=name),
    )


def list_passkeys() -> ListCall[PasskeyList, PasskeyItem]:
    """List your passkeys, the oldest first."""
    return ListCall(method="GET", path="/api/auth/passkeys", items="passkeys")


def change_passkey(
    id: str, *, name: str | Unset = UNSET, second_factor: bool | Unset = UNSET
) -> Call[ChangedPasskeyItem]:
    """Rename one of your passkeys, make it a second factor, or none.

    id: The unique id.
    name: The name for people.
    second_factor: Whether the passkey is to be asked for after another factor.
    """
    return Call(
        method="PATCH", path=f"/api/auth/passkeys/{segment(id)}", body=body_of(name=name, second_factor=second_factor)
    )


def remove_passkey(id: str) -> Call[None]:
    """Remove one of your passkeys; the last one only if you have a password.

    id: The unique id.
    """
    return Call(method="DELETE", path=f"/api/auth/passkeys/{segment(id)}", answer="nothing")


def passkeys_start_sign_in(
    *,
    email: str | Unset | None = UNSET,
    org_slug: str | Unset | None = UNSET,
    service_slug: str | Unset | None = UNSET,
    customer: str | Unset | None = UNSET,
) -> Call[PasskeyChallenge]:
    """Begin to sign in with a passkey: the options are for `navigator.credentials.get()`.

    email: The email address of the account; without it, any passkey fits.
    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer: The customer of the service for which the user comes, by its id or slug. Without it, the only one that is
        open is taken, or the user is asked.
    """
    return Call(
        method="POST",
        path="/api/auth/passkeys/authenticate/start",
        body=body_of(email=email, org_slug=org_slug, service_slug=service_slug, customer=customer),
    )


def passkeys_finish_sign_in(
    *,
    challenge_id: str,
    credential: AuthenticationCredential,
    org_slug: str | Unset | None = UNSET,
    service_slug: str | Unset | None = UNSET,
    customer: str | Unset | None = UNSET,
) -> Call[SignInTokens | PendingSecondFactor]:
    """Sign in with the signed assertion; the answer is the same as from `POST /api/auth/login`.

    challenge_id: The id of the challenge, which is valid for 5 minutes.
    credential: The answer of the browser, as `toJSON()` writes it.
    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer: The customer of the service for which the user comes, by its id or slug. Without it, the only one that is
        open is taken, or the user is asked.
    """
    return Call(
        method="POST",
        path="/api/auth/passkeys/authenticate/finish",
        body=body_of(
            challenge_id=challenge_id,
            credential=credential,
            org_slug=org_slug,
            service_slug=service_slug,
            customer=customer,
        ),
    )


def ask_passkey(*, preauth_token: str | Unset | None = UNSET) -> Call[PasskeyFactorOptions]:
    """Begin to finish a sign-in with a passkey that is a second factor of the user.

    preauth_token: The pre-auth token, unless it is sent as a bearer token.
    """
    return Call(method="POST", path="/api/auth/mfa/passkey", body=body_of(preauth_token=preauth_token))


def list_group_rules(slug: str) -> Call[GroupRuleList]:
    """List the rules, the one that counts first at the beginning.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/group-rules")


def save_group_rules(slug: str, *, rules: Sequence[GroupRuleInput]) -> Call[GroupRuleList]:
    """Replace all rules, and apply them at once to the members.

    slug: The short name that paths contain. It never changes.
    rules: The rules, the one that counts first at the beginning.
    """
    return Call(method="PUT", path=f"/api/organizations/{segment(slug)}/group-rules", body=body_of(rules=rules))


def create_organization_key(
    slug: str,
    *,
    name: str,
    permissions: Sequence[Capability],
    expires_in_days: int | Unset | None = UNSET,
    secret: bool | Unset = UNSET,
) -> Call[OrganizationKeyCreated]:
    """Create a key. Store its secret: it cannot be shown again.

    slug: The short name that paths contain. It never changes.
    name: What the key is for, with 1 to 100 characters.
    permissions: The capabilities that the key has; at least one.
    expires_in_days: After how many days the key expires; by default it does not.
    secret: Whether the key has a secret. Without one only its workloads use it.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(slug)}/keys",
        body=body_of(name=name, permissions=permissions, expires_in_days=expires_in_days, secret=secret),
    )


def list_organization_keys(slug: str) -> ListCall[OrganizationKeyList, OrganizationKey]:
    """List the keys, the newest first, also those that have expired in the last 90 days.

    slug: The short name that paths contain. It never changes.
    """
    return ListCall(method="GET", path=f"/api/organizations/{segment(slug)}/keys", items="keys")


def delete_organization_key(slug: str, key_id: str, *, with_made: bool | Unset = UNSET) -> Call[None]:
    """Delete a key. It loses access at once, and so do the setup links that it has made.

    slug: The short name that paths contain. It never changes.
    key_id: The id of the key.
    with_made: Whether the API keys and SCIM tokens end too that the key has made.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(slug)}/keys/{segment(key_id)}",
        query=query_of(with_made=with_made),
        answer="nothing",
    )


def list_made_by_organization_key(
    slug: str, key_id: str, *, limit: int | Unset = UNSET, offset: int | Unset = UNSET
) -> ListCall[MadeByKeyList, MadeByKey]:
    """List the API keys, SCIM tokens and valid setup links that a key has made, the newest first.

    slug: The short name that paths contain. It never changes.
    key_id: The id of the key.
    limit: At most how many to list; more than 100 is lowered to 100.
    offset: How many to skip.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(slug)}/keys/{segment(key_id)}/made",
        query=query_of(limit=limit, offset=offset),
        items="things",
        paging="offset",
    )


def list_members(
    slug: str, *, page: int | Unset = UNSET, limit: int | Unset = UNSET, role: str | Unset = UNSET
) -> ListCall[MemberList, MemberItem]:
    """List the members, the oldest memberships first.

    slug: The short name that paths contain. It never changes.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    role: Only members with this role; a custom one by its slug.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(slug)}/members",
        query=query_of(page=page, limit=limit, role=role),
        items="members",
        paging="page",
    )


def change_member(slug: str, user_id: str, *, role: str) -> Call[UpdatedMember]:
    """Change the role of a member, which takes effect with their next request.

    slug: The short name that paths contain. It never changes.
    user_id: The id of the user.
    role: The new role: `admin`, `member`, or the slug of a custom role.
    """
    return Call(
        method="PATCH", path=f"/api/organizations/{segment(slug)}/members/{segment(user_id)}", body=body_of(role=role)
    )


def remove_member(slug: str, user_id: str) -> Call[Message]:
    """Remove a member whose role allows no more than yours.

    slug: The short name that paths contain. It never changes.
    user_id: The id of the user.
    """
    return Call(method="POST", path=f"/api/organizations/{segment(slug)}/members/{segment(user_id)}")


def create_organization(*, slug: str, name: str) -> Call[CreatedOrganizationRecord]:
    """Create an organization, which you own.

    slug: The short name that paths contain. It never changes.
    name: The name for people.
    """
    return Call(method="POST", path="/api/organizations", body=body_of(slug=slug, name=name))


def list_organizations() -> ListCall[list[OrganizationMembershipRecord], OrganizationMembershipRecord]:
    """List the organizations that you are a member of, sorted by slug."""
    return ListCall(method="GET", path="/api/organizations")


def read_organization(slug: str) -> Call[OrganizationDetails]:
    """Show an organization, whatever its state.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}")


def change_organization(
    slug: str,
    *,
    name: str | Unset | None = UNSET,
    mfa_required: bool | Unset | None = UNSET,
    device_trust_days: int | Unset | None = UNSET,
    metadata: Mapping[str, str | bool | int | float | list[str] | None] | Unset | None = UNSET,
) -> Call[OrganizationRecord]:
    """Change the name of an organization, and what it requires of its members.

    slug: The short name that paths contain. It never changes.
    name: The name for people.
    mfa_required: Whether members need a second factor.
    device_trust_days: For how many days a trusted device remembers the second factor; 0 means never.
    metadata: The names to set, with a text, a number, true, false or a list of texts; null takes one away, and null
        alone all of them. At most 50 names of `A-Za-z0-9_.-`, and 4096 bytes as compact JSON.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(slug)}",
        body=body_of(name=name, mfa_required=mfa_required, device_trust_days=device_trust_days, metadata=metadata),
    )


def delete_organization(slug: str) -> Call[None]:
    """Delete an organization; a suspended one cannot be deleted.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="DELETE", path=f"/api/organizations/{segment(slug)}", answer="nothing")


def leave_organization(slug: str) -> Call[None]:
    """Leave an organization, whatever its state; the owner has to transfer the ownership first.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="POST", path=f"/api/organizations/{segment(slug)}/leave", answer="nothing")


def select_organization(slug: str) -> Call[SelectedOrganization]:
    """Select the organization that your session works in.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="POST", path=f"/api/organizations/{segment(slug)}/select")


def transfer_ownership(slug: str, *, new_owner_user_id: str) -> Call[OwnershipTransferred]:
    """Make another member the owner; you become an admin.

    slug: The short name that paths contain. It never changes.
    new_owner_user_id: The id of the member who becomes the owner.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(slug)}/transfer-ownership",
        body=body_of(new_owner_user_id=new_owner_user_id),
    )


def list_roles(slug: str) -> ListCall[RoleList, Role]:
    """List the roles: the built-in ones, then the custom ones sorted by slug.

    slug: The short name that paths contain. It never changes.
    """
    return ListCall(method="GET", path=f"/api/organizations/{segment(slug)}/roles", items="roles")


def create_role(
    organization_slug: str,
    *,
    slug: str,
    name: str,
    permissions: Sequence[Capability],
    description: str | Unset = UNSET,
    scopes: Sequence[str] | Unset = UNSET,
) -> Call[Role]:
    """Create a role from capabilities that you have yourself.

    organization_slug: The short name that paths contain. It never changes.
    slug: The short name that paths contain. It never changes.
    name: The name for people.
    permissions: The capabilities of the role.
    description: A description for people.
    scopes: The scopes to ask the provider for; `openid` is always one of them.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(organization_slug)}/roles",
        body=body_of(slug=slug, name=name, permissions=permissions, description=description, scopes=scopes),
    )


def show_role(slug: str, role_slug: str) -> Call[Role]:
    """Show a role.

    slug: The short name that paths contain. It never changes.
    role_slug: The slug of the role.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/roles/{segment(role_slug)}")


def change_role(
    slug: str,
    role_slug: str,
    *,
    name: str | Unset | None = UNSET,
    description: str | Unset | None = UNSET,
    permissions: Sequence[Capability] | Unset | None = UNSET,
    scopes: Sequence[str] | Unset | None = UNSET,
) -> Call[Role]:
    """Change a role, which takes effect with the next request of every member who has it.

    slug: The short name that paths contain. It never changes.
    role_slug: The slug of the role.
    name: The name for people.
    description: A description for people.
    permissions: The capabilities of the role.
    scopes: The scopes to ask the provider for; `openid` is always one of them.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(slug)}/roles/{segment(role_slug)}",
        body=body_of(name=name, description=description, permissions=permissions, scopes=scopes),
    )


def delete_role(slug: str, role_slug: str) -> Call[None]:
    """Delete a role that no member has and no pending invitation names.

    slug: The short name that paths contain. It never changes.
    role_slug: The slug of the role.
    """
    return Call(
        method="DELETE", path=f"/api/organizations/{segment(slug)}/roles/{segment(role_slug)}", answer="nothing"
    )


def show_branding(slug: str) -> Call[BrandingRecord]:
    """Show the branding.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/branding")


def change_branding(
    slug: str,
    *,
    logo: str | Unset | None = UNSET,
    icon: str | Unset | None = UNSET,
    primary_color: str | Unset | None = UNSET,
    background_color: str | Unset | None = UNSET,
    support_email: str | Unset | None = UNSET,
    terms_url: str | Unset | None = UNSET,
    privacy_url: str | Unset | None = UNSET,
) -> Call[BrandingRecord]:
    """Change the branding.

    slug: The short name that paths contain. It never changes.
    logo: The logo as `data:image/png;base64,…` or `data:image/svg+xml;base64,…`, at most 256 KiB; null removes it.
    icon: The icon as `data:image/png;base64,…` or `data:image/svg+xml;base64,…`, at most 256 KiB; null removes it.
    primary_color: The colour of buttons and links; it stands out from white by a contrast of 4.5, and from the
        background by 3.
    background_color: The background of pages.
    support_email: The address for questions of users.
    terms_url: The address of the terms of use.
    privacy_url: The address of the privacy policy.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(slug)}/branding",
        body=body_of(
            logo=logo,
            icon=icon,
            primary_color=primary_color,
            background_color=background_color,
            support_email=support_email,
            terms_url=terms_url,
            privacy_url=privacy_url,
        ),
    )


def show_public_branding(slug: str) -> Call[PublicBranding]:
    """Show the branding of an active organization, without signing in.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/branding/public")


def show_domain(slug: str) -> Call[CustomDomain]:
    """Show the domain, its state, and the TXT record that proves it.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/domain")


def set_domain(slug: str, *, domain: str) -> Call[CustomDomain]:
    """Claim a domain in place of the one before. It works after it was verified.

    slug: The short name that paths contain. It never changes.
    domain: The domain.
    """
    return Call(method="PUT", path=f"/api/organizations/{segment(slug)}/domain", body=body_of(domain=domain))


def delete_domain(slug: str) -> Call[None]:
    """Give the domain up. Sessions and passkeys that were made there end with it.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="DELETE", path=f"/api/organizations/{segment(slug)}/domain", answer="nothing")


def verify_domain(slug: str) -> Call[CustomDomain]:
    """Ask the name servers of the domain for the TXT record now.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="POST", path=f"/api/organizations/{segment(slug)}/domain/verify")


def show_mail_server(slug: str) -> Call[MailServerSettings]:
    """Show the mail server, whether it takes mail, and how many mails wait for it.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/smtp")


def set_mail_server(
    slug: str,
    *,
    host: str,
    port: int,
    tls: TlsMode,
    from_name: str,
    from_email: str,
    username: str | Unset | None = UNSET,
    password: str | Unset | None = UNSET,
) -> Call[MailServerSettings]:
    """Set the mail server. Waiting mails are tried at once.

    slug: The short name that paths contain. It never changes.
    host: The name or the address of the mail server.
    port: The port of the mail server.
    tls: How the connection is encrypted: `starttls`, `tls` from the first byte, or `none`.
    from_name: The name of the sender.
    from_email: The address of the sender.
    username: The user name of the login; null for none.
    password: The password of the login, which is never shown.
    """
    return Call(
        method="PUT",
        path=f"/api/organizations/{segment(slug)}/smtp",
        body=body_of(
            host=host,
            port=port,
            tls=tls,
            from_name=from_name,
            from_email=from_email,
            username=username,
            password=password,
        ),
    )


def remove_mail_server(slug: str) -> Call[None]:
    """Remove the mail server. Waiting mails leave by the platform's own.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="DELETE", path=f"/api/organizations/{segment(slug)}/smtp", answer="nothing")


def test_mail_server(slug: str, *, to: str) -> Call[MailServerTestResult]:
    """Send a test mail through the mail server, and answer what the server said.

    slug: The short name that paths contain. It never changes.
    to: The address of the recipient.
    """
    return Call(method="POST", path=f"/api/organizations/{segment(slug)}/smtp/test", body=body_of(to=to))


def list_setup_links(slug: str) -> ListCall[SetupLinkList, SetupLink]:
    """List the valid links.

    slug: The short name that paths contain. It never changes.
    """
    return ListCall(method="GET", path=f"/api/organizations/{segment(slug)}/setup-links", items="setup_links")


def create_setup_link(
    slug: str,
    *,
    parts: Sequence[str],
    service_slug: str | Unset | None = UNSET,
    roles: Sequence[str] | Unset = UNSET,
    expires_in_days: int | Unset = UNSET,
) -> Call[CreatedSetupLink]:
    """Make a link. Keep its address: it is shown only once.

    slug: The short name that paths contain. It never changes.
    parts: What the holder of the link may set: `saml`, `scim`, `upstream`, `domain`, `siem`, `groups`.
    service_slug: The slug of the service whose SAML the link sets; only with the part `saml`.
    roles: the roles that rules of groups may give, with the part `groups`
    expires_in_days: For how many days the link is valid.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(slug)}/setup-links",
        body=body_of(parts=parts, service_slug=service_slug, roles=roles, expires_in_days=expires_in_days),
    )


def revoke_setup_link(slug: str, link_id: str) -> Call[None]:
    """Revoke a link, which ends what was begun with it at once.

    slug: The short name that paths contain. It never changes.
    link_id: The id of the link.
    """
    return Call(
        method="DELETE", path=f"/api/organizations/{segment(slug)}/setup-links/{segment(link_id)}", answer="nothing"
    )


def create_api_key(
    org_slug: str,
    service_slug: str,
    *,
    name: str,
    permissions: Sequence[Permission],
    expires_in_days: int | Unset | None = UNSET,
) -> Call[ApiKeyCreated]:
    """Create an API key. Store its secret: it cannot be shown again.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    name: What the key is for, with 1 to 100 characters.
    permissions: What the key allows; at least one permission.
    expires_in_days: After how many days the key expires; by default it does not.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/api-keys",
        body=body_of(name=name, permissions=permissions, expires_in_days=expires_in_days),
    )


def list_api_keys(
    org_slug: str, service_slug: str, *, limit: int | Unset = UNSET, offset: int | Unset = UNSET
) -> ListCall[ApiKeyList, ApiKey]:
    """List the API keys of a service, the newest first, also those that have expired.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    limit: At most how many to list; more than 100 is lowered to 100.
    offset: How many to skip.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/api-keys",
        query=query_of(limit=limit, offset=offset),
        items="api_keys",
        paging="offset",
    )


def show_api_key(org_slug: str, service_slug: str, api_key_id: str) -> Call[ApiKey]:
    """Show an API key, without its secret.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    api_key_id: The id of the key.
    """
    return Call(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/api-keys/{segment(api_key_id)}",
    )


def delete_api_key(org_slug: str, service_slug: str, api_key_id: str) -> Call[None]:
    """Delete an API key. It loses access at once.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    api_key_id: The id of the key.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/api-keys/{segment(api_key_id)}",
        answer="nothing",
    )


def list_end_users(
    slug: str,
    *,
    page: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    search: str | Unset = UNSET,
    service_id: str | Unset = UNSET,
) -> ListCall[EndUserList, EndUser]:
    """List the end users, the newest accounts first.

    slug: The short name that paths contain. It never changes.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    search: Only users whose email address contains this.
    service_id: Only users of this service.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(slug)}/users",
        query=query_of(page=page, limit=limit, search=search, service_id=service_id),
        items="users",
        paging="page",
    )


def show_end_user(slug: str, user_id: str) -> Call[EndUserDetails]:
    """Show an end user: the services they use in this organization, and their sessions in it.

    slug: The short name that paths contain. It never changes.
    user_id: The id of the user.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/users/{segment(user_id)}")


def change_service_user(
    org_slug: str,
    service_slug: str,
    user_id: str,
    *,
    metadata: Mapping[str, str | bool | int | float | list[str] | None] | Unset | None = UNSET,
) -> Call[ServiceUser]:
    """Change what a service notes about one of its users, people of customers who have signed in among them.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    user_id: The id of the user.
    metadata: The names to set, with a text, a number, true, false or a list of texts; null takes one away, and null
        alone all of them. At most 50 names of `A-Za-z0-9_.-`, and 4096 bytes as compact JSON.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/users/{segment(user_id)}",
        body=body_of(metadata=metadata),
    )


def end_sessions_of_end_user(slug: str, user_id: str) -> Call[RevokedSessions]:
    """End all sessions that an end user has in this organization; others continue.

    slug: The short name that paths contain. It never changes.
    user_id: The id of the user.
    """
    return Call(method="DELETE", path=f"/api/organizations/{segment(slug)}/users/{segment(user_id)}/sessions")


def list_grants(
    org_slug: str, service_slug: str, *, page: int | Unset = UNSET, limit: int | Unset = UNSET
) -> ListCall[ServiceGrantList, ServiceGrant]:
    """List the grants on a service, the oldest first.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/grants",
        query=query_of(page=page, limit=limit),
        items="grants",
        paging="page",
    )


def service_grants_grant(
    org_slug: str, service_slug: str, user_id: str, *, relation: ServiceRelation
) -> Call[ServiceGrant]:
    """Make a member a manager or viewer of a service; this replaces an earlier grant.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    user_id: The id of the user.
    relation: What the member may do with the service.
    """
    return Call(
        method="PUT",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/grants/{segment(user_id)}",
        body=body_of(relation=relation),
    )


def revoke_grant(org_slug: str, service_slug: str, user_id: str) -> Call[None]:
    """Revoke the grant of a member on a service; the permissions of their role stay.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    user_id: The id of the user.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/grants/{segment(user_id)}",
        answer="nothing",
    )


def create_plan(
    org_slug: str,
    service_slug: str,
    *,
    name: str,
    price_cents: int,
    currency: str | Unset = UNSET,
    features: Sequence[str] | Unset = UNSET,
    billing_price_id: str | Unset | None = UNSET,
) -> Call[PlanRecord]:
    """Create a plan. To be purchasable, it needs the id of a price at the payment provider.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    name: The name for people, with 1 to 100 characters.
    price_cents: The price of a period, in cents of the currency.
    currency: The code of the currency: three lower-case letters.
    features: What the plan includes, in words that the service understands.
    billing_price_id: The id of the price at the payment provider; null for a plan that cannot be bought.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/plans",
        body=body_of(
            name=name, price_cents=price_cents, currency=currency, features=features, billing_price_id=billing_price_id
        ),
    )


def list_plans(org_slug: str, service_slug: str) -> ListCall[list[PlanItem], PlanItem]:
    """List the plans of a service, the oldest first, with the numbers of their active subscriptions.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    """
    return ListCall(method="GET", path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/plans")


def change_plan(
    org_slug: str,
    service_slug: str,
    plan_id: str,
    *,
    name: str | Unset | None = UNSET,
    price_cents: int | Unset | None = UNSET,
    currency: str | Unset | None = UNSET,
    features: Sequence[str] | Unset | None = UNSET,
    billing_price_id: str | Unset | None = UNSET,
) -> Call[PlanRecord]:
    """Change a plan. Its subscriptions continue; their users get the new features with their next tokens.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    plan_id: The id of the plan.
    name: The name for people.
    price_cents: The price per month in cents.
    currency: The currency, as a code of ISO 4217 in lower case.
    features: The features of your plan of the service.
    billing_price_id: The id of the price at the payment provider; null for a plan that cannot be bought.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/plans/{segment(plan_id)}",
        body=body_of(
            name=name, price_cents=price_cents, currency=currency, features=features, billing_price_id=billing_price_id
        ),
    )


def delete_plan(org_slug: str, service_slug: str, plan_id: str) -> Call[None]:
    """Delete a plan and its ended subscriptions. The default plan, and one with active subscriptions, cannot go.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    plan_id: The id of the plan.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/plans/{segment(plan_id)}",
        answer="nothing",
    )


def services_list_problems(org_slug: str, service_slug: str) -> ListCall[ClientProblemList, ClientProblem]:
    """List the requests in the name of a service that were refused in the last 30 days, the newest first.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/problems",
        items="problems",
    )


def create_service(
    org_slug: str,
    *,
    slug: str,
    name: str,
    service_type: ServiceType,
    codehost_scopes: Sequence[str] | Unset | None = UNSET,
    websuite_scopes: Sequence[str] | Unset | None = UNSET,
    officesuite_scopes: Sequence[str] | Unset | None = UNSET,
    redirect_uris: Sequence[str] | Unset = UNSET,
    device_activation_uri: str | Unset | None = UNSET,
    post_logout_redirect_uris: Sequence[str] | Unset = UNSET,
    backchannel_logout_uri: str | Unset | None = UNSET,
    frontchannel_logout_uri: str | Unset | None = UNSET,
    jwks_uri: str | Unset | None = UNSET,
    jwks: Mapping[str, list[dict[str, Any]]] | Unset | None = UNSET,
    audiences: Sequence[str] | Unset = UNSET,
    group_claims: Sequence[str] | Unset = UNSET,
    groups_as: GroupsAs | Unset = UNSET,
    security_profile: SecurityProfile | Unset | None = UNSET,
    token_signing: SignatureAlgorithm | Unset = UNSET,
    customers: CustomerPolicy | Unset = UNSET,
    individuals: Individuals | Unset | None = UNSET,
    access: Admission | Unset = UNSET,
    roles: Sequence[ServiceRole] | Unset = UNSET,
    initiate_login_uri: str | Unset | None = UNSET,
    scopes: Sequence[ServiceScope] | Unset = UNSET,
    machine_scopes: Sequence[str] | Unset = UNSET,
    claims: Sequence[ServiceClaim] | Unset = UNSET,
    assignments: Sequence[ServiceAssignment] | Unset = UNSET,
) -> Call[ServiceCreated]:
    """Create a service, with a default plan named Free.

    org_slug: The slug of the organization.
    slug: The short name that paths contain. It never changes.
    name: The name for people, with 1 to 100 characters.
    service_type: What kind of application it is: `web` and `api` keep a secret, the others are public.
    codehost_scopes: The OAuth scopes to ask codehost for; null for its default ones.
    websuite_scopes: The OAuth scopes to ask websuite for; null for its default ones.
    officesuite_scopes: The OAuth scopes to ask officesuite for; null for its default ones.
    redirect_uris: The addresses to which a browser may be sent back, compared exactly. Absolute and without a fragment;
        plain http only for loopback, other schemes only for mobile and desktop.
    device_activation_uri: The page of the device flow; null for Gatehouse's own.
    post_logout_redirect_uris: The addresses to which a browser may be sent after signing out, compared exactly.
    backchannel_logout_uri: Where a logout token is posted when a session ends; null for nowhere.
    frontchannel_logout_uri: The page that a browser loads when a session ends; null for none.
    jwks_uri: The address of the service's public keys; null when it has none.
    jwks: The public keys of the service, as a JSON Web Key Set; null when it has none here.
    audiences: The addresses of the APIs for which the service may get access tokens, as their `aud`: absolute https
        addresses under a verified domain of the organization, each registered by one service only.
    group_claims: The ids of the groups of the directory that tokens, userinfo and SAML assertions name of a member, or
        `all`.
    groups_as: How tokens, userinfo and introspection tell of groups: a list of `names`, of `ids`, or of `objects` with
        `id` and `name`. SAML assertions have names.
    security_profile: Which stricter rules of OAuth hold for the service: `fapi2`, the FAPI 2.0 Security Profile, or
        null.
    token_signing: The algorithm that signs the service's access, ID and logout tokens: `RS256`, which every library
        verifies, or `ES256`, which costs a tenth of the time. With a `security_profile` it is always ES256.
    customers: Which organizations may use the service as customers: `none`, those to which you offer it (`listed`), or
        `any`. It goes back to `none` only without customers; open offers end then. In your data, tell customers apart
        by `customer_id`, because `org` is your organization in every token.
    individuals: Who may use the service without a customer: `none`, people of no customer (`others`), or `all`. Members
        of your own organization always may.
    access: Who may sign in to the service without a customer: `everyone`, `members` of your organization, or members
        that `assignments` fit (`assigned`). End users that a key of the service has linked always may.
    roles: The service's own roles, which you and its customers assign to people.
    initiate_login_uri: The page of the service that begins a sign-in; null for none.
    scopes: The scopes to ask the provider for; `openid` is always one of them.
    machine_scopes: The scopes that the service's own tokens, and the tokens of its workloads, may have.
    claims: What tokens and assertions are to say besides, at most 30, and from where.
    assignments: The assignments of the service to your members; at most 200. The roles of all that fit a member, and of
        a repeated subject, add up. It takes `org.members.view` to read and to set them.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services",
        body=body_of(
            slug=slug,
            name=name,
            service_type=service_type,
            codehost_scopes=codehost_scopes,
            websuite_scopes=websuite_scopes,
            officesuite_scopes=officesuite_scopes,
            redirect_uris=redirect_uris,
            device_activation_uri=device_activation_uri,
            post_logout_redirect_uris=post_logout_redirect_uris,
            backchannel_logout_uri=backchannel_logout_uri,
            frontchannel_logout_uri=frontchannel_logout_uri,
            jwks_uri=jwks_uri,
            jwks=jwks,
            audiences=audiences,
            group_claims=group_claims,
            groups_as=groups_as,
            security_profile=security_profile,
            token_signing=token_signing,
            customers=customers,
            individuals=individuals,
            access=access,
            roles=roles,
            initiate_login_uri=initiate_login_uri,
            scopes=scopes,
            machine_scopes=machine_scopes,
            claims=claims,
            assignments=assignments,
        ),
    )


def list_services(
    org_slug: str, *, service_type: ServiceType | Unset = UNSET, limit: int | Unset = UNSET, offset: int | Unset = UNSET
) -> ListCall[ServiceList, ServiceItem]:
    """List the services, the oldest first, with the numbers of their plans and active subscriptions.

    org_slug: The slug of the organization.
    service_type: Only services of this type.
    limit: The most services to return; all of them if it is omitted.
    offset: How many services to skip.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services",
        query=query_of(service_type=service_type, limit=limit, offset=offset),
        items="services",
        paging="offset",
    )


def show_service(org_slug: str, service_slug: str) -> Call[ServiceRecord]:
    """Show a service.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}")


def change_service(
    org_slug: str,
    service_slug: str,
    *,
    name: str | Unset = UNSET,
    service_type: ServiceType | Unset = UNSET,
    codehost_scopes: Sequence[str] | Unset | None = UNSET,
    websuite_scopes: Sequence[str] | Unset | None = UNSET,
    officesuite_scopes: Sequence[str] | Unset | None = UNSET,
    redirect_uris: Sequence[str] | Unset = UNSET,
    device_activation_uri: str | Unset | None = UNSET,
    post_logout_redirect_uris: Sequence[str] | Unset = UNSET,
    backchannel_logout_uri: str | Unset | None = UNSET,
    frontchannel_logout_uri: str | Unset | None = UNSET,
    jwks_uri: str | Unset | None = UNSET,
    jwks: Mapping[str, list[dict[str, Any]]] | Unset | None = UNSET,
    audiences: Sequence[str] | Unset = UNSET,
    group_claims: Sequence[str] | Unset = UNSET,
    groups_as: GroupsAs | Unset = UNSET,
    security_profile: SecurityProfile | Unset | None = UNSET,
    token_signing: SignatureAlgorithm | Unset = UNSET,
    customers: CustomerPolicy | Unset = UNSET,
    individuals: Individuals | Unset | None = UNSET,
    access: Admission | Unset = UNSET,
    roles: Sequence[ServiceRole] | Unset = UNSET,
    initiate_login_uri: str | Unset | None = UNSET,
    scopes: Sequence[ServiceScope] | Unset = UNSET,
    machine_scopes: Sequence[str] | Unset = UNSET,
    claims: Sequence[ServiceClaim] | Unset = UNSET,
    assignments: Sequence[ServiceAssignment] | Unset = UNSET,
) -> Call[ServiceRecord]:
    """Change a service. Lists are replaced, not merged.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    name: The name for people, with 1 to 100 characters.
    service_type: What kind of application it is: `web` and `api` keep a secret, the others are public.
    codehost_scopes: The OAuth scopes to ask codehost for; null for its default ones.
    websuite_scopes: The OAuth scopes to ask websuite for; null for its default ones.
    officesuite_scopes: The OAuth scopes to ask officesuite for; null for its default ones.
    redirect_uris: The addresses to which a browser may be sent back, compared exactly. Absolute and without a fragment;
        plain http only for loopback, other schemes only for mobile and desktop.
    device_activation_uri: The page of the device flow; null for Gatehouse's own.
    post_logout_redirect_uris: The addresses to which a browser may be sent after signing out, compared exactly.
    backchannel_logout_uri: Where a logout token is posted when a session ends; null for nowhere.
    frontchannel_logout_uri: The page that a browser loads when a session ends; null for none.
    jwks_uri: The address of the service's public keys; null when it has none.
    jwks: The public keys of the service, as a JSON Web Key Set; null when it has none here.
    audiences: The addresses of the APIs for which the service may get access tokens, as their `aud`: absolute https
        addresses under a verified domain of the organization, each registered by one service only.
    group_claims: The ids of the groups of the directory that tokens, userinfo and SAML assertions name of a member, or
        `all`.
    groups_as: How tokens, userinfo and introspection tell of groups: a list of `names`, of `ids`, or of `objects` with
        `id` and `name`. SAML assertions have names.
    security_profile: Which stricter rules of OAuth hold for the service: `fapi2`, the FAPI 2.0 Security Profile, or
        null.
    token_signing: The algorithm that signs the service's access, ID and logout tokens: `RS256`, which every library
        verifies, or `ES256`, which costs a tenth of the time. With a `security_profile` it is always ES256.
    customers: Which organizations may use the service as customers: `none`, those to which you offer it (`listed`), or
        `any`. It goes back to `none` only without customers; open offers end then. In your data, tell customers apart
        by `customer_id`, because `org` is your organization in every token.
    individuals: Who may use the service without a customer: `none`, people of no customer (`others`), or `all`. Members
        of your own organization always may.
    access: Who may sign in to the service without a customer: `everyone`, `members` of your organization, or members
        that `assignments` fit (`assigned`). End users that a key of the service has linked always may.
    roles: The service's own roles, which you and its customers assign to people.
    initiate_login_uri: The page of the service that begins a sign-in; null for none.
    scopes: The scopes to ask the provider for; `openid` is always one of them.
    machine_scopes: The scopes that the service's own tokens, and the tokens of its workloads, may have.
    claims: What tokens and assertions are to say besides, at most 30, and from where. A key of the service cannot
        change them.
    assignments: The assignments of the service to your members; at most 200. The roles of all that fit a member, and of
        a repeated subject, add up. It takes `org.members.view` to read and to set them.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}",
        body=body_of(
            name=name,
            service_type=service_type,
            codehost_scopes=codehost_scopes,
            websuite_scopes=websuite_scopes,
            officesuite_scopes=officesuite_scopes,
            redirect_uris=redirect_uris,
            device_activation_uri=device_activation_uri,
            post_logout_redirect_uris=post_logout_redirect_uris,
            backchannel_logout_uri=backchannel_logout_uri,
            frontchannel_logout_uri=frontchannel_logout_uri,
            jwks_uri=jwks_uri,
            jwks=jwks,
            audiences=audiences,
            group_claims=group_claims,
            groups_as=groups_as,
            security_profile=security_profile,
            token_signing=token_signing,
            customers=customers,
            individuals=individuals,
            access=access,
            roles=roles,
            initiate_login_uri=initiate_login_uri,
            scopes=scopes,
            machine_scopes=machine_scopes,
            claims=claims,
            assignments=assignments,
        ),
    )


def delete_service(org_slug: str, service_slug: str) -> Call[None]:
    """Delete a service and everything that belongs to it, permanently: plans, API keys, end users and their
    sessions.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}",
        answer="nothing",
    )


def services_rotate_secret(
    org_slug: str, service_slug: str, *, keep_previous_hours: int | Unset = UNSET
) -> Call[SecretRotated]:
    """Replace the client secret of a confidential service.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    keep_previous_hours: For how many hours the previous secret is taken beside the new one.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/secret/rotate",
        body=body_of(keep_previous_hours=keep_previous_hours),
    )


def read_subscription() -> Call[OwnSubscription]:
    """Show your subscription to the service of your token."""
    return Call(method="GET", path="/api/subscription")


def create_workload(
    org_slug: str,
    service_slug: str,
    *,
    name: str,
    issuer: str,
    match: Mapping[str, str],
    jwks_uri: str | Unset | None = UNSET,
    jwks: Mapping[str, Any] | Unset | None = UNSET,
    audience: str | Unset | None = UNSET,
) -> Call[Workload]:
    """Let a program get tokens of a service without its secret.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    name: What the program is, with 1 to 100 characters.
    issuer: The `iss` of its tokens, exactly as they have it.
    match: Claims with the values that they must have, exactly; a nested claim is named by its path, such as
        `kubernetes.io/serviceaccount/uid`. An issuer that many share needs claims by id.
    jwks_uri: Where the keys are, in place of discovery.
    jwks: The keys themselves, in place of discovery.
    audience: The `aud` of its tokens; by default the issuer of this installation.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/workloads",
        body=body_of(name=name, issuer=issuer, match=match, jwks_uri=jwks_uri, jwks=jwks, audience=audience),
    )


def list_workloads(org_slug: str, service_slug: str) -> ListCall[WorkloadList, Workload]:
    """List the workloads of a service, the newest first, with the last token of each that was refused, and why.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/workloads",
        items="workloads",
    )


def delete_workload(org_slug: str, service_slug: str, workload_id: str) -> Call[None]:
    """Delete a workload. Its program gets no more tokens.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    workload_id: The id of the workload.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/workloads/{segment(workload_id)}",
        answer="nothing",
    )


def create_workload_of_key(
    slug: str,
    key_id: str,
    *,
    name: str,
    issuer: str,
    match: Mapping[str, str],
    jwks_uri: str | Unset | None = UNSET,
    jwks: Mapping[str, Any] | Unset | None = UNSET,
    audience: str | Unset | None = UNSET,
) -> Call[Workload]:
    """Let a program get tokens that stand for a key of the organization.

    slug: The short name that paths contain. It never changes.
    key_id: The id of the key.
    name: What the program is, with 1 to 100 characters.
    issuer: The `iss` of its tokens, exactly as they have it.
    match: Claims with the values that they must have, exactly; a nested claim is named by its path, such as
        `kubernetes.io/serviceaccount/uid`. An issuer that many share needs claims by id.
    jwks_uri: Where the keys are, in place of discovery.
    jwks: The keys themselves, in place of discovery.
    audience: The `aud` of its tokens; by default the issuer of this installation.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(slug)}/keys/{segment(key_id)}/workloads",
        body=body_of(name=name, issuer=issuer, match=match, jwks_uri=jwks_uri, jwks=jwks, audience=audience),
    )


def list_workloads_of_key(slug: str, key_id: str) -> ListCall[WorkloadList, Workload]:
    """List the workloads of a key, the newest first, with the last token of each that was refused, and why.

    slug: The short name that paths contain. It never changes.
    key_id: The id of the key.
    """
    return ListCall(
        method="GET", path=f"/api/organizations/{segment(slug)}/keys/{segment(key_id)}/workloads", items="workloads"
    )


def delete_workload_of_key(slug: str, key_id: str, workload_id: str) -> Call[None]:
    """Delete a workload of a key. The tokens that it got are refused at once.

    slug: The short name that paths contain. It never changes.
    key_id: The id of the key.
    workload_id: The id of the workload.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(slug)}/keys/{segment(key_id)}/workloads/{segment(workload_id)}",
        answer="nothing",
    )


def services_preview_claims(
    org_slug: str, service_slug: str, *, user_id: str, customer: str | Unset = UNSET, scope: str | Unset = UNSET
) -> Call[TokenPreview]:
    """Show the claims that the tokens of a person would have, and the source of each claim of the product.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    user_id: The id of the person.
    customer: The id of the customer for which the person comes; none by default.
    scope: The scopes that are asked for; all that there are by default.
    """
    return Call(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/claims/preview",
        query=query_of(user_id=user_id, customer=customer, scope=scope),
    )


def services_preview_given_claims(
    org_slug: str,
    service_slug: str,
    *,
    user_id: str,
    claims: Sequence[ServiceClaim],
    customer: str | Unset = UNSET,
    scope: str | Unset = UNSET,
) -> Call[TokenPreview]:
    """Show the same with another list of claims, before it is saved.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    user_id: The id of the person.
    claims: The claims to show, as a service has them.
    customer: The id of the customer for which the person comes; none by default.
    scope: The scopes that are asked for; all that there are by default.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/claims/preview",
        query=query_of(user_id=user_id, customer=customer, scope=scope),
        body=body_of(claims=claims),
    )


def list_customer_connections(
    org_slug: str, service_slug: str, customer_id: str
) -> ListCall[CustomerConnectionList, CustomerConnectionRecord]:
    """List the connections of a customer that you have made, the oldest first.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/connections",
        items="connections",
    )


def create_customer_connection(
    org_slug: str,
    service_slug: str,
    customer_id: str,
    *,
    type: str,
    name: str | Unset | None = UNSET,
    issuer: str | Unset | None = UNSET,
    client_id: str | Unset | None = UNSET,
    client_secret: str | Unset | None = UNSET,
    scopes: Sequence[str] | Unset | None = UNSET,
    metadata_url: str | Unset | None = UNSET,
    metadata_xml: str | Unset | None = UNSET,
    attribute_mapping: Mapping[str, str] | Unset | None = UNSET,
    token_issuer: str | Unset | None = UNSET,
    name_id_format: str | Unset | None = UNSET,
    signs_out_at_provider: bool | Unset | None = UNSET,
    enabled: bool | Unset | None = UNSET,
) -> Call[CustomerConnectionRecord]:
    """Make a connection for a customer, by OpenID Connect discovery or by SAML metadata, which are read now.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    type: `oidc` for OpenID Connect, or `saml`.
    name: The name for people.
    issuer: The issuer of the OpenID provider, exactly as it names itself; the entity id of a SAML identity provider, as
        in its metadata.
    client_id: The client id that the provider has given; none by SAML.
    client_secret: The client secret that the provider has given.
    scopes: The scopes to ask the provider for; `openid` is always one of them.
    metadata_url: Where the metadata of a SAML identity provider are, which are read again from time to time.
    metadata_xml: The metadata of a SAML identity provider, instead of their address.
    attribute_mapping: The claims or attributes in which the stable id (`id`, by default `sub` or the NameID), the
        address (`email`), the groups (`groups`) and the names of a person (`name`, `given_name`, `family_name`) are.
    token_issuer: Of a SAML connection: the issuer, found by OpenID Connect discovery, by whose keys its identity
        provider signs requests to end sessions; null or empty for none.
    name_id_format: Of a SAML connection: the format of names that requests ask for; null or empty for whichever the
        identity provider chooses (unspecified). With another one, the accounts of the one before are unlinked, unless
        the stable id is mapped.
    signs_out_at_provider: Of a connection by OpenID Connect: whether a browser that signs out here is led on to the
        provider's `end_session_endpoint`. Register `{base_url}/auth/upstream/signed-out` there as an address after
        logout.
    enabled: Whether people sign in by the connection.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/connections",
        body=body_of(
            name=name,
            issuer=issuer,
            client_id=client_id,
            client_secret=client_secret,
            scopes=scopes,
            metadata_url=metadata_url,
            metadata_xml=metadata_xml,
            attribute_mapping=attribute_mapping,
            token_issuer=token_issuer,
            name_id_format=name_id_format,
            signs_out_at_provider=signs_out_at_provider,
            enabled=enabled,
            type=type,
        ),
    )


def show_customer_connection(
    org_slug: str, service_slug: str, customer_id: str, provider_id: str
) -> Call[CustomerConnectionRecord]:
    """Show a connection of a customer, without its secret.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    provider_id: The id of the connection.
    """
    return Call(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/connections/{segment(provider_id)}",
    )


def change_customer_connection(
    org_slug: str,
    service_slug: str,
    customer_id: str,
    provider_id: str,
    *,
    name: str | Unset | None = UNSET,
    issuer: str | Unset | None = UNSET,
    client_id: str | Unset | None = UNSET,
    client_secret: str | Unset | None = UNSET,
    scopes: Sequence[str] | Unset | None = UNSET,
    metadata_url: str | Unset | None = UNSET,
    metadata_xml: str | Unset | None = UNSET,
    attribute_mapping: Mapping[str, str] | Unset | None = UNSET,
    token_issuer: str | Unset | None = UNSET,
    name_id_format: str | Unset | None = UNSET,
    signs_out_at_provider: bool | Unset | None = UNSET,
    enabled: bool | Unset | None = UNSET,
) -> Call[CustomerConnectionRecord]:
    """Change a connection of a customer. With another issuer, the people who signed in by it are unlinked.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    provider_id: The id of the connection.
    name: The name for people.
    issuer: The issuer of the OpenID provider, exactly as it names itself; the entity id of a SAML identity provider, as
        in its metadata.
    client_id: The client id that the provider has given; none by SAML.
    client_secret: The client secret that the provider has given.
    scopes: The scopes to ask the provider for; `openid` is always one of them.
    metadata_url: Where the metadata of a SAML identity provider are, which are read again from time to time.
    metadata_xml: The metadata of a SAML identity provider, instead of their address.
    attribute_mapping: The claims or attributes in which the stable id (`id`, by default `sub` or the NameID), the
        address (`email`), the groups (`groups`) and the names of a person (`name`, `given_name`, `family_name`) are.
    token_issuer: Of a SAML connection: the issuer, found by OpenID Connect discovery, by whose keys its identity
        provider signs requests to end sessions; null or empty for none.
    name_id_format: Of a SAML connection: the format of names that requests ask for; null or empty for whichever the
        identity provider chooses (unspecified). With another one, the accounts of the one before are unlinked, unless
        the stable id is mapped.
    signs_out_at_provider: Of a connection by OpenID Connect: whether a browser that signs out here is led on to the
        provider's `end_session_endpoint`. Register `{base_url}/auth/upstream/signed-out` there as an address after
        logout.
    enabled: Whether people sign in by the connection.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/connections/{segment(provider_id)}",
        body=body_of(
            name=name,
            issuer=issuer,
            client_id=client_id,
            client_secret=client_secret,
            scopes=scopes,
            metadata_url=metadata_url,
            metadata_xml=metadata_xml,
            attribute_mapping=attribute_mapping,
            token_issuer=token_issuer,
            name_id_format=name_id_format,
            signs_out_at_provider=signs_out_at_provider,
            enabled=enabled,
        ),
    )


def delete_customer_connection(org_slug: str, service_slug: str, customer_id: str, provider_id: str) -> Call[None]:
    """Delete a connection of a customer with its mail domains. The sessions that began by it end.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    provider_id: The id of the connection.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/connections/{segment(provider_id)}",
        answer="nothing",
    )


def list_customers(
    org_slug: str, service_slug: str, *, limit: int | Unset = UNSET, offset: int | Unset = UNSET, q: str | Unset = UNSET
) -> ListCall[CustomerList, CustomerRecord]:
    """List the customers and open offers of a service, the newest first.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    limit: At most how many to list; more than 100 is lowered to 100.
    offset: How many to skip.
    q: Finds customers and offers whose slug or external id contains it, and customers whose name does.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers",
        query=query_of(limit=limit, offset=offset, q=q),
        items="customers",
        paging="offset",
    )


def customers_offer_service(
    org_slug: str, service_slug: str, *, organization: str, external_id: str | Unset | None = UNSET
) -> Call[CustomerRecord]:
    """Offer the service to another organization, which has 30 days to accept.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    organization: The slug of the organization; the answer is the same whether there is one.
    external_id: Your own id of the customer, with 1 to 255 characters; unique among the customers and offers of the
        service. Tokens name it as `customer_external_id`.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers",
        body=body_of(organization=organization, external_id=external_id),
    )


def make_customer(
    org_slug: str,
    service_slug: str,
    *,
    name: str,
    external_id: str | Unset | None = UNSET,
    owner_email: str | Unset | None = UNSET,
) -> Call[CustomerRecord]:
    """Make an organization for a customer, which no person owns yet; it uses the service at once.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    name: The name of the customer, for which an organization is made that no person owns yet.
    external_id: Your own id of the customer, with 1 to 255 characters; unique among the customers and offers of the
        service. Tokens name it as `customer_external_id`.
    owner_email: With a name: the address to which the link is mailed that makes its reader the owner of the new
        organization.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers",
        body=body_of(name=name, external_id=external_id, owner_email=owner_email),
    )


def show_customer(org_slug: str, service_slug: str, customer_id: str) -> Call[CustomerRecord]:
    """Show a customer or an open offer.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return Call(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}",
    )


def change_customer(
    org_slug: str,
    service_slug: str,
    customer_id: str,
    *,
    external_id: str | Unset | None = UNSET,
    paused: bool | Unset = UNSET,
    metadata: Mapping[str, str | bool | int | float | list[str] | None] | Unset | None = UNSET,
) -> Call[CustomerRecord]:
    """Change your own id of a customer and its metadata, or pause it.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    external_id: Your own id of the customer, with 1 to 255 characters; unique among the customers and offers of the
        service. Tokens name it as `customer_external_id`.
    paused: Whether you have paused it. The customer's own pause is apart.
    metadata: The names to set, with a text, a number, true, false or a list of texts; null takes one away, and null
        alone all of them. At most 50 names of `A-Za-z0-9_.-`, and 4096 bytes as compact JSON.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}",
        body=body_of(external_id=external_id, paused=paused, metadata=metadata),
    )


def end_customer(org_slug: str, service_slug: str, customer_id: str) -> Call[None]:
    """Withdraw an offer, or end the use of the service by a customer.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}",
        answer="nothing",
    )


def restore_customer(org_slug: str, service_slug: str, customer_id: str) -> Call[CustomerRecord]:
    """Restore a customer that no person owned when you ended it, within 14 days.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/restore",
    )


def customers_name_owner(org_slug: str, service_slug: str, customer_id: str, *, email: str) -> Call[CustomerRecord]:
    """Mail a link that makes its reader the owner of the organization that you have made for a customer.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    email: The email address.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/owner",
        body=body_of(email=email),
    )


def list_own_customers() -> ListCall[VisitedCustomers, VisitedCustomer]:
    """List the customers of the service of your token for which you have signed in, the latest first."""
    return ListCall(method="GET", path="/api/user/customers", items="customers")


def list_customer_group_rules(
    org_slug: str, service_slug: str, customer_id: str
) -> ListCall[CustomerRuleList, CustomerRuleRecord]:
    """List the group rules of a customer, the oldest first.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/group-rules",
        items="group_rules",
    )


def create_customer_group_rule(
    org_slug: str,
    service_slug: str,
    customer_id: str,
    *,
    group: str,
    service_roles: Sequence[str],
    source: str | Unset = UNSET,
) -> Call[CustomerRuleRecord]:
    """Make a rule by which a group of a customer gives roles of the service.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    group: The id of a group of the directory, or exactly the value that a connection asserts.
    service_roles: Names of roles of the service, at least one.
    source: `scim` for a group of the directory, else the id of the connection that asserts it.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/group-rules",
        body=body_of(group=group, service_roles=service_roles, source=source),
    )


def show_customer_group_rule(
    org_slug: str, service_slug: str, customer_id: str, rule_id: str
) -> Call[CustomerRuleRecord]:
    """Show a group rule of a customer.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    rule_id: The id of the rule.
    """
    return Call(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/group-rules/{segment(rule_id)}",
    )


def change_customer_group_rule(
    org_slug: str, service_slug: str, customer_id: str, rule_id: str, *, service_roles: Sequence[str]
) -> Call[CustomerRuleRecord]:
    """Change which roles a group of a customer gives.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    rule_id: The id of the rule.
    service_roles: Names of roles of the service, at least one.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/group-rules/{segment(rule_id)}",
        body=body_of(service_roles=service_roles),
    )


def delete_customer_group_rule(org_slug: str, service_slug: str, customer_id: str, rule_id: str) -> Call[None]:
    """Delete a group rule of a customer, which gives its roles no longer.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    rule_id: The id of the rule.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/group-rules/{segment(rule_id)}",
        answer="nothing",
    )


def list_made_things(
    org_slug: str, *, limit: int | Unset = UNSET, offset: int | Unset = UNSET
) -> ListCall[MadeThingList, MadeThingRecord]:
    """List what vendors have made for the organization, by vendor, service and kind. Setup links are those in force.

    org_slug: The slug of the organization.
    limit: At most how many to list; more than 100 is lowered to 100.
    offset: How many to skip.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/made-for-us",
        query=query_of(limit=limit, offset=offset),
        items="things",
        paging="offset",
    )


def adopt_made_thing(org_slug: str, thing_id: str) -> Call[AdoptedThing]:
    """Make a thing the organization's own: the vendor can no longer read or change it, and it outlives your use.

    org_slug: The slug of the organization.
    thing_id: The id of what a vendor has made.
    """
    return Call(method="POST", path=f"/api/organizations/{segment(org_slug)}/made-for-us/{segment(thing_id)}/adopt")


def remove_made_thing(org_slug: str, thing_id: str) -> Call[None]:
    """Remove a thing that a vendor has made. The vendor gets an event, and may make another one if you allow it.

    org_slug: The slug of the organization.
    thing_id: The id of what a vendor has made.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/made-for-us/{segment(thing_id)}",
        answer="nothing",
    )


def list_customer_mail_domains(
    org_slug: str, service_slug: str, customer_id: str
) -> ListCall[CustomerDomainList, CustomerMailDomain]:
    """List the mail domains of a customer by their names.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/mail-domains",
        items="mail_domains",
    )


def create_customer_mail_domain(
    org_slug: str, service_slug: str, customer_id: str, *, domain: str, provider_id: str
) -> Call[CustomerMailDomain]:
    """Claim a mail domain for a customer. It routes nothing before it is verified.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    domain: The domain of the email address.
    provider_id: The id of the connection.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/mail-domains",
        body=body_of(domain=domain, provider_id=provider_id),
    )


def show_customer_mail_domain(
    org_slug: str, service_slug: str, customer_id: str, domain_id: str
) -> Call[CustomerMailDomain]:
    """Show a mail domain of a customer, with the record that proves it.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    domain_id: The id of the mail domain.
    """
    return Call(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/mail-domains/{segment(domain_id)}",
    )


def delete_customer_mail_domain(org_slug: str, service_slug: str, customer_id: str, domain_id: str) -> Call[None]:
    """Give a mail domain of a customer up. Its addresses no longer lead to the connection.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    domain_id: The id of the mail domain.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/mail-domains/{segment(domain_id)}",
        answer="nothing",
    )


def verify_customer_mail_domain(
    org_slug: str, service_slug: str, customer_id: str, domain_id: str
) -> Call[CustomerMailDomain]:
    """Ask the name servers of the domain for the TXT record now.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    domain_id: The id of the mail domain.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/mail-domains/{segment(domain_id)}/verify",
    )


def list_products(
    slug: str, *, limit: int | Unset = UNSET, offset: int | Unset = UNSET
) -> ListCall[ProductList, ProductRecord]:
    """List the products that the organization uses, then those that are offered to it, by name.

    slug: The short name that paths contain. It never changes.
    limit: At most how many to list; more than 100 is lowered to 100.
    offset: How many to skip.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(slug)}/products",
        query=query_of(limit=limit, offset=offset),
        items="products",
        paging="offset",
    )


def accept_product(slug: str, *, client_id: str) -> Call[ProductRecord]:
    """Accept the offer of a product, or begin to use one that is open to any organization.

    slug: The short name that paths contain. It never changes.
    client_id: The client id of the service.
    """
    return Call(method="POST", path=f"/api/organizations/{segment(slug)}/products", body=body_of(client_id=client_id))


def show_product(slug: str, client_id: str) -> Call[ProductRecord]:
    """Show a product that the organization uses, or that is offered to it.

    slug: The short name that paths contain. It never changes.
    client_id: The client id, which never changes.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/products/{segment(client_id)}")


def change_product(
    slug: str,
    client_id: str,
    *,
    access: ProductAccess | Unset = UNSET,
    assignments: Sequence[ProductAssignment] | Unset = UNSET,
    shares_directory: bool | Unset = UNSET,
    groups: Sequence[str] | Unset = UNSET,
    hidden: bool | Unset = UNSET,
    vendor_setup: Sequence[SetupPart] | Unset = UNSET,
    paused: bool | Unset = UNSET,
) -> Call[ProductRecord]:
    """Change who may use a product, what its vendor learns of the organization, or pause it.

    slug: The short name that paths contain. It never changes.
    client_id: The client id, which never changes.
    access: Who may use the product: `members` for every active member, `assigned` for members that an assignment fits.
    assignments: The assignments of the product, each subject once; at most 200. The roles of all that fit a member add
        up.
    shares_directory: Whether the vendor is shown who may use the product, with names and addresses, and not only who
        has signed in.
    groups: Groups of your directory that the product learns of, by their ids; at most 200.
    hidden: Whether the sign-in of the product does not lead addresses of your mail domains to your own sign-in, so that
        no one sees that you use it.
    vendor_setup: What the vendor may go on setting up for your organization; the owner alone sets it, within ten
        minutes of a sign-in. What is taken away ends its setup links, and SCIM tokens that the vendor knows.
    paused: Whether your organization has paused it. The vendor's own pause is apart.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(slug)}/products/{segment(client_id)}",
        body=body_of(
            access=access,
            assignments=assignments,
            shares_directory=shares_directory,
            groups=groups,
            hidden=hidden,
            vendor_setup=vendor_setup,
            paused=paused,
        ),
    )


def end_product(slug: str, client_id: str) -> Call[None]:
    """Decline the offer of a product, or end its use.

    slug: The short name that paths contain. It never changes.
    client_id: The client id, which never changes.
    """
    return Call(
        method="DELETE", path=f"/api/organizations/{segment(slug)}/products/{segment(client_id)}", answer="nothing"
    )


def list_customer_scim_tokens(
    org_slug: str, service_slug: str, customer_id: str
) -> ListCall[CustomerTokenList, CustomerScimToken]:
    """List the SCIM tokens of a customer, the newest first, also those that have expired.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/scim-tokens",
        items="tokens",
    )


def create_customer_scim_token(
    org_slug: str, service_slug: str, customer_id: str, *, name: str, expires_at: str | Unset | None = UNSET
) -> Call[CreatedCustomerToken]:
    """Make a SCIM token for a customer. Store its secret: it cannot be shown again.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    name: What the token is for, with 1 to 100 characters.
    expires_at: When it expires.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/scim-tokens",
        body=body_of(name=name, expires_at=expires_at),
    )


def revoke_customer_scim_token(org_slug: str, service_slug: str, customer_id: str, token_id: str) -> Call[None]:
    """Revoke a SCIM token of a customer. It loses access at once.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    token_id: The id of the token.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/scim-tokens/{segment(token_id)}",
        answer="nothing",
    )


def list_customer_setup_links(
    org_slug: str, service_slug: str, customer_id: str
) -> ListCall[CustomerLinkList, CustomerLinkRecord]:
    """List the valid setup links of a customer, the newest first.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/setup-links",
        items="setup_links",
    )


def create_customer_setup_link(
    org_slug: str,
    service_slug: str,
    customer_id: str,
    *,
    parts: Sequence[str],
    expires_in_minutes: int | Unset = UNSET,
    return_url: str | Unset | None = UNSET,
    actor: str | Unset | None = UNSET,
) -> Call[CreatedCustomerLink]:
    """Make a setup link for a customer. Keep its address: it is shown only once.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    parts: Of `upstream`, `mail_domain`, `scim` and `groups`.
    expires_in_minutes: For how many minutes the link is valid.
    return_url: Where the pages lead back to after each part: an address at the origin of one of the redirect URIs of
        the service, also with a path and a query.
    actor: Who uses the link; both logs show it as reported by you.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/setup-links",
        body=body_of(parts=parts, expires_in_minutes=expires_in_minutes, return_url=return_url, actor=actor),
    )


def revoke_customer_setup_link(org_slug: str, service_slug: str, customer_id: str, link_id: str) -> Call[None]:
    """Revoke a setup link of a customer, which ends what was begun with it at once.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    link_id: The id of the link.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/setup-links/{segment(link_id)}",
        answer="nothing",
    )


def customers_show_usage(org_slug: str, service_slug: str, customer_id: str, *, month: str) -> Call[PeopleOfMonth]:
    """Count the people who have used a service for a customer in a month: who has signed in, or stayed signed in.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer_id: The id of the customer: of the record between the service and the organization.
    month: The month by UTC, as `2026-11`, which may not be over yet.
    """
    return Call(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/customers/{segment(customer_id)}/usage",
        query=query_of(month=month),
    )


def saml_create_certificate(org_slug: str, service_slug: str) -> Call[CertificateRecord]:
    """Create a certificate, valid for three years, which signs from now on.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    """
    return Call(
        method="POST", path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/saml/certificate"
    )


def saml_show_certificate(org_slug: str, service_slug: str) -> Call[CertificateRecord]:
    """Show the active certificate of a service.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    """
    return Call(
        method="GET", path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/saml/certificate"
    )


def saml_import_metadata(org_slug: str, service_slug: str, *, metadata: str) -> Call[SamlRecord]:
    """Fill the configuration from the metadata of the service provider.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    metadata: The metadata of the service provider: the XML of an EntityDescriptor.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/saml/metadata",
        body=body_of(metadata=metadata),
    )


def saml_configure(
    org_slug: str,
    service_slug: str,
    *,
    enabled: bool,
    entity_id: str | Unset | None = UNSET,
    acs_url: str | Unset | None = UNSET,
    slo_url: str | Unset | None = UNSET,
    slo_binding: LogoutBinding | Unset | None = UNSET,
    name_id_format: str | Unset | None = UNSET,
    attribute_mapping: Mapping[str, str] | Unset | None = UNSET,
    sign_assertions: bool | Unset | None = UNSET,
    sign_response: bool | Unset | None = UNSET,
    sp_certificate: str | Unset | None = UNSET,
    members_only: bool | Unset | None = UNSET,
) -> Call[SamlChanged]:
    """Set up SAML for a service, change its settings, or switch it off.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    enabled: Whether multi-factor authentication is on.
    entity_id: The entity id of the service provider; required when SAML is enabled.
    acs_url: The only address to which assertions go: the assertion consumer service; required when SAML is enabled.
    slo_url: Where messages about logouts go; without it none are sent.
    slo_binding: How messages reach `slo_url`.
    name_id_format: The format of the user's name in assertions; null means the email address.
    attribute_mapping: The claims or attributes in which the stable id (`id`, by default `sub` or the NameID), the
        address (`email`), the groups (`groups`) and the names of a person (`name`, `given_name`, `family_name`) are.
    sign_assertions: Whether assertions are signed.
    sign_response: Whether responses are signed.
    sp_certificate: The certificate of the service provider, as PEM. With it, requests without its signature are
        refused.
    members_only: Whether only members, users that the organization created, existing end users of the service, and
        people of its customers may sign in.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/saml",
        body=body_of(
            enabled=enabled,
            entity_id=entity_id,
            acs_url=acs_url,
            slo_url=slo_url,
            slo_binding=slo_binding,
            name_id_format=name_id_format,
            attribute_mapping=attribute_mapping,
            sign_assertions=sign_assertions,
            sign_response=sign_response,
            sp_certificate=sp_certificate,
            members_only=members_only,
        ),
    )


def saml_show_configuration(org_slug: str, service_slug: str) -> Call[SamlRecord]:
    """Show the SAML configuration of a service.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/saml")


def saml_disable(org_slug: str, service_slug: str) -> Call[SamlChanged]:
    """Switch SAML off and deactivate all certificates of the service; its other settings stay.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    """
    return Call(method="DELETE", path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/saml")


def invitations_invite(
    org_slug: str,
    *,
    email: str,
    role: str,
    services: Sequence[str] | Unset = UNSET,
    message: str | Unset | None = UNSET,
) -> Call[CreatedInvitation]:
    """Invite a person by mail.

    org_slug: The slug of the organization.
    email: The email address.
    role: `member`, `admin`, or the slug of a custom role.
    services: The slugs of services of the organization that the person is linked to with the membership, at most 20.
        They require `end_users.manage`.
    message: What the person sees on the page of the invitation: plain text without web addresses. No mail has it.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/invitations",
        body=body_of(email=email, role=role, services=services, message=message),
    )


def list_invitations(
    org_slug: str, *, page: int | Unset = UNSET, limit: int | Unset = UNSET, status: InvitationStatus | Unset = UNSET
) -> ListCall[list[SentInvitationRecord], SentInvitationRecord]:
    """List the organization's invitations, the newest first.

    org_slug: The slug of the organization.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    status: Only invitations in this state.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/invitations",
        query=query_of(page=page, limit=limit, status=status),
        paging="page",
    )


def invitations_revoke(org_slug: str, invitation_id: str) -> Call[Empty]:
    """Revoke a pending invitation.

    org_slug: The slug of the organization.
    invitation_id: The id of the invitation.
    """
    return Call(method="POST", path=f"/api/organizations/{segment(org_slug)}/invitations/{segment(invitation_id)}")


def invitations_accept_on_behalf(org_slug: str, invitation_id: str) -> Call[Empty]:
    """Make the invited person a member at once, without waiting for their answer.

    org_slug: The slug of the organization.
    invitation_id: The id of the invitation.
    """
    return Call(
        method="POST", path=f"/api/organizations/{segment(org_slug)}/invitations/{segment(invitation_id)}/accept"
    )


def invitations_list_mine() -> ListCall[list[ReceivedInvitationRecord], ReceivedInvitationRecord]:
    """List the pending invitations of your address, which has to be verified."""
    return ListCall(method="GET", path="/api/invitations")


def invitations_accept(*, token: str, proof: str | Unset | None = UNSET) -> Call[Empty]:
    """Join the organization that the token invites to.

    token: The token of the invitation.
    proof: The proof that only the mailed link contains: it verifies the address.
    """
    return Call(method="POST", path="/api/invitations/accept", body=body_of(token=token, proof=proof))


def invitations_decline(*, token: str, proof: str | Unset | None = UNSET) -> Call[Empty]:
    """Decline an invitation by its token, even if it has expired.

    token: The token of the invitation.
    proof: The proof that only the mailed link contains: it verifies the address.
    """
    return Call(method="POST", path="/api/invitations/decline", body=body_of(token=token, proof=proof))


def billing_start_checkout(
    org_slug: str, service_slug: str, *, plan_id: str, success_url: str, cancel_url: str
) -> Call[CheckoutSession]:
    """Start buying a plan for yourself: open `checkout_url` in a browser to pay.

    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    plan_id: The id of the plan.
    success_url: `{CHECKOUT_SESSION_ID}` in it becomes the session's id.
    cancel_url: Where the buyer returns without paying.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/services/{segment(service_slug)}/checkout",
        body=body_of(plan_id=plan_id, success_url=success_url, cancel_url=cancel_url),
    )


def billing_open_portal(slug: str, *, return_url: str) -> Call[PortalOpened]:
    """Open the billing portal: invoices, payment methods, changing and cancelling subscriptions.

    slug: The short name that paths contain. It never changes.
    return_url: Where the portal leads back to.
    """
    return Call(
        method="POST", path=f"/api/organizations/{segment(slug)}/billing/portal", body=body_of(return_url=return_url)
    )


def begin_device(
    *,
    client_id: str | Unset | None = UNSET,
    client_secret: str | Unset | None = UNSET,
    client_assertion_type: str | Unset | None = UNSET,
    client_assertion: str | Unset | None = UNSET,
    org: str | Unset | None = UNSET,
    service: str | Unset | None = UNSET,
    scope: str | Unset | None = UNSET,
    resource: str | Unset | None = UNSET,
    customer: str | Unset | None = UNSET,
) -> Call[DeviceAuthorizationCodes]:
    """Begin to sign in on a device.

    client_id: The client id, which never changes.
    client_secret: The client secret, which is shown only once; left out for a public service, which has none.
    client_assertion_type: The type of the assertion.
    client_assertion: A JWT that the service has signed with its own key (`private_key_jwt`).
    org: The slug of the organization of your token; empty without one.
    service: The slug of the service, which is likewise only compared.
    scope: Scopes, separated by blanks: `openid`, `profile`, `email`, and the service's own scopes.
    resource: One of the audiences of the service, for which the access token is to be.
    customer: The customer of the service for which the user comes, by its id or slug. Without it, the only one that is
        open is taken, or the user is asked.
    """
    return Call(
        method="POST",
        path="/auth/device/code",
        body=body_of(
            client_id=client_id,
            client_secret=client_secret,
            client_assertion_type=client_assertion_type,
            client_assertion=client_assertion,
            org=org,
            service=service,
            scope=scope,
            resource=resource,
            customer=customer,
        ),
        is_form=True,
    )


def verify_device(*, user_code: str) -> Call[DeviceService]:
    """Say which service a user code belongs to. It approves nothing: that is a button on `/auth/device`.

    user_code: The code that the device shows, in any case, with or without the dash.
    """
    return Call(method="POST", path="/auth/device/verify", body=body_of(user_code=user_code), is_form=True)


def openid_connect_push_request(
    *,
    client_id: str | Unset | None = UNSET,
    response_type: str | Unset | None = UNSET,
    response_mode: str | Unset | None = UNSET,
    redirect_uri: str | Unset | None = UNSET,
    scope: str | Unset | None = UNSET,
    state: str | Unset | None = UNSET,
    nonce: str | Unset | None = UNSET,
    code_challenge: str | Unset | None = UNSET,
    code_challenge_method: str | Unset | None = UNSET,
    prompt: str | Unset | None = UNSET,
    max_age: str | Unset | None = UNSET,
    login_hint: str | Unset | None = UNSET,
    id_token_hint: str | Unset | None = UNSET,
    acr_values: str | Unset | None = UNSET,
    claims: str | Unset | None = UNSET,
    ui_locales: str | Unset | None = UNSET,
    resource: str | Unset | None = UNSET,
    dpop_jkt: str | Unset | None = UNSET,
    request: str | Unset | None = UNSET,
    request_uri: str | Unset | None = UNSET,
    customer: str | Unset | None = UNSET,
    client_secret: str | Unset | None = UNSET,
    client_assertion_type: str | Unset | None = UNSET,
    client_assertion: str | Unset | None = UNSET,
) -> Call[PushedRequestReference]:
    """Store the parameters of an authorization request.

    client_id: The client id, which never changes.
    response_type: Always `code`.
    response_mode: `query`, also if it is left out, or `form_post`: the browser posts the answer as a form to a web
        address.
    redirect_uri: One of the redirect URIs of the service, exactly.
    scope: Scopes, separated by blanks: `openid`, `profile`, `email`, and the service's own scopes.
    state: A text that comes back with the code.
    nonce: A text that comes back in the ID token.
    code_challenge: The SHA-256 of the code verifier, in base64url; public services must send it.
    code_challenge_method: Always `S256`.
    prompt: `none`, or any of `login`, `consent`, `select_account` and `create`, which shows the page for a new account
        first.
    max_age: The most seconds since the user has signed in.
    login_hint: The email address with which the user probably signs in.
    id_token_hint: An ID token of the service: only its user may be signed in. Another one is answered `login_required`.
    acr_values: The classes of sign-ins that the service accepts, the preferred one first.
    claims: JSON with the members `userinfo` and `id_token`: the claims that the service asks for by name (OpenID
        Connect Core, 5.5).
    ui_locales: Languages for the pages of the sign-in, the preferred one first; the first that is offered is taken.
    resource: One of the audiences of the service, for which the access token is to be.
    dpop_jkt: The thumbprint of the key to which the tokens are to be bound.
    request: Refused: request objects are not supported.
    request_uri: The reference to a pushed request; it is no parameter of one.
    customer: The customer of the service for which its user comes, by its id or slug; empty for one who comes as an
        individual. Without it, the only customer that is open is taken, or the user is asked.
    client_secret: The client secret, which is shown only once; left out for a public service, which has none.
    client_assertion_type: The type of the assertion.
    client_assertion: A JWT that the service has signed with its own key (`private_key_jwt`).
    """
    return Call(
        method="POST",
        path="/auth/par",
        body=body_of(
            client_id=client_id,
            response_type=response_type,
            response_mode=response_mode,
            redirect_uri=redirect_uri,
            scope=scope,
            state=state,
            nonce=nonce,
            code_challenge=code_challenge,
            code_challenge_method=code_challenge_method,
            prompt=prompt,
            max_age=max_age,
            login_hint=login_hint,
            id_token_hint=id_token_hint,
            acr_values=acr_values,
            claims=claims,
            ui_locales=ui_locales,
            resource=resource,
            dpop_jkt=dpop_jkt,
            request=request,
            request_uri=request_uri,
            customer=customer,
            client_secret=client_secret,
            client_assertion_type=client_assertion_type,
            client_assertion=client_assertion,
        ),
        is_form=True,
    )


def openid_connect_describe_interface() -> Call[dict[str, Any]]:
    """Describe the interface of Gatehouse itself as a protected resource (RFC 9728)."""
    return Call(method="GET", path="/.well-known/oauth-protected-resource")


def openid_connect_describe_audience(resource: str) -> Call[dict[str, Any]]:
    """Describe one of the `audiences` of a service, which is named without its `https://`.

    resource: One of the audiences of the service, for which the access token is to be.
    """
    return Call(method="GET", path=f"/.well-known/oauth-protected-resource/{segment(resource)}")


def openid_connect_exchange(
    *,
    client_id: str | Unset | None = UNSET,
    client_secret: str | Unset | None = UNSET,
    client_assertion_type: str | Unset | None = UNSET,
    client_assertion: str | Unset | None = UNSET,
    grant_type: str | Unset | None = UNSET,
    code: str | Unset | None = UNSET,
    redirect_uri: str | Unset | None = UNSET,
    code_verifier: str | Unset | None = UNSET,
    refresh_token: str | Unset | None = UNSET,
    device_code: str | Unset | None = UNSET,
    scope: str | Unset | None = UNSET,
    resource: str | Unset | None = UNSET,
) -> Call[GrantedTokens]:
    """Exchange a grant for tokens.

    client_id: The client id, unless the Authorization header has it.
    client_secret: The client secret, unless the Authorization header has it.
    client_assertion_type: The type of the assertion.
    client_assertion: A JWT that the service has signed with its own key (`private_key_jwt`).
    grant_type: The grant: `authorization_code`, `refresh_token`, `client_credentials` or `urn:ietf:params:oauth:grant-
        type:device_code`.
    code: The code that the browser brought to the redirect URI.
    redirect_uri: The redirect URI of the authorization request.
    code_verifier: The text of which the authorization request had the hash.
    refresh_token: The token that `POST /api/auth/refresh` exchanges for new tokens, once.
    device_code: The code with which the device polls.
    scope: Scopes, separated by blanks: `openid`, `profile`, `email`, and the service's own scopes.
    resource: One of the audiences of the service, for which the access token is to be.
    """
    return Call(
        method="POST",
        path="/auth/token",
        body=body_of(
            client_id=client_id,
            client_secret=client_secret,
            client_assertion_type=client_assertion_type,
            client_assertion=client_assertion,
            grant_type=grant_type,
            code=code,
            redirect_uri=redirect_uri,
            code_verifier=code_verifier,
            refresh_token=refresh_token,
            device_code=device_code,
            scope=scope,
            resource=resource,
        ),
        is_form=True,
    )


def openid_connect_introspect(
    *,
    client_id: str | Unset | None = UNSET,
    client_secret: str | Unset | None = UNSET,
    client_assertion_type: str | Unset | None = UNSET,
    client_assertion: str | Unset | None = UNSET,
    token: str | Unset | None = UNSET,
    token_type_hint: str | Unset | None = UNSET,
) -> Call[dict[str, Any]]:
    """Tell a confidential service whether one of its tokens is valid, and what is in it (RFC 7662).

    client_id: The client id, which never changes.
    client_secret: The client secret, which is shown only once; left out for a public service, which has none.
    client_assertion_type: The type of the assertion.
    client_assertion: A JWT that the service has signed with its own key (`private_key_jwt`).
    token: The token.
    token_type_hint: `access_token` or `refresh_token`; it is not needed.
    """
    return Call(
        method="POST",
        path="/auth/introspect",
        body=body_of(
            client_id=client_id,
            client_secret=client_secret,
            client_assertion_type=client_assertion_type,
            client_assertion=client_assertion,
            token=token,
            token_type_hint=token_type_hint,
        ),
        is_form=True,
    )


def openid_connect_read_user_info() -> Call[dict[str, Any]]:
    """Return the claims about the user of an access token: those that its scopes open, and those asked for by name."""
    return Call(method="GET", path="/auth/userinfo")


def openid_connect_post_user_info() -> Call[dict[str, Any]]:
    """Return the same for a POST; the token is in the header, or in a form as `access_token` (RFC 6750, 2.2)."""
    return Call(method="POST", path="/auth/userinfo")


def openid_connect_openid_configuration() -> Call[dict[str, Any]]:
    """Describe this OpenID provider: its endpoints, and what they support."""
    return Call(method="GET", path="/.well-known/openid-configuration")


def openid_connect_authorization_server() -> Call[dict[str, Any]]:
    """Describe the same as an OAuth authorization server (RFC 8414)."""
    return Call(method="GET", path="/.well-known/oauth-authorization-server")


def openid_connect_passkey_endpoints() -> Call[PasskeyEndpoints]:
    """Name the pages on which a person adds and manages passkeys, for password managers (W3C, Passkey Endpoints)."""
    return Call(method="GET", path="/.well-known/passkey-endpoints")


def list_directory_groups(
    slug: str, *, page: int | Unset = UNSET, limit: int | Unset = UNSET
) -> ListCall[DirectoryGroupList, DirectoryGroup]:
    """List the groups of the directory, the oldest first.

    slug: The short name that paths contain. It never changes.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(slug)}/groups",
        query=query_of(page=page, limit=limit),
        items="groups",
        paging="page",
    )


def list_group_members(
    slug: str, group_id: str, *, page: int | Unset = UNSET, limit: int | Unset = UNSET
) -> ListCall[GroupMemberList, GroupMemberItem]:
    """List the members of a group, by the order of their ids.

    slug: The short name that paths contain. It never changes.
    group_id: The id of the group.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(slug)}/groups/{segment(group_id)}/members",
        query=query_of(page=page, limit=limit),
        items="members",
        paging="page",
    )


def scim_groups_list_groups(
    *,
    attributes: str | Unset = UNSET,
    excludedAttributes: str | Unset = UNSET,
    startIndex: int | Unset = UNSET,
    count: int | Unset = UNSET,
    filter: str | Unset = UNSET,
) -> Call[ScimGroupList]:
    """List the groups of the organization: itself, unless the filter selects another name, id or member.

    attributes: Only these attributes, separated by commas.
    excludedAttributes: All attributes but these, separated by commas.
    startIndex: The number of the first resource, counted from 1.
    count: How many resources at most, up to 1000; none for 0.
    filter: Only resources that this filter selects.
    """
    return Call(
        method="GET",
        path="/scim/v2/Groups",
        query=query_of(
            attributes=attributes,
            excludedAttributes=excludedAttributes,
            startIndex=startIndex,
            count=count,
            filter=filter,
        ),
    )


def scim_groups_create_group(
    *,
    attributes: str | Unset = UNSET,
    excludedAttributes: str | Unset = UNSET,
    schemas: Sequence[str] | Unset = UNSET,
    displayName: str | Unset | None = UNSET,
    externalId: str | Unset | None = UNSET,
    members: Sequence[ScimMemberInput] | Unset | None = UNSET,
) -> Call[ScimGroup]:
    """Create a group of the directory with these members, with a token that manages groups.

    attributes: Only these attributes, separated by commas.
    excludedAttributes: All attributes but these, separated by commas.
    schemas: The URN of the schema of groups.
    displayName: The name to show.
    externalId: The id of the group in the directory; null for none.
    members: The members.
    """
    return Call(
        method="POST",
        path="/scim/v2/Groups",
        query=query_of(attributes=attributes, excludedAttributes=excludedAttributes),
        body=body_of(schemas=schemas, displayName=displayName, externalId=externalId, members=members),
        media_type="application/scim+json",
    )


def scim_groups_show_group(
    group_id: str, *, attributes: str | Unset = UNSET, excludedAttributes: str | Unset = UNSET
) -> Call[ScimGroup]:
    """Show a group with all its members: the organization, or with a token that manages groups one of those.

    group_id: The id of the group.
    attributes: Only these attributes, separated by commas.
    excludedAttributes: All attributes but these, separated by commas.
    """
    return Call(
        method="GET",
        path=f"/scim/v2/Groups/{segment(group_id)}",
        query=query_of(attributes=attributes, excludedAttributes=excludedAttributes),
    )


def scim_groups_replace_group(
    group_id: str,
    *,
    attributes: str | Unset = UNSET,
    excludedAttributes: str | Unset = UNSET,
    schemas: Sequence[str] | Unset = UNSET,
    displayName: str | Unset | None = UNSET,
    externalId: str | Unset | None = UNSET,
    members: Sequence[ScimMemberInput] | Unset | None = UNSET,
) -> Call[ScimGroup]:
    """Replace the members: new ones get the role member, others keep theirs, absent ones are removed.

    group_id: The id of the group.
    attributes: Only these attributes, separated by commas.
    excludedAttributes: All attributes but these, separated by commas.
    schemas: The URN of the schema of groups.
    displayName: The name to show.
    externalId: The id of the group in the directory; null for none.
    members: The members.
    """
    return Call(
        method="PUT",
        path=f"/scim/v2/Groups/{segment(group_id)}",
        query=query_of(attributes=attributes, excludedAttributes=excludedAttributes),
        body=body_of(schemas=schemas, displayName=displayName, externalId=externalId, members=members),
        media_type="application/scim+json",
    )


def scim_groups_patch_group(
    group_id: str,
    *,
    Operations: Sequence[ScimPatchOperation],
    attributes: str | Unset = UNSET,
    excludedAttributes: str | Unset = UNSET,
    schemas: Sequence[str] | Unset = UNSET,
) -> Call[ScimGroup]:
    """Add or remove members; with a token that manages groups, rename the group, too.

    group_id: The id of the group.
    Operations: The changes, in order.
    attributes: Only these attributes, separated by commas.
    excludedAttributes: All attributes but these, separated by commas.
    schemas: The URNs of the schemas.
    """
    return Call(
        method="PATCH",
        path=f"/scim/v2/Groups/{segment(group_id)}",
        query=query_of(attributes=attributes, excludedAttributes=excludedAttributes),
        body=body_of(schemas=schemas, Operations=Operations),
        media_type="application/scim+json",
    )


def scim_groups_delete_group(group_id: str) -> Call[None]:
    """Delete a group of the directory with its rules; its members stay members of the organization.

    group_id: The id of the group.
    """
    return Call(method="DELETE", path=f"/scim/v2/Groups/{segment(group_id)}", answer="nothing")


def provisioning_log_read_log(
    slug: str, *, page: int | Unset = UNSET, limit: int | Unset = UNSET
) -> ListCall[ProvisioningLog, ProvisioningLogEntry]:
    """List what the directory did, the newest first.

    slug: The short name that paths contain. It never changes.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(slug)}/scim-log",
        query=query_of(page=page, limit=limit),
        items="entries",
        paging="page",
    )


def scim_discovery_show_service_provider_config(*, filter: str | Unset = UNSET) -> Call[dict[str, Any]]:
    """Show which features of SCIM are supported.

    filter: A filter, which is refused: these lists are always whole.
    """
    return Call(method="GET", path="/scim/v2/ServiceProviderConfig", query=query_of(filter=filter))


def scim_discovery_list_resource_types(*, filter: str | Unset = UNSET) -> Call[dict[str, Any]]:
    """List the types of resources: users and groups.

    filter: A filter, which is refused: these lists are always whole.
    """
    return Call(method="GET", path="/scim/v2/ResourceTypes", query=query_of(filter=filter))


def scim_discovery_show_resource_type(name: str, *, filter: str | Unset = UNSET) -> Call[dict[str, Any]]:
    """Show a type of resources.

    name: The name for people.
    filter: A filter, which is refused: these lists are always whole.
    """
    return Call(method="GET", path=f"/scim/v2/ResourceTypes/{segment(name)}", query=query_of(filter=filter))


def scim_discovery_list_schemas(*, filter: str | Unset = UNSET) -> Call[dict[str, Any]]:
    """List the schemas of users and groups, with the attributes that are kept.

    filter: A filter, which is refused: these lists are always whole.
    """
    return Call(method="GET", path="/scim/v2/Schemas", query=query_of(filter=filter))


def scim_discovery_show_schema(name: str, *, filter: str | Unset = UNSET) -> Call[dict[str, Any]]:
    """Show a schema by its URN.

    name: The name for people.
    filter: A filter, which is refused: these lists are always whole.
    """
    return Call(method="GET", path=f"/scim/v2/Schemas/{segment(name)}", query=query_of(filter=filter))


def scim_tokens_create_scim_token(
    org_slug: str, *, name: str, expires_at: str | Unset | None = UNSET, groups: str | Unset = UNSET
) -> Call[CreatedScimToken]:
    """Create a SCIM token. Store its secret: it cannot be shown again.

    org_slug: The slug of the organization.
    name: What the token is for, with 1 to 100 characters.
    expires_at: When the token expires; never by default.
    groups: What the directory finds under `/Groups`: `organization`, the organization as one group; or `directory`,
        groups that it creates, and that rules can give roles to.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/scim-tokens",
        body=body_of(name=name, expires_at=expires_at, groups=groups),
    )


def scim_tokens_list_scim_tokens(org_slug: str) -> ListCall[ScimTokenList, ScimToken]:
    """List the SCIM tokens of the organization, the newest first, also those that have expired.

    org_slug: The slug of the organization.
    """
    return ListCall(method="GET", path=f"/api/organizations/{segment(org_slug)}/scim-tokens", items="tokens")


def scim_tokens_revoke_scim_token(org_slug: str, token_id: str) -> Call[None]:
    """Revoke a SCIM token. It loses access at once.

    org_slug: The slug of the organization.
    token_id: The id of the token.
    """
    return Call(
        method="DELETE",
        path=f"/api/organizations/{segment(org_slug)}/scim-tokens/{segment(token_id)}",
        answer="nothing",
    )


def scim_users_list_users(
    *,
    attributes: str | Unset = UNSET,
    excludedAttributes: str | Unset = UNSET,
    startIndex: int | Unset = UNSET,
    count: int | Unset = UNSET,
    filter: str | Unset = UNSET,
) -> Call[ScimUserList]:
    """List the users of the organization, the oldest membership first.

    attributes: Only these attributes, separated by commas.
    excludedAttributes: All attributes but these, separated by commas.
    startIndex: The number of the first resource, counted from 1.
    count: How many resources at most, up to 1000; none for 0.
    filter: Only resources that this filter selects.
    """
    return Call(
        method="GET",
        path="/scim/v2/Users",
        query=query_of(
            attributes=attributes,
            excludedAttributes=excludedAttributes,
            startIndex=startIndex,
            count=count,
            filter=filter,
        ),
    )


def scim_users_create_user(
    *,
    userName: str,
    attributes: str | Unset = UNSET,
    excludedAttributes: str | Unset = UNSET,
    schemas: Sequence[str] | Unset = UNSET,
    externalId: str | Unset | None = UNSET,
    name: ScimNameInput | Unset | None = UNSET,
    displayName: str | Unset | None = UNSET,
    emails: Sequence[ScimEmailInput] | Unset | None = UNSET,
    active: bool | str | Unset | None = UNSET,
) -> Call[ScimUser]:
    """Make a person a member of the organization with the role member, and mail them that they are welcome.

    userName: The email address of the user, in any case; or a name of the directory for a user whose address is in
        emails.
    attributes: Only these attributes, separated by commas.
    excludedAttributes: All attributes but these, separated by commas.
    schemas: The URN of the schema of users.
    externalId: The id of the user in the directory; null for none.
    name: The name of the user; without one, it is derived from the address.
    displayName: The name to show.
    emails: The one address of the user.
    active: Whether the user has access to the organization; true by default.
    """
    return Call(
        method="POST",
        path="/scim/v2/Users",
        query=query_of(attributes=attributes, excludedAttributes=excludedAttributes),
        body=body_of(
            schemas=schemas,
            userName=userName,
            externalId=externalId,
            name=name,
            displayName=displayName,
            emails=emails,
            active=active,
        ),
        media_type="application/scim+json",
    )


def scim_users_show_user(
    user_id: str, *, attributes: str | Unset = UNSET, excludedAttributes: str | Unset = UNSET
) -> Call[ScimUser]:
    """Show a user of the organization.

    user_id: The id of the user.
    attributes: Only these attributes, separated by commas.
    excludedAttributes: All attributes but these, separated by commas.
    """
    return Call(
        method="GET",
        path=f"/scim/v2/Users/{segment(user_id)}",
        query=query_of(attributes=attributes, excludedAttributes=excludedAttributes),
    )


def scim_users_replace_user(
    user_id: str,
    *,
    userName: str,
    attributes: str | Unset = UNSET,
    excludedAttributes: str | Unset = UNSET,
    schemas: Sequence[str] | Unset = UNSET,
    externalId: str | Unset | None = UNSET,
    name: ScimNameInput | Unset | None = UNSET,
    displayName: str | Unset | None = UNSET,
    emails: Sequence[ScimEmailInput] | Unset | None = UNSET,
    active: bool | str | Unset | None = UNSET,
) -> Call[ScimUser]:
    """Replace a user. What equals the present user changes nothing.

    user_id: The id of the user.
    userName: The email address of the user, in any case; or a name of the directory for a user whose address is in
        emails.
    attributes: Only these attributes, separated by commas.
    excludedAttributes: All attributes but these, separated by commas.
    schemas: The URN of the schema of users.
    externalId: The id of the user in the directory; null for none.
    name: The name of the user; without one, it is derived from the address.
    displayName: The name to show.
    emails: The one address of the user.
    active: Whether the user has access to the organization; true by default.
    """
    return Call(
        method="PUT",
        path=f"/scim/v2/Users/{segment(user_id)}",
        query=query_of(attributes=attributes, excludedAttributes=excludedAttributes),
        body=body_of(
            schemas=schemas,
            userName=userName,
            externalId=externalId,
            name=name,
            displayName=displayName,
            emails=emails,
            active=active,
        ),
        media_type="application/scim+json",
    )


def scim_users_patch_user(
    user_id: str,
    *,
    Operations: Sequence[ScimPatchOperation],
    attributes: str | Unset = UNSET,
    excludedAttributes: str | Unset = UNSET,
    schemas: Sequence[str] | Unset = UNSET,
) -> Call[ScimUser]:
    """Change attributes of a user. Setting `active` to false ends the user's sessions, and takes their access.

    user_id: The id of the user.
    Operations: The changes, in order.
    attributes: Only these attributes, separated by commas.
    excludedAttributes: All attributes but these, separated by commas.
    schemas: The URNs of the schemas.
    """
    return Call(
        method="PATCH",
        path=f"/scim/v2/Users/{segment(user_id)}",
        query=query_of(attributes=attributes, excludedAttributes=excludedAttributes),
        body=body_of(schemas=schemas, Operations=Operations),
        media_type="application/scim+json",
    )


def scim_users_remove_user(user_id: str) -> Call[None]:
    """Delete a user whose account belongs to this organization alone; end the membership of any other.

    user_id: The id of the user.
    """
    return Call(method="DELETE", path=f"/scim/v2/Users/{segment(user_id)}", answer="nothing")


def webhooks_list_deliveries(
    org_slug: str,
    webhook_id: str,
    *,
    page: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    event_type: EventType | Unset = UNSET,
    delivered: bool | Unset = UNSET,
) -> ListCall[DeliveryList, Delivery]:
    """List the deliveries, newest first, each with what the last attempt got.

    org_slug: The slug of the organization.
    webhook_id: The id of the webhook.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    event_type: Only deliveries of events of this type.
    delivered: Only deliveries that have arrived, or only those that have not.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/webhooks/{segment(webhook_id)}/deliveries",
        query=query_of(page=page, limit=limit, event_type=event_type, delivered=delivered),
        items="deliveries",
        paging="page",
    )


def webhooks_redeliver(org_slug: str, webhook_id: str, delivery_id: str) -> Call[QueuedDelivery]:
    """Send a delivery again, with the same `webhook-id`.

    org_slug: The slug of the organization.
    webhook_id: The id of the webhook.
    delivery_id: The id of the delivery.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/webhooks/{segment(webhook_id)}/deliveries/{segment(delivery_id)}/redeliver",
    )


def read_events(
    slug: str,
    *,
    after: str | Unset = UNSET,
    types: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    wait: int | Unset = UNSET,
) -> ListCall[EventList, dict[str, Any]]:
    """Return the events after a cursor, the oldest first; without a cursor, from the oldest that is kept on.

    slug: The short name that paths contain. It never changes.
    after: A `next_cursor` of an earlier answer; without it, the list begins with the oldest event kept.
    types: Only events of these types, separated by commas.
    limit: At most how many events to list; more than 500 is lowered to 500.
    wait: For how many seconds to wait for the first event; more than 20 is lowered to 20.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(slug)}/events",
        query=query_of(after=after, types=types, limit=limit, wait=wait),
        items="events",
        paging="cursor",
        cursor="next_cursor",
    )


def webhooks_list_event_types(org_slug: str) -> ListCall[list[EventTypeItem], EventTypeItem]:
    """List the event types that a webhook can subscribe to.

    org_slug: The slug of the organization.
    """
    return ListCall(method="GET", path=f"/api/organizations/{segment(org_slug)}/webhooks/event-types")


def create_webhook(org_slug: str, *, name: str, url: str, events: Sequence[str]) -> Call[CreatedWebhook]:
    """Create a webhook. Keep its secret: it verifies the deliveries, and is shown only once.

    org_slug: The slug of the organization.
    name: The name for people.
    url: Where the events are sent: an http or https address that is not in a private network.
    events: The event types that are sent.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/webhooks",
        body=body_of(name=name, url=url, events=events),
    )


def list_webhooks(org_slug: str) -> ListCall[WebhookList, Webhook]:
    """List the webhooks, the oldest first.

    org_slug: The slug of the organization.
    """
    return ListCall(method="GET", path=f"/api/organizations/{segment(org_slug)}/webhooks", items="webhooks")


def show_webhook(org_slug: str, webhook_id: str) -> Call[Webhook]:
    """Show a webhook.

    org_slug: The slug of the organization.
    webhook_id: The id of the webhook.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(org_slug)}/webhooks/{segment(webhook_id)}")


def change_webhook(
    org_slug: str,
    webhook_id: str,
    *,
    name: str | Unset | None = UNSET,
    url: str | Unset | None = UNSET,
    events: Sequence[str] | Unset | None = UNSET,
    is_active: bool | Unset | None = UNSET,
) -> Call[Webhook]:
    """Change a webhook. An inactive one receives nothing.

    org_slug: The slug of the organization.
    webhook_id: The id of the webhook.
    name: The name for people.
    url: Where the events are sent: an http or https address that is not in a private network.
    events: The event types that are sent.
    is_active: Whether the webhook is active; an inactive one receives nothing.
    """
    return Call(
        method="PATCH",
        path=f"/api/organizations/{segment(org_slug)}/webhooks/{segment(webhook_id)}",
        body=body_of(name=name, url=url, events=events, is_active=is_active),
    )


def delete_webhook(org_slug: str, webhook_id: str) -> Call[Empty]:
    """Delete a webhook and the history of its deliveries.

    org_slug: The slug of the organization.
    webhook_id: The id of the webhook.
    """
    return Call(method="DELETE", path=f"/api/organizations/{segment(org_slug)}/webhooks/{segment(webhook_id)}")


def webhooks_rotate_secret(org_slug: str, webhook_id: str) -> Call[CreatedWebhook]:
    """Give a webhook a new secret. For 24 hours deliveries carry a signature by each of the two secrets.

    org_slug: The slug of the organization.
    webhook_id: The id of the webhook.
    """
    return Call(
        method="POST", path=f"/api/organizations/{segment(org_slug)}/webhooks/{segment(webhook_id)}/rotate-secret"
    )


def test_webhook(org_slug: str, webhook_id: str, *, event_type: EventType | Unset = UNSET) -> Call[QueuedDelivery]:
    """Send a test to this webhook alone; its result is in the list of deliveries.

    org_slug: The slug of the organization.
    webhook_id: The id of the webhook.
    event_type: The type of event as which the test is sent.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/webhooks/{segment(webhook_id)}/test",
        query=query_of(event_type=event_type),
    )


def webhooks_redeliver_failed(org_slug: str, webhook_id: str, *, since: str) -> Call[QueuedDeliveries]:
    """Send again what has failed for good since a moment, at most 10,000 deliveries; the oldest first.

    org_slug: The slug of the organization.
    webhook_id: The id of the webhook.
    since: Deliveries that were created since this moment and have failed for good are sent again.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(org_slug)}/webhooks/{segment(webhook_id)}/redeliver-failed",
        body=body_of(since=since),
    )


def analytics_login_trends(
    org_slug: str, *, start_date: date | str | Unset = UNSET, end_date: date | str | Unset = UNSET
) -> ListCall[list[DailyLogins], DailyLogins]:
    """Count the sign-ins of each day; days without any are left out.

    org_slug: The slug of the organization.
    start_date: The first day, in UTC; 30 days ago by default.
    end_date: The last day, in UTC; today by default.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/analytics/login-trends",
        query=query_of(start_date=start_date, end_date=end_date),
    )


def analytics_logins_by_service(
    org_slug: str, *, start_date: date | str | Unset = UNSET, end_date: date | str | Unset = UNSET
) -> ListCall[list[ServiceLogins], ServiceLogins]:
    """Count the sign-ins to each service, the most used first.

    org_slug: The slug of the organization.
    start_date: The first day, in UTC; 30 days ago by default.
    end_date: The last day, in UTC; today by default.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/analytics/logins-by-service",
        query=query_of(start_date=start_date, end_date=end_date),
    )


def analytics_logins_by_provider(
    org_slug: str, *, start_date: date | str | Unset = UNSET, end_date: date | str | Unset = UNSET
) -> ListCall[list[ProviderLogins], ProviderLogins]:
    """Count the sign-ins of each sign-in method, the most used first.

    org_slug: The slug of the organization.
    start_date: The first day, in UTC; 30 days ago by default.
    end_date: The last day, in UTC; today by default.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/analytics/logins-by-provider",
        query=query_of(start_date=start_date, end_date=end_date),
    )


def analytics_recent_logins(org_slug: str, *, limit: int | Unset = UNSET) -> ListCall[list[RecentLogin], RecentLogin]:
    """List the latest sign-ins, newest first; `limit` is lowered to 10,000.

    org_slug: The slug of the organization.
    limit: At most how many to list; more than 10,000 is lowered to 10,000.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/analytics/recent-logins",
        query=query_of(limit=limit),
    )


def read_audit_log(
    org_slug: str,
    *,
    page: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    action: AuditAction | Unset = UNSET,
    target_type: TargetType | Unset = UNSET,
    target_id: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    since: date | str | Unset = UNSET,
    until: date | str | Unset = UNSET,
    q: str | Unset = UNSET,
    before_id: str | Unset = UNSET,
) -> ListCall[AuditLogPageRecord, AuditLogEntryRecord]:
    """List the entries, newest first.

    org_slug: The slug of the organization.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    action: What was done.
    target_type: The type of what was changed.
    target_id: The id of what was changed.
    actor: Only what was done by this actor: an email address, or an id as `actor.id` has it.
    since: Only entries that were written at this time or later.
    until: Only entries that were written before this time.
    q: Only what was done from this IP address, or by the request with this id.
    before_id: Only entries that are listed after the one with this id, which are older.
    """
    return ListCall(
        method="GET",
        path=f"/api/organizations/{segment(org_slug)}/audit-log",
        query=query_of(
            page=page,
            limit=limit,
            action=action,
            target_type=target_type,
            target_id=target_id,
            actor=actor,
            since=since,
            until=until,
            q=q,
            before_id=before_id,
        ),
        items="logs",
        paging="page",
    )


def prove_audit_log(org_slug: str) -> Call[AuditLogProof]:
    """Prove what the log contains now: `head` is a JWS that names the last sealed position and its hash.

    org_slug: The slug of the organization.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(org_slug)}/audit-log/proof")


def export_audit_log(org_slug: str) -> Call[str]:
    """Export the sealed entries in the order of their positions, one JSON object on each line.

    org_slug: The slug of the organization.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(org_slug)}/audit-log/export", answer="text")


def audit_log_list_event_types(org_slug: str) -> ListCall[list[EventTypeItem], EventTypeItem]:
    """List every action that the log can contain, with a description for people.

    org_slug: The slug of the organization.
    """
    return ListCall(method="GET", path=f"/api/organizations/{segment(org_slug)}/audit-log/event-types")


def siem_configure_siem(
    slug: str,
    *,
    provider: SiemProvider,
    endpoint: str,
    token: str | Unset | None = UNSET,
    options: SiemOptions | Unset = UNSET,
    include: Sequence[SiemContent] | Unset | None = UNSET,
    event_filter: Sequence[str] | Unset | None = UNSET,
    enabled: bool | Unset = UNSET,
) -> Call[SiemConfiguration]:
    """Create the configuration, or replace it. A replaced one continues where the stream was.

    slug: The short name that paths contain. It never changes.
    provider: The interface of the receiver.
    endpoint: The address of the receiver, not in a private network.
    token: The token that the receiver asks for. Without it, the receiver at the same address keeps its token; an empty
        one removes it.
    options: What the receiver gets besides the entries.
    include: What is sent: `audit` for the audit log, `sign_ins` for the sign-ins. Without it, a new receiver gets both,
        and another one what it got.
    event_filter: Of the audit log, only actions that begin with one of these prefixes; null for all.
    enabled: Whether entries are sent.
    """
    return Call(
        method="POST",
        path=f"/api/organizations/{segment(slug)}/siem",
        body=body_of(
            provider=provider,
            endpoint=endpoint,
            token=token,
            options=options,
            include=include,
            event_filter=event_filter,
            enabled=enabled,
        ),
    )


def siem_show_siem(slug: str) -> Call[SiemConfiguration]:
    """Show the configuration without its token, and how far the stream is.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="GET", path=f"/api/organizations/{segment(slug)}/siem")


def siem_remove_siem(slug: str) -> Call[SiemRemoved]:
    """Delete the configuration. One that is created later does not go on where this one was.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="DELETE", path=f"/api/organizations/{segment(slug)}/siem")


def siem_restart_siem(slug: str, *, since: str | Unset | None = UNSET) -> Call[SiemConfiguration]:
    """Send the entries and sign-ins since a moment once more, or all of them without `since`, and go on from there.

    slug: The short name that paths contain. It never changes.
    since: The entries and sign-ins since this moment are sent again; null or left out for all of them.
    """
    return Call(method="POST", path=f"/api/organizations/{segment(slug)}/siem/restart", body=body_of(since=since))


def siem_test_siem(slug: str) -> Call[SiemTestResult]:
    """Send a test event with the stored configuration, also while it is disabled.

    slug: The short name that paths contain. It never changes.
    """
    return Call(method="POST", path=f"/api/organizations/{segment(slug)}/siem/test")


def privacy_export(user_id: str) -> Call[PersonalDataExport]:
    """Export the data of a user: for the user, an owner of one of their organizations, or a platform owner.

    user_id: The id of the user.
    """
    return Call(method="GET", path=f"/api/privacy/export/{segment(user_id)}")


def privacy_forget(user_id: str) -> Call[AnonymizedUser]:
    """Anonymize a user: for a caller who owns every organization of the user, or a platform owner.

    user_id: The id of the user.
    """
    return Call(method="DELETE", path=f"/api/privacy/forget/{segment(user_id)}")


def platform_audit_log_read_platform_audit_log(
    *,
    page: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    action: PlatformAction | Unset = UNSET,
    target_type: PlatformTargetType | Unset = UNSET,
    target_id: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    since: date | str | Unset = UNSET,
    until: date | str | Unset = UNSET,
    q: str | Unset = UNSET,
    before_id: str | Unset = UNSET,
) -> ListCall[PlatformAuditLogPageRecord, PlatformAuditLogEntryRecord]:
    """List the entries, newest first; an actor whose account was deleted is shown by id only.

    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    action: What was done.
    target_type: The type of what was changed.
    target_id: The id of what was changed.
    actor: Only what was done by this actor: an email address, or an id as `actor.id` has it.
    since: Only entries that were written at this time or later.
    until: Only entries that were written before this time.
    q: Only what was done from this IP address, or by the request with this id.
    before_id: Only entries that are listed after the one with this id, which are older.
    """
    return ListCall(
        method="GET",
        path="/api/platform/audit-log",
        query=query_of(
            page=page,
            limit=limit,
            action=action,
            target_type=target_type,
            target_id=target_id,
            actor=actor,
            since=since,
            until=until,
            q=q,
            before_id=before_id,
        ),
        items="logs",
        paging="page",
    )


def health_health() -> Call[Health]:
    """Show that the service runs, and its version."""
    return Call(method="GET", path="/health")


def health_ready() -> Call[Readiness]:
    """Show whether requests can be sent here: the database takes writes, and the service is not stopping."""
    return Call(method="GET", path="/health/ready")


def impersonation_impersonate(
    user_id: str,
    *,
    reason: str,
    org_slug: str | Unset | None = UNSET,
    service_slug: str | Unset | None = UNSET,
    customer: str | Unset | None = UNSET,
) -> Call[ImpersonationSession]:
    """Begin a session as another user, which lasts an hour at most; its refresh token works within that hour.

    user_id: The id of the user.
    reason: The reason, which is recorded.
    org_slug: The slug of the organization.
    service_slug: The slug of the service.
    customer: The customer of the service for which you act as the user, by its id or slug; null for none.
    """
    return Call(
        method="POST",
        path=f"/api/platform/impersonate/{segment(user_id)}",
        body=body_of(reason=reason, org_slug=org_slug, service_slug=service_slug, customer=customer),
    )


def platform_users_lift_limits_of_address(*, email: str) -> Call[LiftedLimits]:
    """Lift the limits of an address, whether or not an account has it: on failed sign-ins, and on mails to it.

    email: The email address.
    """
    return Call(method="POST", path="/api/platform/limits/lift", body=body_of(email=email))


def platform_users_lift_limits_of_user(user_id: str) -> Call[LiftedLimits]:
    """Lift the limits of the address of a user: on failed sign-ins, and on mails to it.

    user_id: The id of the user.
    """
    return Call(method="DELETE", path=f"/api/platform/users/{segment(user_id)}/limits")


def platform_users_lock_user(user_id: str) -> Call[None]:
    """Lock an account: void its password, end what it holds, and refuse every way in.

    user_id: The id of the user.
    """
    return Call(method="POST", path=f"/api/platform/users/{segment(user_id)}/lock", answer="nothing")


def platform_mails_list_mails(
    *,
    page: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    state: ListedMailState | Unset = UNSET,
    email: str | Unset = UNSET,
) -> ListCall[OutboxMailList, OutboxMail]:
    """List mails with their states, the newest first; they are kept for seven days.

    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    state: The state of the mails.
    email: The whole address of the recipient.
    """
    return ListCall(
        method="GET",
        path="/api/platform/mails",
        query=query_of(page=page, limit=limit, state=state, email=email),
        items="mails",
        paging="page",
    )


def platform_mails_retry_mail(mail_id: str) -> Call[RetriedMail]:
    """Send a mail that has failed, or that waits for its next attempt, at once.

    mail_id: The id of the mail.
    """
    return Call(method="POST", path=f"/api/platform/mails/{segment(mail_id)}/retry")


def platform_organizations_list_organization_members(
    id: str, *, search: str | Unset = UNSET, after: str | Unset = UNSET, limit: int | Unset = UNSET
) -> ListCall[OrganizationMemberList, OrganizationMemberItem]:
    """List the members of an organization, the oldest membership first.

    id: The unique id.
    search: Finds members whose address contains it.
    after: Where the list goes on: `next` of the answer before.
    limit: At most how many to list; more than 100 is lowered to 100.
    """
    return ListCall(
        method="GET",
        path=f"/api/platform/organizations/{segment(id)}/members",
        query=query_of(search=search, after=after, limit=limit),
        items="members",
        paging="cursor",
        cursor="next",
    )


def platform_multi_factor_authentication_status(user_id: str) -> Call[UserMfaStatus]:
    """Show the second factor of a user.

    user_id: The id of the user.
    """
    return Call(method="GET", path=f"/api/platform/users/{segment(user_id)}/mfa/status")


def platform_multi_factor_authentication_force_disable(user_id: str, *, reason: str) -> Call[None]:
    """Turn off the second factor of a user who has lost it.

    user_id: The id of the user.
    reason: The reason, which is recorded.
    """
    return Call(
        method="DELETE",
        path=f"/api/platform/users/{segment(user_id)}/mfa",
        body=body_of(reason=reason),
        answer="nothing",
    )


def platform_multi_factor_authentication_metrics() -> Call[MfaMetrics]:
    """Count the accounts with a second factor, and the failures and used backup codes of the last seven days."""
    return Call(method="GET", path="/api/platform/mfa/metrics")


def platform_multi_factor_authentication_suspicious() -> Call[MfaAlertList]:
    """List possible attacks on second factors in the last seven days, newest first, at most 100."""
    return Call(method="GET", path="/api/platform/mfa/suspicious")


def platform_organizations_list_organizations(
    *,
    limit: int | Unset = UNSET,
    offset: int | Unset = UNSET,
    status: OrganizationStatus | Unset = UNSET,
    tier_id: str | Unset = UNSET,
) -> ListCall[PlatformOrganizationList, PlatformOrganization]:
    """List organizations, the newest first.

    limit: At most how many to list; more than 100 is lowered to 100.
    offset: How many to skip.
    status: Only organizations in this state.
    tier_id: Only organizations of this tier.
    """
    return ListCall(
        method="GET",
        path="/api/platform/organizations",
        query=query_of(limit=limit, offset=offset, status=status, tier_id=tier_id),
        items="organizations",
        paging="offset",
    )


def platform_organizations_approve(id: str, *, tier_id: str | Unset | None = UNSET) -> Call[OrganizationRecord]:
    """Approve a pending organization.

    id: The unique id.
    tier_id: The id of the tier to begin in; by default the present one.
    """
    return Call(method="POST", path=f"/api/platform/organizations/{segment(id)}/approve", body=body_of(tier_id=tier_id))


def platform_organizations_reject(id: str, *, reason: str) -> Call[OrganizationRecord]:
    """Reject a pending organization, with a reason.

    id: The unique id.
    reason: The reason, which the members can read.
    """
    return Call(method="POST", path=f"/api/platform/organizations/{segment(id)}/reject", body=body_of(reason=reason))


def platform_organizations_suspend(id: str, *, reason: str | Unset | None = UNSET) -> Call[OrganizationRecord]:
    """Suspend an active organization.

    id: The unique id.
    reason: The reason, which the members can read.
    """
    return Call(method="POST", path=f"/api/platform/organizations/{segment(id)}/suspend", body=body_of(reason=reason))


def platform_organizations_activate(id: str) -> Call[OrganizationRecord]:
    """Reactivate a suspended organization.

    id: The unique id.
    """
    return Call(method="POST", path=f"/api/platform/organizations/{segment(id)}/activate")


def platform_organizations_delete_organization(id: str) -> Call[None]:
    """Delete an organization and everything that belongs to it, permanently.

    id: The unique id.
    """
    return Call(method="DELETE", path=f"/api/platform/organizations/{segment(id)}", answer="nothing")


def platform_owners_list_owners() -> ListCall[PlatformOwnerList, ListedPlatformOwner]:
    """List the platform owners, by their addresses."""
    return ListCall(method="GET", path="/api/platform/owners", items="owners")


def platform_owners_promote(*, user_id: str) -> Call[CreatedPlatformOwner]:
    """Make a user with a verified address a platform owner, with effect from their next request.

    user_id: The id of the user.
    """
    return Call(method="POST", path="/api/platform/owners", body=body_of(user_id=user_id))


def platform_owners_demote(user_id: str) -> Call[None]:
    """Demote a platform owner, with immediate effect; it also ends their impersonations.

    user_id: The id of the user.
    """
    return Call(method="DELETE", path=f"/api/platform/owners/{segment(user_id)}", answer="nothing")


def platform_users_end_sessions_of_user(user_id: str) -> Call[RevokedSessions]:
    """End all sessions of a user, with effect from their next request.

    user_id: The id of the user.
    """
    return Call(method="DELETE", path=f"/api/platform/users/{segment(user_id)}/sessions")


def platform_support_list_support() -> ListCall[PlatformSupportList, PlatformSupport]:
    """List the people of the platform's support, by their addresses."""
    return ListCall(method="GET", path="/api/platform/support", items="support")


def platform_support_appoint_support(*, email: str) -> Call[AppointedSupport]:
    """Appoint a user with a verified address and a second factor, with effect from their next request.

    email: The email address.
    """
    return Call(method="POST", path="/api/platform/support", body=body_of(email=email))


def platform_support_demote_support(user_id: str) -> Call[None]:
    """End the appointment of a user, with immediate effect; their sessions continue.

    user_id: The id of the user.
    """
    return Call(method="DELETE", path=f"/api/platform/support/{segment(user_id)}", answer="nothing")


def platform_organizations_list_tiers() -> ListCall[list[Tier], Tier]:
    """List the tiers, the smallest first; null means no limit."""
    return ListCall(method="GET", path="/api/platform/tiers")


def platform_organizations_create_tier(
    *, name: str, display_name: str, default_max_services: int | None, default_max_users: int | None, price_cents: int
) -> Call[Tier]:
    """Create a tier. Its name is for programs and never changes.

    name: The name for people.
    display_name: The name for people.
    default_max_services: How many services an organization can have; null for no limit.
    default_max_users: How many members an organization can have; null for no limit.
    price_cents: The price of a period, in cents of the currency.
    """
    return Call(
        method="POST",
        path="/api/platform/tiers",
        body=body_of(
            name=name,
            display_name=display_name,
            default_max_services=default_max_services,
            default_max_users=default_max_users,
            price_cents=price_cents,
        ),
    )


def platform_organizations_update_tier(
    id: str,
    *,
    display_name: str | Unset = UNSET,
    default_max_services: int | Unset | None = UNSET,
    default_max_users: int | Unset | None = UNSET,
    price_cents: int | Unset = UNSET,
) -> Call[Tier]:
    """Change a tier. Its organizations have the new limits from their next request on.

    id: The unique id.
    display_name: The name for people.
    default_max_services: How many services an organization can have; null for no limit.
    default_max_users: How many members an organization can have; null for no limit.
    price_cents: The price of a period, in cents of the currency.
    """
    return Call(
        method="PATCH",
        path=f"/api/platform/tiers/{segment(id)}",
        body=body_of(
            display_name=display_name,
            default_max_services=default_max_services,
            default_max_users=default_max_users,
            price_cents=price_cents,
        ),
    )


def platform_organizations_delete_tier(id: str) -> Call[None]:
    """Delete a tier that no organization has. The tier `free`, in which new organizations begin, cannot go.

    id: The unique id.
    """
    return Call(method="DELETE", path=f"/api/platform/tiers/{segment(id)}", answer="nothing")


def platform_organizations_change_tier(
    id: str,
    *,
    tier_id: str | Unset = UNSET,
    max_services: int | Unset | None = UNSET,
    max_users: int | Unset | None = UNSET,
) -> Call[OrganizationRecord]:
    """Change the tier of an organization, and set or remove its own limits: any of the fields, alone or together.

    id: The unique id.
    tier_id: The id of the tier.
    max_services: The organization's own limit of services; null for the tier's limit.
    max_users: The organization's own limit of members; null for the tier's limit.
    """
    return Call(
        method="PATCH",
        path=f"/api/platform/organizations/{segment(id)}/tier",
        body=body_of(tier_id=tier_id, max_services=max_services, max_users=max_users),
    )


def platform_users_search(
    *, email: str | Unset = UNSET, user_id: str | Unset = UNSET, limit: int | Unset = UNSET
) -> Call[UserSearchResult]:
    """Find users by a part of their email address, or by their id.

    email: A part of the email address.
    user_id: Only the user with this id.
    limit: At most how many to list; more than 100 is lowered to 100.
    """
    return Call(
        method="GET", path="/api/platform/users/search", query=query_of(email=email, user_id=user_id, limit=limit)
    )


def platform_users_show_user(user_id: str) -> Call[UserRecord]:
    """Show the record of a user: ways to sign in, limits, organizations, devices, sessions, sign-ins and mails.

    user_id: The id of the user.
    """
    return Call(method="GET", path=f"/api/platform/users/{segment(user_id)}")


def platform_users_resend_verification_to_user(user_id: str) -> Call[VerificationSent]:
    """Mail the link again that verifies a user's address; it is the mail that the user can request.

    user_id: The id of the user.
    """
    return Call(method="POST", path=f"/api/platform/users/{segment(user_id)}/resend-verification")


def platform_users_unlock_user(user_id: str) -> Call[None]:
    """Open a locked account again. It has no password until the user chooses one by a link to the address.

    user_id: The id of the user.
    """
    return Call(method="POST", path=f"/api/platform/users/{segment(user_id)}/unlock", answer="nothing")


def platform_users_explain_any_sign_in(
    *,
    email: str | Unset = UNSET,
    user_id: str | Unset = UNSET,
    organization: str | Unset = UNSET,
    service: str | Unset = UNSET,
    customer: str | Unset = UNSET,
    way: SignInWay | Unset = UNSET,
    connection_id: str | Unset = UNSET,
    network: str | Unset = UNSET,
) -> Call[ExplainedSignIn]:
    """Explain why any user cannot sign in to their account, to an organization or to one of its services.

    email: The email address.
    user_id: The id of the user.
    organization: The organization.
    service: The slug of the service of your token; empty without one.
    customer: A customer of the service, by its id or slug; it takes `service`.
    way: The way to sign in.
    connection_id: The id of the connection to the identity provider.
    network: The network of the client.
    """
    return Call(
        method="GET",
        path="/api/platform/why",
        query=query_of(
            email=email,
            user_id=user_id,
            organization=organization,
            service=service,
            customer=customer,
            way=way,
            connection_id=connection_id,
            network=network,
        ),
    )


def reference_openapi(*, pages: bool | Unset = UNSET) -> Call[dict[str, Any]]:
    """Describe the interface for programs as an OpenAPI 3.1 document; with `pages`, the pages for people too.

    pages: Whether the pages for people are described as well.
    """
    return Call(method="GET", path="/openapi.json", query=query_of(pages=pages))

"""The interface for the backend of a service, with an API key of the service.

Generated from the OpenAPI document by `generate.py`: do not change it by hand. A function returns a call, which the
`send` of `Gatehouse` or `AsyncGatehouse` sends, or `pages` where it is a list. What is left out is not sent, and None
is sent as null. `API_VERSION` is that of this module: its first number rises when a name has gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NotRequired, TypeAlias, TypedDict

from gatehouse_client.calls import UNSET, Call, ListCall, Unset, body_of, query_of, segment

API_VERSION: Final = "1.10"


Admission: TypeAlias = Literal["assigned", "everyone", "members"]


class CheckoutSession(TypedDict):
    """A checkout page of the provider; the names of the fields are the interface's."""

    checkout_url: str
    session_id: str


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


class CustomerOrganization(TypedDict):
    """The organization of a customer; its name is null until it has accepted."""

    slug: str
    name: str | None


class CustomerPerson(TypedDict):
    """A person of a customer, as the vendor sees them; `id` is the `sub` of their tokens."""

    id: str
    email: str
    name: str | None
    service_roles: list[str]
    own_roles: list[str]
    last_sign_in_at: str | None
    metadata: dict[str, Any]


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


CustomerState: TypeAlias = Literal["active", "offered", "paused"]


class CustomerTokenList(TypedDict):
    """The tokens of a customer, and their number."""

    tokens: list[CustomerScimToken]
    total: int


class CustomerUsageRecord(TypedDict):
    """How many people have used a service for one of its customers."""

    customer_id: str
    external_id: str | None
    active_people: int


class CustomerUserList(TypedDict):
    """A page of the people of a customer, and their total number."""

    users: list[CustomerPerson]
    total: int


GroupsAs: TypeAlias = Literal["ids", "names", "objects"]


Individuals: TypeAlias = Literal["all", "none", "others"]


class PeopleOfMonth(TypedDict):
    """How many people have used a service for a customer in a month."""

    month: str
    active_people: int


class PlanCount(TypedDict):
    """How many users are subscribed to a plan."""

    plan_id: str
    plan_name: str
    count: int


class PortalOpened(TypedDict):
    """The address of the portal; anyone who has it can use the portal for a while."""

    portal_url: str


ProofStatus: TypeAlias = Literal["failing", "pending", "verified"]


class ProviderCount(TypedDict):
    """How many sign-ins were made with a provider, such as `password`."""

    provider: str
    count: int


SecurityProfile: TypeAlias = Literal["fapi2"]


class ServiceAnalytics(TypedDict):
    """Figures about a service: its users, their sign-ins of the last 30 days, and their active subscriptions."""

    total_users: int
    active_users_30d: int
    new_users_30d: int
    total_logins_30d: int
    active_subscriptions: int
    subscriptions_by_plan: list[PlanCount]
    logins_by_provider: list[ProviderCount]


class ServiceAssignment(TypedDict):
    """A subject of the organization that the service is assigned to, with roles of the service."""

    subject: str
    roles: NotRequired[list[str]]


# A claim of the product, and its source; access tokens have it where `in_access_token` says so.
ServiceClaim = TypedDict("ServiceClaim", {"claim": "str", "from": "str", "in_access_token": "NotRequired[bool]"})


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


class ServiceUserList(TypedDict):
    """A page of users, and their total number."""

    users: list[ServiceUser]
    total: int


class SetupAttempt(TypedDict):
    """When something was last tried or used, and whether that succeeded; `reason` is why it did not, None otherwise."""

    at: str
    succeeded: bool
    reason: str | None


SetupPart: TypeAlias = Literal["groups", "mail_domain", "scim", "upstream"]


SignatureAlgorithm: TypeAlias = Literal["ES256", "RS256"]


class SubscriptionList(TypedDict):
    """A page of subscriptions, and the number of those that match."""

    subscriptions: list[SubscriptionRecord]
    total: int


class SubscriptionRecord(TypedDict):
    """The subscription of a user to a plan."""

    id: str
    user_id: str
    plan_id: str
    plan_name: str
    status: SubscriptionStatus
    current_period_end: str | None


SubscriptionStatus: TypeAlias = Literal["active", "cancelled", "expired", "past_due"]


class UsageOfMonth(TypedDict):
    """How many people have used a service for its customers in a month."""

    month: str
    customers: list[CustomerUsageRecord]
    active_people: int


def list_customer_connections(customer_id: str) -> ListCall[CustomerConnectionList, CustomerConnectionRecord]:
    """List the connections of a customer that you have made, the oldest first.

    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return ListCall(
        method="GET", path=f"/api/service/customers/{segment(customer_id)}/connections", items="connections"
    )


def create_customer_connection(
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
        path=f"/api/service/customers/{segment(customer_id)}/connections",
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


def show_customer_connection(customer_id: str, provider_id: str) -> Call[CustomerConnectionRecord]:
    """Show a connection of a customer, without its secret.

    customer_id: The id of the customer: of the record between the service and the organization.
    provider_id: The id of the connection.
    """
    return Call(method="GET", path=f"/api/service/customers/{segment(customer_id)}/connections/{segment(provider_id)}")


def change_customer_connection(
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
        path=f"/api/service/customers/{segment(customer_id)}/connections/{segment(provider_id)}",
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


def delete_customer_connection(customer_id: str, provider_id: str) -> Call[None]:
    """Delete a connection of a customer with its mail domains. The sessions that began by it end.

    customer_id: The id of the customer: of the record between the service and the organization.
    provider_id: The id of the connection.
    """
    return Call(
        method="DELETE",
        path=f"/api/service/customers/{segment(customer_id)}/connections/{segment(provider_id)}",
        answer="nothing",
    )


def list_customer_group_rules(customer_id: str) -> ListCall[CustomerRuleList, CustomerRuleRecord]:
    """List the group rules of a customer, the oldest first.

    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return ListCall(
        method="GET", path=f"/api/service/customers/{segment(customer_id)}/group-rules", items="group_rules"
    )


def create_customer_group_rule(
    customer_id: str, *, group: str, service_roles: Sequence[str], source: str | Unset = UNSET
) -> Call[CustomerRuleRecord]:
    """Make a rule by which a group of a customer gives roles of the service.

    customer_id: The id of the customer: of the record between the service and the organization.
    group: The id of a group of the directory, or exactly the value that a connection asserts.
    service_roles: Names of roles of the service, at least one.
    source: `scim` for a group of the directory, else the id of the connection that asserts it.
    """
    return Call(
        method="POST",
        path=f"/api/service/customers/{segment(customer_id)}/group-rules",
        body=body_of(group=group, service_roles=service_roles, source=source),
    )


def show_customer_group_rule(customer_id: str, rule_id: str) -> Call[CustomerRuleRecord]:
    """Show a group rule of a customer.

    customer_id: The id of the customer: of the record between the service and the organization.
    rule_id: The id of the rule.
    """
    return Call(method="GET", path=f"/api/service/customers/{segment(customer_id)}/group-rules/{segment(rule_id)}")


def change_customer_group_rule(
    customer_id: str, rule_id: str, *, service_roles: Sequence[str]
) -> Call[CustomerRuleRecord]:
    """Change which roles a group of a customer gives.

    customer_id: The id of the customer: of the record between the service and the organization.
    rule_id: The id of the rule.
    service_roles: Names of roles of the service, at least one.
    """
    return Call(
        method="PATCH",
        path=f"/api/service/customers/{segment(customer_id)}/group-rules/{segment(rule_id)}",
        body=body_of(service_roles=service_roles),
    )


def delete_customer_group_rule(customer_id: str, rule_id: str) -> Call[None]:
    """Delete a group rule of a customer, which gives its roles no longer.

    customer_id: The id of the customer: of the record between the service and the organization.
    rule_id: The id of the rule.
    """
    return Call(
        method="DELETE",
        path=f"/api/service/customers/{segment(customer_id)}/group-rules/{segment(rule_id)}",
        answer="nothing",
    )


def list_customer_mail_domains(customer_id: str) -> ListCall[CustomerDomainList, CustomerMailDomain]:
    """List the mail domains of a customer by their names.

    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return ListCall(
        method="GET", path=f"/api/service/customers/{segment(customer_id)}/mail-domains", items="mail_domains"
    )


def create_customer_mail_domain(customer_id: str, *, domain: str, provider_id: str) -> Call[CustomerMailDomain]:
    """Claim a mail domain for a customer. It routes nothing before it is verified.

    customer_id: The id of the customer: of the record between the service and the organization.
    domain: The domain of the email address.
    provider_id: The id of the connection.
    """
    return Call(
        method="POST",
        path=f"/api/service/customers/{segment(customer_id)}/mail-domains",
        body=body_of(domain=domain, provider_id=provider_id),
    )


def show_customer_mail_domain(customer_id: str, domain_id: str) -> Call[CustomerMailDomain]:
    """Show a mail domain of a customer, with the record that proves it.

    customer_id: The id of the customer: of the record between the service and the organization.
    domain_id: The id of the mail domain.
    """
    return Call(method="GET", path=f"/api/service/customers/{segment(customer_id)}/mail-domains/{segment(domain_id)}")


def delete_customer_mail_domain(customer_id: str, domain_id: str) -> Call[None]:
    """Give a mail domain of a customer up. Its addresses no longer lead to the connection.

    customer_id: The id of the customer: of the record between the service and the organization.
    domain_id: The id of the mail domain.
    """
    return Call(
        method="DELETE",
        path=f"/api/service/customers/{segment(customer_id)}/mail-domains/{segment(domain_id)}",
        answer="nothing",
    )


def verify_customer_mail_domain(customer_id: str, domain_id: str) -> Call[CustomerMailDomain]:
    """Ask the name servers of the domain for the TXT record now.

    customer_id: The id of the customer: of the record between the service and the organization.
    domain_id: The id of the mail domain.
    """
    return Call(
        method="POST", path=f"/api/service/customers/{segment(customer_id)}/mail-domains/{segment(domain_id)}/verify"
    )


def list_customer_scim_tokens(customer_id: str) -> ListCall[CustomerTokenList, CustomerScimToken]:
    """List the SCIM tokens of a customer, the newest first, also those that have expired.

    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return ListCall(method="GET", path=f"/api/service/customers/{segment(customer_id)}/scim-tokens", items="tokens")


def create_customer_scim_token(
    customer_id: str, *, name: str, expires_at: str | Unset | None = UNSET
) -> Call[CreatedCustomerToken]:
    """Make a SCIM token for a customer. Store its secret: it cannot be shown again.

    customer_id: The id of the customer: of the record between the service and the organization.
    name: What the token is for, with 1 to 100 characters.
    expires_at: When it expires.
    """
    return Call(
        method="POST",
        path=f"/api/service/customers/{segment(customer_id)}/scim-tokens",
        body=body_of(name=name, expires_at=expires_at),
    )


def revoke_customer_scim_token(customer_id: str, token_id: str) -> Call[None]:
    """Revoke a SCIM token of a customer. It loses access at once.

    customer_id: The id of the customer: of the record between the service and the organization.
    token_id: The id of the token.
    """
    return Call(
        method="DELETE",
        path=f"/api/service/customers/{segment(customer_id)}/scim-tokens/{segment(token_id)}",
        answer="nothing",
    )


def list_customer_setup_links(customer_id: str) -> ListCall[CustomerLinkList, CustomerLinkRecord]:
    """List the valid setup links of a customer, the newest first.

    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return ListCall(
        method="GET", path=f"/api/service/customers/{segment(customer_id)}/setup-links", items="setup_links"
    )


def create_customer_setup_link(
    customer_id: str,
    *,
    parts: Sequence[str],
    expires_in_minutes: int | Unset = UNSET,
    return_url: str | Unset | None = UNSET,
    actor: str | Unset | None = UNSET,
) -> Call[CreatedCustomerLink]:
    """Make a setup link for a customer. Keep its address: it is shown only once.

    customer_id: The id of the customer: of the record between the service and the organization.
    parts: Of `upstream`, `mail_domain`, `scim` and `groups`.
    expires_in_minutes: For how many minutes the link is valid.
    return_url: Where the pages lead back to after each part: an address at the origin of one of the redirect URIs of
        the service, also with a path and a query.
    actor: Who uses the link; both logs show it as reported by you.
    """
    return Call(
        method="POST",
        path=f"/api/service/customers/{segment(customer_id)}/setup-links",
        body=body_of(parts=parts, expires_in_minutes=expires_in_minutes, return_url=return_url, actor=actor),
    )


def revoke_customer_setup_link(customer_id: str, link_id: str) -> Call[None]:
    """Revoke a setup link of a customer, which ends what was begun with it at once.

    customer_id: The id of the customer: of the record between the service and the organization.
    link_id: The id of the link.
    """
    return Call(
        method="DELETE",
        path=f"/api/service/customers/{segment(customer_id)}/setup-links/{segment(link_id)}",
        answer="nothing",
    )


def read_analytics() -> Call[ServiceAnalytics]:
    """Show figures about your service: its users, their sign-ins of the last 30 days, and active subscriptions."""
    return Call(method="GET", path="/api/service/analytics")


def list_subscriptions(
    *, limit: int | Unset = UNSET, offset: int | Unset = UNSET, status: SubscriptionStatus | Unset = UNSET
) -> ListCall[SubscriptionList, SubscriptionRecord]:
    """List the subscriptions to your service, the newest first.

    limit: At most how many to list; more than 100 is lowered to 100.
    offset: How many to skip.
    status: The state.
    """
    return ListCall(
        method="GET",
        path="/api/service/subscriptions",
        query=query_of(limit=limit, offset=offset, status=status),
        items="subscriptions",
        paging="offset",
    )


def create_subscription(
    *,
    user_id: str,
    plan_id: str,
    status: SubscriptionStatus | Unset = UNSET,
    current_period_end: str | Unset | None = UNSET,
) -> Call[SubscriptionRecord]:
    """Subscribe a user of your service to one of its plans.

    user_id: The id of the user.
    plan_id: The id of the plan.
    status: The state.
    current_period_end: When the paid period ends; null if it has no end.
    """
    return Call(
        method="POST",
        path="/api/service/subscriptions",
        body=body_of(user_id=user_id, plan_id=plan_id, status=status, current_period_end=current_period_end),
    )


def show_subscription(user_id: str) -> Call[SubscriptionRecord]:
    """Show a user's subscription: the active one, or else the newest.

    user_id: The id of the user.
    """
    return Call(method="GET", path=f"/api/service/subscriptions/{segment(user_id)}")


def change_subscription(
    user_id: str,
    *,
    status: SubscriptionStatus | Unset | None = UNSET,
    current_period_end: str | Unset | None = UNSET,
    plan_id: str | Unset | None = UNSET,
) -> Call[SubscriptionRecord]:
    """Change a user's subscription: the active one, or else the newest.

    user_id: The id of the user.
    status: The state.
    current_period_end: When the paid period ends; null if it has no end.
    plan_id: The id of the plan.
    """
    return Call(
        method="PATCH",
        path=f"/api/service/subscriptions/{segment(user_id)}",
        body=body_of(status=status, current_period_end=current_period_end, plan_id=plan_id),
    )


def delete_subscription(user_id: str) -> Call[None]:
    """Delete a user's subscription, and their earlier ones. The default plan holds for the user from then on.

    user_id: The id of the user.
    """
    return Call(method="DELETE", path=f"/api/service/subscriptions/{segment(user_id)}", answer="nothing")


def start_user_checkout(user_id: str, *, plan_id: str, success_url: str, cancel_url: str) -> Call[CheckoutSession]:
    """Start buying a plan for a user of your service: lead their browser to `checkout_url` to pay.

    user_id: The id of the user.
    plan_id: The id of the plan.
    success_url: `{CHECKOUT_SESSION_ID}` in it becomes the session's id.
    cancel_url: Where the buyer returns without paying.
    """
    return Call(
        method="POST",
        path=f"/api/service/users/{segment(user_id)}/checkout",
        body=body_of(plan_id=plan_id, success_url=success_url, cancel_url=cancel_url),
    )


def list_customers(
    *, limit: int | Unset = UNSET, offset: int | Unset = UNSET, q: str | Unset = UNSET
) -> ListCall[CustomerList, CustomerRecord]:
    """List the customers and open offers of your service, the newest first.

    limit: At most how many to list; more than 100 is lowered to 100.
    offset: How many to skip.
    q: Finds customers and offers whose slug or external id contains it, and customers whose name does.
    """
    return ListCall(
        method="GET",
        path="/api/service/customers",
        query=query_of(limit=limit, offset=offset, q=q),
        items="customers",
        paging="offset",
    )


def offer_service(*, organization: str, external_id: str | Unset | None = UNSET) -> Call[CustomerRecord]:
    """Offer the service to another organization, which has 30 days to accept.

    organization: The slug of the organization; the answer is the same whether there is one.
    external_id: Your own id of the customer, with 1 to 255 characters; unique among the customers and offers of the
        service. Tokens name it as `customer_external_id`.
    """
    return Call(
        method="POST", path="/api/service/customers", body=body_of(organization=organization, external_id=external_id)
    )


def make_customer(
    *, name: str, external_id: str | Unset | None = UNSET, owner_email: str | Unset | None = UNSET
) -> Call[CustomerRecord]:
    """Make an organization for a customer, which no person owns yet; it uses the service at once.

    name: The name of the customer, for which an organization is made that no person owns yet.
    external_id: Your own id of the customer, with 1 to 255 characters; unique among the customers and offers of the
        service. Tokens name it as `customer_external_id`.
    owner_email: With a name: the address to which the link is mailed that makes its reader the owner of the new
        organization.
    """
    return Call(
        method="POST",
        path="/api/service/customers",
        body=body_of(name=name, external_id=external_id, owner_email=owner_email),
    )


def show_customer(customer_id: str) -> Call[CustomerRecord]:
    """Show a customer or an open offer of your service.

    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return Call(method="GET", path=f"/api/service/customers/{segment(customer_id)}")


def change_customer(
    customer_id: str,
    *,
    external_id: str | Unset | None = UNSET,
    paused: bool | Unset = UNSET,
    metadata: Mapping[str, str | bool | int | float | list[str] | None] | Unset | None = UNSET,
) -> Call[CustomerRecord]:
    """Change your own id of a customer and its metadata, or pause it.

    customer_id: The id of the customer: of the record between the service and the organization.
    external_id: Your own id of the customer, with 1 to 255 characters; unique among the customers and offers of the
        service. Tokens name it as `customer_external_id`.
    paused: Whether you have paused it. The customer's own pause is apart.
    metadata: The names to set, with a text, a number, true, false or a list of texts; null takes one away, and null
        alone all of them. At most 50 names of `A-Za-z0-9_.-`, and 4096 bytes as compact JSON.
    """
    return Call(
        method="PATCH",
        path=f"/api/service/customers/{segment(customer_id)}",
        body=body_of(external_id=external_id, paused=paused, metadata=metadata),
    )


def end_customer(customer_id: str) -> Call[None]:
    """Withdraw an offer, or end the use of your service by a customer.

    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return Call(method="DELETE", path=f"/api/service/customers/{segment(customer_id)}", answer="nothing")


def restore_customer(customer_id: str) -> Call[CustomerRecord]:
    """Restore a customer that no person owned when you ended it, within 14 days.

    customer_id: The id of the customer: of the record between the service and the organization.
    """
    return Call(method="POST", path=f"/api/service/customers/{segment(customer_id)}/restore")


def name_owner(customer_id: str, *, email: str) -> Call[CustomerRecord]:
    """Mail a link that makes its reader the owner of the organization that you have made for a customer.

    customer_id: The id of the customer: of the record between the service and the organization.
    email: The email address.
    """
    return Call(method="POST", path=f"/api/service/customers/{segment(customer_id)}/owner", body=body_of(email=email))


def read_info() -> Call[ServiceRecord]:
    """Show your service."""
    return Call(method="GET", path="/api/service/info")


def change_info(
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
    """Change your service. Lists are replaced, not merged.

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
        path="/api/service/info",
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


def open_user_portal(user_id: str, *, return_url: str) -> Call[PortalOpened]:
    """Open the billing portal of a user of your service: what they have bought through it, and nothing else.

    user_id: The id of the user.
    return_url: Where the portal leads back to.
    """
    return Call(
        method="POST", path=f"/api/service/users/{segment(user_id)}/portal", body=body_of(return_url=return_url)
    )


def show_customer_usage(customer_id: str, *, month: str) -> Call[PeopleOfMonth]:
    """Count the people who have used your service for a customer in a month: who has signed in, or stayed signed in.

    customer_id: The id of the customer: of the record between the service and the organization.
    month: The month by UTC, as `2026-11`, which may not be over yet.
    """
    return Call(method="GET", path=f"/api/service/customers/{segment(customer_id)}/usage", query=query_of(month=month))


def show_service_usage(*, month: str) -> Call[UsageOfMonth]:
    """Count the people who have used your service for its customers in a month, for each customer and in all.

    month: The month by UTC, as `2026-11`, which may not be over yet.
    """
    return Call(method="GET", path="/api/service/usage", query=query_of(month=month))


def list_users(*, limit: int | Unset = UNSET, offset: int | Unset = UNSET) -> ListCall[ServiceUserList, ServiceUser]:
    """List the users of your service, the newest accounts first.

    limit: At most how many to list; more than 100 is lowered to 100.
    offset: How many to skip.
    """
    return ListCall(
        method="GET",
        path="/api/service/users",
        query=query_of(limit=limit, offset=offset),
        items="users",
        paging="offset",
    )


def add_user(*, email: str) -> Call[ServiceUser]:
    """Add a user by email address; if there is no account with it, one is created, without a password.

    email: The email address of the account.
    """
    return Call(method="POST", path="/api/service/users", body=body_of(email=email))


def show_user(user_id: str) -> Call[ServiceUser]:
    """Show a user of your service.

    user_id: The id of the user.
    """
    return Call(method="GET", path=f"/api/service/users/{segment(user_id)}")


def change_user(
    user_id: str,
    *,
    email: str | Unset | None = UNSET,
    metadata: Mapping[str, str | bool | int | float | list[str] | None] | Unset | None = UNSET,
) -> Call[ServiceUser]:
    """Change the metadata of a user, and the email address of one whose account is yours alone.

    user_id: The id of the user.
    email: The email address.
    metadata: The names to set, with a text, a number, true, false or a list of texts; null takes one away, and null
        alone all of them. At most 50 names of `A-Za-z0-9_.-`, and 4096 bytes as compact JSON.
    """
    return Call(
        method="PATCH", path=f"/api/service/users/{segment(user_id)}", body=body_of(email=email, metadata=metadata)
    )


def remove_user(user_id: str) -> Call[None]:
    """Remove a user from your service: subscriptions, sessions and sign-ins to it are deleted.

    user_id: The id of the user.
    """
    return Call(method="DELETE", path=f"/api/service/users/{segment(user_id)}", answer="nothing")


def list_customer_users(
    customer_id: str,
    *,
    page: int | Unset = UNSET,
    limit: int | Unset = UNSET,
    q: str | Unset = UNSET,
    role: str | Unset = UNSET,
    after: str | Unset = UNSET,
) -> ListCall[CustomerUserList, CustomerPerson]:
    """List the people of a customer, by their ids, which are the `sub` of their tokens.

    customer_id: The id of the customer: of the record between the service and the organization.
    page: The number of the page, from 1.
    limit: At most how many to list; more than 100 is lowered to 100.
    q: Finds people whose address or name contains it.
    role: Finds people who have this role of the service, given by you or by the customer.
    after: The id of the last person of the page before, for a program that reads many people: it names this instead of
        the page.
    """
    return ListCall(
        method="GET",
        path=f"/api/service/customers/{segment(customer_id)}/users",
        query=query_of(page=page, limit=limit, q=q, role=role, after=after),
        items="users",
        paging="last_id",
    )


def set_customer_user_roles(customer_id: str, user_id: str, *, roles: Sequence[str]) -> Call[CustomerPerson]:
    """Give a person who has signed in for a customer roles of your own, for this customer alone.

    customer_id: The id of the customer: of the record between the service and the organization.
    user_id: The id of the user.
    roles: Names of roles of the service, which replace those that you gave before; an empty list takes them away.
    """
    return Call(
        method="PUT",
        path=f"/api/service/customers/{segment(customer_id)}/users/{segment(user_id)}",
        body=body_of(roles=roles),
    )

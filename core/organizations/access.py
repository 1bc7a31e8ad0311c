"""Access control: capabilities, the roles that include them, and what each operation requires (ops/decisions/0012).

A route declares its operation, and `authorization.py` decides whether the caller may do it.

A route that makes a credential, or says where one leads, has an operation of its own in `_MAKES_CREDENTIAL`;
`_ALSO_TAKES` says what else its maker must be allowed to do. Its use case calls `record_maker` of
`departures.py`, and `core/platform/doctor.py` has a line for its kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, StrEnum
from typing import Final

from core.organizations.organizations import ADMIN, MEMBER, OWNER, OrganizationStatus
from core.tables import PartialTable


class Capability(StrEnum):
    """A permission that a role may include."""

    ORG_SETTINGS_MANAGE = "org.settings.manage"
    ORG_MEMBERS_VIEW = "org.members.view"
    ORG_MEMBERS_MANAGE = "org.members.manage"
    ORG_ROLES_MANAGE = "org.roles.manage"
    BILLING_MANAGE = "billing.manage"
    SERVICES_VIEW = "services.view"
    SERVICES_CREATE = "services.create"
    SERVICES_MANAGE = "services.manage"
    END_USERS_VIEW = "end_users.view"
    END_USERS_MANAGE = "end_users.manage"
    WEBHOOKS_MANAGE = "webhooks.manage"
    INTEGRATIONS_MANAGE = "integrations.manage"
    AUDIT_LOGS_VIEW = "audit_logs.view"
    ANALYTICS_VIEW = "analytics.view"
    PRODUCTS_MANAGE = "products.manage"


_ALL: Final = frozenset(Capability)
# The capabilities of every member.
_VIEWS: Final = frozenset(
    {Capability.ORG_MEMBERS_VIEW, Capability.SERVICES_VIEW, Capability.END_USERS_VIEW, Capability.ANALYTICS_VIEW}
)
_BUILT_IN: Final = {OWNER: _ALL, ADMIN: _ALL, MEMBER: _VIEWS}
# A capability that manages or creates a thing includes the view of it.
_IMPLIED: Final = PartialTable(
    {
        Capability.ORG_MEMBERS_MANAGE: Capability.ORG_MEMBERS_VIEW,
        Capability.SERVICES_CREATE: Capability.SERVICES_VIEW,
        Capability.SERVICES_MANAGE: Capability.SERVICES_VIEW,
        Capability.END_USERS_MANAGE: Capability.END_USERS_VIEW,
    }
)


def implied_by(chosen: Iterable[str]) -> frozenset[Capability]:
    """Return the capabilities chosen for a role or a key, with the views that they include."""
    named = frozenset(map(Capability, chosen))
    return named | {implied for one in named if (implied := _IMPLIED.get(one)) is not None}


def capabilities_of(role: str, custom_permissions: Iterable[str] | None) -> frozenset[Capability]:
    """Return the capabilities of a role; a custom role has the ones it lists, and the views that they include."""
    return _BUILT_IN[role] if role in _BUILT_IN else implied_by(custom_permissions or ())


def allows_no_less(held: frozenset[Capability], wanted: frozenset[Capability]) -> bool:
    """Return whether capabilities include others, besides what members view."""
    return wanted - _VIEWS <= held


class RequiredStanding(StrEnum):
    """What an operation may require instead of a capability."""

    MEMBER = "member"
    # Not a custom role, whatever it allows.
    ADMIN = "owner or admin"
    OWNER = "owner"
    # No operation takes it. It is what an impersonator lacks, whatever the role, for what outlasts the impersonation.
    IN_PERSON = "in person"


class WhileImpersonating(Enum):
    """Whether an operation is open while a platform owner impersonates the caller.

    An impersonation ends within an hour, and an impersonator makes or changes nothing that outlasts it in another hand:
    no credential, no ownership, no role above `member`, no address to which a credential leads. Nor do they delete what
    cannot be brought back. Each operation declares its value, so that a new one cannot forget it.
    """

    READS = "it changes nothing"
    TAKES_AWAY = "it revokes, removes, ends or tries what exists, and gives no access"
    HARMLESS = "its changes last, and give no access"
    # The use case calls `OrganizationAccess.forbid_lasting` for what outlasts the impersonation.
    JUDGED = "some of its changes are refused"
    CLOSED = "it is refused"


_ACTIVE: Final = frozenset({OrganizationStatus.ACTIVE})
_ANY_STATUS: Final = frozenset(OrganizationStatus)
_READS: Final = WhileImpersonating.READS
_TAKES_AWAY: Final = WhileImpersonating.TAKES_AWAY
_HARMLESS: Final = WhileImpersonating.HARMLESS
_JUDGED: Final = WhileImpersonating.JUDGED
_CLOSED: Final = WhileImpersonating.CLOSED


class Operation(Enum):
    """An operation in an organization: what it requires, and in which statuses of the organization it is allowed.

    The last value says whether it is open while a platform owner impersonates the caller.
    """

    ORGANIZATION_READ = ("read the organization", RequiredStanding.MEMBER, _ANY_STATUS, _READS)
    ORGANIZATION_UPDATE = ("change the organization", Capability.ORG_SETTINGS_MANAGE, _ACTIVE, _JUDGED)
    ORGANIZATION_DELETE = (
        "delete the organization",
        RequiredStanding.OWNER,
        _ANY_STATUS - {OrganizationStatus.SUSPENDED},
        _CLOSED,
    )
    JOBS_READ = ("read and stop the jobs", RequiredStanding.MEMBER, _ACTIVE, _TAKES_AWAY)
    ORGANIZATION_SELECT = ("select the organization", RequiredStanding.MEMBER, _ACTIVE, _HARMLESS)
    ORGANIZATION_LEAVE = ("leave the organization", RequiredStanding.MEMBER, _ANY_STATUS, _CLOSED)
    OWNERSHIP_TRANSFER = ("transfer the ownership", RequiredStanding.OWNER, _ACTIVE, _CLOSED)
    MEMBERS_LIST = ("list the members", Capability.ORG_MEMBERS_VIEW, _ACTIVE, _READS)
    MEMBER_CHANGE = ("change a member's role", RequiredStanding.OWNER, _ACTIVE, _JUDGED)
    MEMBER_REMOVE = ("remove a member", Capability.ORG_MEMBERS_MANAGE, _ACTIVE, _TAKES_AWAY)
    GROUPS_READ = ("read the groups and their rules", Capability.ORG_MEMBERS_VIEW, _ACTIVE, _READS)
    GROUP_RULES_CHANGE = ("change which role a group gives", Capability.ORG_ROLES_MANAGE, _ACTIVE, _CLOSED)
    ROLES_READ = ("read the roles", RequiredStanding.MEMBER, _ACTIVE, _READS)
    ROLES_CHANGE = ("change the roles", Capability.ORG_ROLES_MANAGE, _ACTIVE, _JUDGED)
    KEYS_READ = ("read the keys of the organization", RequiredStanding.ADMIN, _ACTIVE, _READS)
    KEY_CREATE = ("create a key of the organization", RequiredStanding.ADMIN, _ACTIVE, _CLOSED)
    KEYS_CHANGE = ("change the keys of the organization", RequiredStanding.ADMIN, _ACTIVE, _TAKES_AWAY)
    INVITATIONS_LIST = ("list the invitations", Capability.ORG_MEMBERS_MANAGE, _ACTIVE, _READS)
    INVITATIONS_CHANGE = ("invite people", Capability.ORG_MEMBERS_MANAGE, _ACTIVE, _JUDGED)
    END_USERS_READ = ("read the end users", Capability.END_USERS_VIEW, _ACTIVE, _READS)
    END_USERS_CHANGE = ("end the sessions of end users", Capability.END_USERS_MANAGE, _ACTIVE, _TAKES_AWAY)
    ACCOUNT_LOCK = ("lock an account of its own", Capability.END_USERS_MANAGE, _ACTIVE, _TAKES_AWAY)
    SIGN_INS_READ = ("read the sign-ins of a user", Capability.END_USERS_VIEW, _ACTIVE, _READS)
    PERSONAL_DATA_EXPORT = ("export the personal data of a person", RequiredStanding.OWNER, _ACTIVE, _READS)
    PERSONAL_DATA_REMOVE = ("remove the personal data of a person", RequiredStanding.OWNER, _ACTIVE, _CLOSED)
    SIGN_INS_EXPLAIN = ("find out why a user cannot sign in", Capability.END_USERS_MANAGE, _ACTIVE, _READS)
    AUDIT_LOG_READ = ("read the audit log", Capability.AUDIT_LOGS_VIEW, _ACTIVE, _READS)
    ANALYTICS_READ = ("read the analytics", Capability.ANALYTICS_VIEW, _ACTIVE, _READS)
    SERVICES_LIST = ("list the services", Capability.SERVICES_VIEW, _ACTIVE, _READS)
    SERVICE_CREATE = ("create services", Capability.SERVICES_CREATE, _ACTIVE, _CLOSED)
    SERVICE_READ = ("read a service", Capability.SERVICES_VIEW, _ACTIVE, _READS)
    SERVICE_UPDATE = ("change a service", Capability.SERVICES_MANAGE, _ACTIVE, _JUDGED)
    SERVICE_DELETE = ("delete a service", RequiredStanding.OWNER, _ACTIVE, _CLOSED)
    SERVICE_SECRET_ROTATE = ("replace the secret of a service", Capability.SERVICES_MANAGE, _ACTIVE, _CLOSED)
    SERVICE_PROBLEMS_READ = ("read the troubles of a service", Capability.SERVICES_MANAGE, _ACTIVE, _READS)
    SERVICE_TRY = ("try a service", Capability.SERVICES_MANAGE, _ACTIVE, _CLOSED)
    SERVICE_USER_READ = ("read a user of a service", Capability.END_USERS_VIEW, _ACTIVE, _READS)
    SERVICE_USER_CHANGE = ("change what a service notes about a user", Capability.END_USERS_MANAGE, _ACTIVE, _CLOSED)
    WEBHOOKS_READ = ("read the webhooks", Capability.WEBHOOKS_MANAGE, _ACTIVE, _READS)
    WEBHOOK_CONFIGURE = ("configure where events are sent", Capability.WEBHOOKS_MANAGE, _ACTIVE, _CLOSED)
    WEBHOOKS_CHANGE = ("change the webhooks", Capability.WEBHOOKS_MANAGE, _ACTIVE, _TAKES_AWAY)
    EVENTS_READ = ("read the feed of events", Capability.WEBHOOKS_MANAGE, _ACTIVE, _READS)
    SIEM_READ = ("read the SIEM configuration", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _READS)
    SIEM_CONFIGURE = ("stream the audit log to a SIEM", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _CLOSED)
    SIEM_CHANGE = ("change the SIEM configuration", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _TAKES_AWAY)
    SERVICE_GRANTS_CHANGE = ("grant access to services", Capability.SERVICES_MANAGE, _ACTIVE, _JUDGED)
    PLANS_READ = ("read the plans of a service", Capability.SERVICES_VIEW, _ACTIVE, _READS)
    PLANS_CHANGE = ("change the plans of a service", Capability.SERVICES_MANAGE, _ACTIVE, _HARMLESS)
    CUSTOMERS_READ = ("read the customers of a service", Capability.SERVICES_MANAGE, _ACTIVE, _READS)
    CUSTOMER_OFFER = ("offer a service to an organization", Capability.SERVICES_MANAGE, _ACTIVE, _CLOSED)
    CUSTOMER_OWNER_NAME = ("name the owner of a customer", Capability.SERVICES_MANAGE, _ACTIVE, _CLOSED)
    CUSTOMERS_CHANGE = ("change the customers of a service", Capability.SERVICES_MANAGE, _ACTIVE, _JUDGED)
    CUSTOMER_SETUP_READ = ("read the setup of customers", Capability.SERVICES_MANAGE, _ACTIVE, _READS)
    CUSTOMER_SETUP = ("set customers up", Capability.SERVICES_MANAGE, _ACTIVE, _CLOSED)
    CUSTOMER_PEOPLE_READ = ("read the people of customers", Capability.SERVICES_MANAGE, _ACTIVE, _READS)
    CUSTOMER_PEOPLE_CHANGE = ("give the people of customers roles", Capability.SERVICES_MANAGE, _ACTIVE, _JUDGED)
    CLAIMS_PREVIEW = ("read what the tokens of a person would say", Capability.SERVICES_MANAGE, _ACTIVE, _READS)
    PRODUCTS_READ = ("read the products of other organizations", RequiredStanding.MEMBER, _ACTIVE, _READS)
    PRODUCT_ACCEPT = ("accept a product of another organization", Capability.PRODUCTS_MANAGE, _ACTIVE, _CLOSED)
    PRODUCTS_CHANGE = ("change who may use a product", Capability.PRODUCTS_MANAGE, _ACTIVE, _JUDGED)
    VENDOR_SETUP_CHANGE = ("choose what a vendor may set up", RequiredStanding.OWNER, _ACTIVE, _CLOSED)
    PRODUCT_END = ("end a product of another organization", Capability.PRODUCTS_MANAGE, _ACTIVE, _TAKES_AWAY)
    MADE_FOR_US_READ = ("read what vendors have made for it", RequiredStanding.OWNER, _ACTIVE, _READS)
    MADE_FOR_US_ADOPT = ("adopt what a vendor has made", RequiredStanding.OWNER, _ACTIVE, _CLOSED)
    MADE_FOR_US_REMOVE = ("remove what a vendor has made", RequiredStanding.OWNER, _ACTIVE, _CLOSED)
    API_KEYS_READ = ("read the API keys of a service", Capability.SERVICES_VIEW, _ACTIVE, _READS)
    API_KEY_CREATE = ("create an API key of a service", Capability.SERVICES_MANAGE, _ACTIVE, _CLOSED)
    API_KEYS_CHANGE = ("change the API keys of a service", Capability.SERVICES_MANAGE, _ACTIVE, _TAKES_AWAY)
    WORKLOADS_READ = ("read the workloads of a service", Capability.SERVICES_MANAGE, _ACTIVE, _READS)
    WORKLOAD_CREATE = ("let a workload authenticate as a service", Capability.SERVICES_MANAGE, _ACTIVE, _CLOSED)
    WORKLOADS_CHANGE = ("change the workloads of a service", Capability.SERVICES_MANAGE, _ACTIVE, _TAKES_AWAY)
    SAML_READ = ("read the SAML configuration of a service", Capability.SERVICES_VIEW, _ACTIVE, _READS)
    SAML_CHANGE = ("change the SAML configuration of a service", Capability.SERVICES_MANAGE, _ACTIVE, _CLOSED)
    SAML_REMOVE = ("remove the SAML configuration of a service", Capability.SERVICES_MANAGE, _ACTIVE, _TAKES_AWAY)
    SAML_CERTIFICATE_CREATE = ("create a SAML certificate of a service", Capability.SERVICES_MANAGE, _ACTIVE, _CLOSED)
    SAML_LOGIN = ("sign in to a service by SAML", RequiredStanding.MEMBER, _ACTIVE, _CLOSED)
    CHECKOUT = ("buy a plan", RequiredStanding.MEMBER, _ACTIVE, _HARMLESS)
    CONNECTIONS_READ = ("read the upstream connections", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _READS)
    CONNECTION_CONFIGURE = ("configure a connection", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _CLOSED)
    CONNECTIONS_CHANGE = ("change the upstream connections", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _TAKES_AWAY)
    DOMAIN_ROUTES_READ = ("read the domain routes", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _READS)
    DOMAIN_ROUTES_CHANGE = ("change the domain routes", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _CLOSED)
    OAUTH_CREDENTIALS_READ = ("read the credentials at providers", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _READS)
    OAUTH_CREDENTIALS_SET = ("set the credentials at a provider", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _CLOSED)
    OAUTH_CREDENTIALS_CHANGE = (
        "change the credentials at providers",
        Capability.INTEGRATIONS_MANAGE,
        _ACTIVE,
        _TAKES_AWAY,
    )
    SCIM_TOKENS_READ = ("read the SCIM tokens", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _READS)
    SCIM_TOKEN_CREATE = ("create a SCIM token", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _CLOSED)
    SCIM_TOKENS_CHANGE = ("change the SCIM tokens", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _TAKES_AWAY)
    SCIM_LOG_READ = ("read the provisioning log", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _READS)
    SIGN_IN_RULES_READ = ("read the sign-in rules", Capability.ORG_SETTINGS_MANAGE, _ACTIVE, _READS)
    SIGN_IN_RULES_CHANGE = ("change the sign-in rules", Capability.ORG_SETTINGS_MANAGE, _ACTIVE, _HARMLESS)
    BRANDING_READ = ("read the branding", Capability.ORG_SETTINGS_MANAGE, _ACTIVE, _READS)
    BRANDING_CHANGE = ("change the branding", Capability.ORG_SETTINGS_MANAGE, _ACTIVE, _HARMLESS)
    DOMAIN_READ = ("read the custom domain", Capability.ORG_SETTINGS_MANAGE, _ACTIVE, _READS)
    DOMAIN_CHANGE = ("change the custom domain", Capability.ORG_SETTINGS_MANAGE, _ACTIVE, _CLOSED)
    SETUP_LINKS_READ = ("read the setup links", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _READS)
    SETUP_LINK_CREATE = ("create a setup link", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _CLOSED)
    SETUP_LINKS_CHANGE = ("change the setup links", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _TAKES_AWAY)
    MAIL_SERVER_READ = ("read the mail server", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _READS)
    MAIL_SERVER_SET = ("set the mail server", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _CLOSED)
    MAIL_SERVER_CHANGE = ("change the mail server", Capability.INTEGRATIONS_MANAGE, _ACTIVE, _TAKES_AWAY)
    BILLING_READ = ("read what is sold", Capability.BILLING_MANAGE, _ACTIVE, _READS)
    SUBSCRIPTIONS_CHANGE = ("change what is sold", Capability.BILLING_MANAGE, _ACTIVE, _HARMLESS)
    BILLING_PORTAL = ("open the billing portal", Capability.BILLING_MANAGE, _ACTIVE, _HARMLESS)

    takes: Capability | RequiredStanding
    statuses: frozenset[OrganizationStatus]
    while_impersonating: WhileImpersonating

    def __new__(
        cls,
        words: str,
        takes: Capability | RequiredStanding,
        statuses: frozenset[OrganizationStatus],
        while_impersonating: WhileImpersonating,
    ) -> Operation:
        """Create an operation; its value is its description."""
        member = object.__new__(cls)
        member._value_ = words
        member.takes = takes
        member.statuses = statuses
        member.while_impersonating = while_impersonating
        return member

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities that it requires: its own, and what the credential that it makes can do."""
        taken = frozenset({self.takes}) if isinstance(self.takes, Capability) else frozenset[Capability]()
        return taken | _ALSO_TAKES.get(self, frozenset[Capability]())

    @property
    def requirement(self) -> str:
        """All that it requires, in the words of the routes and the reference."""
        return " and ".join([self.takes, *sorted(self.capabilities - {self.takes})])

    def missing(self, role: str, capabilities: frozenset[Capability]) -> Capability | RequiredStanding | None:
        """Return what a member with this role and these capabilities lacks for it; None when they lack nothing."""
        missing = sorted(self.capabilities - capabilities)
        if missing:
            return missing[0]
        if self.takes is RequiredStanding.OWNER and role != OWNER:
            return RequiredStanding.OWNER
        if self.takes is RequiredStanding.ADMIN and role not in {OWNER, ADMIN}:
            return RequiredStanding.ADMIN
        return None

    @property
    def makes_credential(self) -> bool:
        """Whether it makes a credential or sets where one leads."""
        return self in _MAKES_CREDENTIAL

    @property
    def is_closed_while_impersonating(self) -> bool:
        """Whether an impersonator is refused, whatever the role of the user."""
        return self.while_impersonating is WhileImpersonating.CLOSED

    @property
    def may_outlast_impersonation(self) -> bool:
        """Whether all or some of what it changes is closed to an impersonator."""
        return self.is_closed_while_impersonating or self.while_impersonating is WhileImpersonating.JUDGED


# The maker of a credential must be allowed to do what the credential can do: a directory changes members, a SIEM reads
# the audit log. A member needs for the people of customers what the maker of a key that manages them needs.
_ALSO_TAKES: Final = PartialTable(
    {
        Operation.CLAIMS_PREVIEW: frozenset({Capability.END_USERS_VIEW}),
        Operation.CUSTOMER_PEOPLE_READ: frozenset({Capability.END_USERS_VIEW}),
        Operation.CUSTOMER_PEOPLE_CHANGE: frozenset({Capability.END_USERS_MANAGE}),
        Operation.SCIM_TOKEN_CREATE: frozenset({Capability.ORG_MEMBERS_MANAGE}),
        Operation.SIEM_CONFIGURE: frozenset({Capability.AUDIT_LOGS_VIEW}),
    }
)
_MAKES_CREDENTIAL: Final = frozenset(
    {
        Operation.SERVICE_CREATE,
        Operation.SERVICE_SECRET_ROTATE,
        Operation.SERVICE_TRY,
        Operation.WEBHOOK_CONFIGURE,
        Operation.SIEM_CONFIGURE,
        Operation.API_KEY_CREATE,
        Operation.WORKLOAD_CREATE,
        Operation.KEY_CREATE,
        Operation.CUSTOMER_SETUP,
        Operation.MADE_FOR_US_ADOPT,
        Operation.SAML_CERTIFICATE_CREATE,
        Operation.CONNECTION_CONFIGURE,
        Operation.OAUTH_CREDENTIALS_SET,
        Operation.SCIM_TOKEN_CREATE,
        Operation.SETUP_LINK_CREATE,
        Operation.MAIL_SERVER_SET,
    }
)

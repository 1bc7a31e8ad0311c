"""The sections of the consoles and of one's own account: one table, in groups, with what each asks of its reader.

Each has words by which it is found besides its name (`console/found_pages.py`), and an icon (`console/icons.html`).

A new section is a line here and one of `styles/icons.css`; what is done in it is a line of `actions.py`, by whose name
the palette finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation, RequiredStanding
from core.organizations.standing import Standing
from core.platform.console import PlatformStanding
from entrypoints.pages.frame.languages import marked

Missing: TypeAlias = Capability | RequiredStanding | None


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its path below its console's, its name, other words for it, and the right that opens it.

    `asks` is the operation that opens it in an organization, and on the platform the standing. A page within a section
    is found by a search, and is not in the navigation. `missing` is the right that the reader lacks.
    """

    path: str
    name: str
    words: str = ""
    asks: Operation | RequiredStanding | None = None
    is_within: bool = False
    missing: Missing = None


@dataclass(frozen=True, slots=True)
class SectionGroup:
    """Sections under one title; the first group has none."""

    title: str
    sections: tuple[Section, ...]

    @property
    def open(self) -> list[Section]:
        """The sections that the reader may open."""
        return [one for one in self.sections if not one.missing and not one.is_within]

    @property
    def closed(self) -> list[Section]:
        """The sections that the reader may not open."""
        return [one for one in self.sections if one.missing and not one.is_within]


def _group(title: str, *sections: Section) -> SectionGroup:
    return SectionGroup(title, sections)


# A page within a section.
_within: Final = partial(Section, is_within=True)

OF_ORGANIZATION: Final = (
    _group(
        "",
        Section("", marked("Overview"), marked("start home status checklist")),
        Section(
            "/analytics",
            marked("Analytics"),
            marked("statistics numbers charts active users reports"),
            Operation.ANALYTICS_READ,
        ),
        _within(
            "/analytics/sign-ins",
            marked("Sign-ins"),
            marked("logins log failed refused history"),
            Operation.SIGN_INS_READ,
        ),
        _within(
            "/analytics/active-users",
            marked("Active users"),
            marked("daily weekly monthly who signed in"),
            Operation.SIGN_INS_READ,
        ),
    ),
    _group(
        marked("People and access"),
        Section("/people", marked("People"), marked("members team staff users accounts"), Operation.MEMBERS_LIST),
        _within(
            "/people/invited", marked("Invitations"), marked("invite people add members"), Operation.INVITATIONS_LIST
        ),
        _within(
            "/people/end-users", marked("End users"), marked("customers accounts sessions"), Operation.END_USERS_READ
        ),
        _within("/people/groups", marked("Groups"), marked("directory teams group rules"), Operation.GROUPS_READ),
        _within(
            "/people/groups/rules", marked("Rules of groups"), marked("roles by group mapping"), Operation.GROUPS_READ
        ),
        _within(
            "/people/directory",
            marked("Directory"),
            marked("provisioned users synchronization"),
            Operation.SCIM_LOG_READ,
        ),
        Section("/roles", marked("Roles"), marked("permissions capabilities rights access"), Operation.ROLES_READ),
        Section(
            "/why",
            marked("Sign-in problems"),
            marked("why cannot sign in locked out help support"),
            Operation.SIGN_INS_EXPLAIN,
        ),
    ),
    _group(
        marked("Applications"),
        Section(
            "/services",
            marked("Services"),
            marked("applications apps clients OpenID OAuth SAML plans redirect URI client id"),
            Operation.SERVICES_LIST,
        ),
        Section("/products", marked("Products"), marked("vendors offers bought applications"), Operation.PRODUCTS_READ),
        _within(
            "/made-for-us",
            marked("Made for your organization"),
            marked("adopt vendor set up for us"),
            Operation.MADE_FOR_US_READ,
        ),
    ),
    _group(
        marked("Sign-in"),
        Section(
            "/sign-in",
            marked("Sign-in rules and connections"),
            marked("SSO single sign-on identity provider Okta Entra Google GitHub Microsoft SAML OpenID"),
            Operation.CONNECTIONS_READ,
        ),
        _within(
            "/sign-in/second-factors",
            marked("Second factors"),
            marked("MFA 2FA two-factor authenticator passkeys require"),
            Operation.SIGN_IN_RULES_READ,
        ),
        _within(
            "/sign-in/mail-domains",
            marked("Mail domains"),
            marked("domain routes enforce verify TXT"),
            Operation.DOMAIN_ROUTES_READ,
        ),
        Section("/branding", marked("Branding"), marked("logo colors look theme design icon"), Operation.BRANDING_READ),
        Section("/domain", marked("Own domain"), marked("custom domain DNS host address CNAME"), Operation.DOMAIN_READ),
        Section("/setup-links", marked("Setup links"), marked("IT admin portal delegate"), Operation.SETUP_LINKS_READ),
    ),
    _group(
        marked("Integrations"),
        Section(
            "/webhooks",
            marked("Webhooks"),
            marked("events deliveries callbacks notifications"),
            Operation.WEBHOOKS_READ,
        ),
        Section(
            "/provisioning",
            marked("Provisioning"),
            marked("SCIM tokens directory sync Okta Entra"),
            Operation.SCIM_TOKENS_READ,
        ),
        _within(
            "/provisioning/calls",
            marked("Calls of the directory"),
            marked("log requests failures"),
            Operation.SCIM_LOG_READ,
        ),
        Section("/siem", marked("SIEM"), marked("log streaming Splunk Datadog Elastic"), Operation.SIEM_READ),
        Section("/mail", marked("Mail server"), marked("SMTP email sender"), Operation.MAIL_SERVER_READ),
        Section("/keys", marked("API keys"), marked("tokens secrets programs management keys"), Operation.KEYS_READ),
    ),
    _group(
        marked("Organization"),
        Section(
            "/billing",
            marked("Billing"),
            marked("tier limits subscriptions revenue invoices sold payment"),
            Operation.BILLING_READ,
        ),
        _within("/billing/sold", marked("Subscriptions"), marked("sold plans cancel past due"), Operation.BILLING_READ),
        Section(
            "/audit", marked("Audit log"), marked("history changes activity entries proof"), Operation.AUDIT_LOG_READ
        ),
        _within("/jobs", marked("Jobs"), marked("bulk progress"), Operation.JOBS_READ),
        Section("/settings", marked("Settings"), marked("name slug rename delete leave"), Operation.ORGANIZATION_READ),
        _within(
            "/settings/ownership", marked("Ownership"), marked("owner transfer hand over"), Operation.OWNERSHIP_TRANSFER
        ),
        _within("/settings/metadata", marked("Metadata"), marked("notes own fields"), Operation.ORGANIZATION_READ),
    ),
)
# While an organization is not active, these are the few that open.
OF_WAITING_ORGANIZATION: Final = (
    _group(
        "",
        Section("", marked("Overview")),
        Section("/settings", marked("Settings"), asks=Operation.ORGANIZATION_READ),
    ),
)
OF_PLATFORM: Final = (
    _group("", Section("", marked("Overview"), marked("start home status checklist"))),
    _group(
        marked("People and access"),
        Section("/organizations", marked("Organizations"), marked("tenants customers approve suspend")),
        Section("/users", marked("Users"), marked("people accounts sessions impersonate lock unlock")),
        _within("/sign-ins", marked("Sign-ins"), marked("logins log failed refused history")),
        _within("/active-users", marked("Active users"), marked("daily weekly monthly who signed in")),
        Section("/why", marked("Sign-in problems"), marked("why cannot sign in locked out help support")),
        Section("/owners", marked("Owners and support"), marked("staff admins appoint demote"), RequiredStanding.OWNER),
    ),
    _group(
        marked("Billing"),
        Section("/tiers", marked("Tiers"), marked("limits prices packages")),
        Section("/revenue", marked("Revenue"), marked("money subscriptions billing payment")),
    ),
    _group(
        marked("Operation"),
        Section("/mail", marked("Outgoing mail"), marked("outbox email queue failed SMTP")),
        Section(
            "/audit", marked("Audit log"), marked("history changes activity entries proof"), RequiredStanding.OWNER
        ),
        _within("/jobs", marked("Jobs"), marked("bulk progress"), RequiredStanding.OWNER),
        Section(
            "/system",
            marked("System"),
            marked("health versions settings signing keys migrations actors database"),
            RequiredStanding.OWNER,
        ),
        _within(
            "/system/queues",
            marked("Queues"),
            marked("webhooks deliveries events mails SIEM waiting work"),
            RequiredStanding.OWNER,
        ),
        _within(
            "/system/process",
            marked("Background tasks and database"),
            marked("actors pool connections versions"),
            RequiredStanding.OWNER,
        ),
        _within("/system/keys", marked("Signing keys"), marked("rotate tokens JWKS"), RequiredStanding.OWNER),
        _within(
            "/system/settings",
            marked("Settings"),
            marked("configuration environment variables"),
            RequiredStanding.OWNER,
        ),
    ),
)
OF_ACCOUNT: Final = (
    _group(
        "",
        Section("", marked("Overview"), marked("start profile")),
        Section("/my-applications", marked("My applications"), marked("apps launcher dashboard tiles open start")),
    ),
    _group(
        marked("Who you are"),
        Section("/name", marked("Name"), marked("rename display name")),
        Section("/email", marked("Email address"), marked("mail change address")),
    ),
    _group(
        marked("How you sign in"),
        Section("/password", marked("Password"), marked("change password")),
        Section("/second-factor", marked("Second factor"), marked("MFA 2FA authenticator app backup codes security")),
        Section("/passkeys", marked("Passkeys"), marked("security key fingerprint WebAuthn")),
        Section("/identities", marked("Linked accounts"), marked("Google GitHub providers social link")),
    ),
    _group(
        marked("Where you are signed in"),
        Section("/sessions", marked("Sessions"), marked("sign out everywhere browsers")),
        Section("/sign-ins", marked("Sign-ins"), marked("logins log failed refused history")),
        Section("/devices", marked("Devices"), marked("computers phones trusted")),
        Section("/applications", marked("Connected applications"), marked("apps services disconnect consent")),
    ),
    _group(
        marked("What you belong to"),
        Section("/organizations", marked("Organizations"), marked("teams invitations leave join")),
        Section("/subscriptions", marked("Subscriptions"), marked("billing plans payment invoices")),
        Section("/data", marked("Your data"), marked("export download privacy delete close account")),
        _within("/closing", marked("Close the account"), marked("delete remove account")),
    ),
)


def sections_of(standing: Standing) -> list[SectionGroup]:
    """Return the sections of the console of an organization in the order of its navigation."""
    groups = OF_ORGANIZATION if standing.organization.is_active else OF_WAITING_ORGANIZATION
    return _seen(groups, partial(lacks, standing))


def sections_of_platform(standing: PlatformStanding) -> list[SectionGroup]:
    """Return the sections of the console of the platform in the order of its navigation."""
    return _seen(OF_PLATFORM, partial(lacks_on_platform, standing))


def lacks(standing: Standing, section: Section) -> Missing:
    """Return what the reader lacks for a section of an organization; None for nothing."""
    return standing.lacks(section.asks) if isinstance(section.asks, Operation) else None


def lacks_on_platform(standing: PlatformStanding, section: Section) -> Missing:
    """Return what the reader lacks for a section of the platform; None for nothing."""
    return section.asks if isinstance(section.asks, RequiredStanding) and not standing.is_owner else None


def _seen(groups: tuple[SectionGroup, ...], lacks: Callable[[Section], Missing]) -> list[SectionGroup]:
    """Return the groups with what their reader lacks for each section."""
    return [
        SectionGroup(
            group.title,
            tuple(Section(one.path, one.name, one.words, None, one.is_within, lacks(one)) for one in group.sections),
        )
        for group in groups
    ]

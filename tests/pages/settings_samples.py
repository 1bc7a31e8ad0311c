"""The pages of an organization's settings with sample values: a part of `samples.py`."""

from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.mail.servers import TlsMode
from core.organizations.access import Capability, RequiredStanding
from core.organizations.deletion import Ending
from core.organizations.domain_proofs import ProofStatus
from core.organizations.keys import MadeOrganizationKey, OrganizationKey
from core.organizations.management import OrganizationUse
from core.organizations.people import MemberDeparture
from core.organizations.role_records import FoundRoles, HeldRole, RoleHolders
from core.organizations.roles import Role
from core.organizations.settings.domain import CustomDomain
from core.organizations.settings.smtp import MailServerSettings, MailServerStatus
from core.organizations.setup_links import ListedSetupLink, Part, SetupLink
from core.organizations.tiers import Tier
from core.positions import FoundRows
from entrypoints.pages.console.sections import sections_of
from entrypoints.pages.organizations.access import CAPABILITIES, capability_boxes
from entrypoints.pages.organizations.keys import KeyForm
from entrypoints.pages.organizations.roles import ChangedRoleForm, NewRoleForm
from entrypoints.pages.organizations.settings.smtp import ENCRYPTIONS, MailServerForm
from entrypoints.pages.organizations.setup import PARTS
from entrypoints.pages.organizations.setup_links import ABOUT, DAYS
from tests.pages.console_samples import CONSOLE, DELETED, LONG_SLUG, MEMBER, standing
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_PAGE: Final = f"/app/organizations/{LONG_SLUG}"
_TITLES: Final = {part.value: PARTS[part][0] for part in Part}
_LINK: Final = SetupLink(
    id=UUID(ID),
    parts=[part.value for part in Part],
    service_slug=LONG_SLUG,
    roles=["admin", "a" * 50],
    created_by=UUID(ID),
    created_at=NOW,
    expires_at=NOW,
    last_used_at=NOW,
)
_LISTED: Final = ListedSetupLink(link=_LINK, maker_email=EMAIL, is_usable=True)


def _problems(*fields: str) -> defaultdict[str, str]:
    return defaultdict(str, dict.fromkeys(fields, PROBLEM))


_MAIL_SERVER: Final = MailServerSettings(
    host=f"mail.{'x' * 60}.example.com",
    port=587,
    tls=TlsMode.STARTTLS,
    username=NAME,
    has_password=True,
    from_name=NAME,
    from_email=EMAIL,
    status=MailServerStatus.FAILING,
    failing_since=NOW,
    last_error=f"The mail server answered 550 {NAME}",
    next_attempt_at=NOW,
    last_success_at=None,
    last_tested_at=NOW,
    last_test_accepted=False,
    last_test_answer=f"The mail server answered 550 {NAME}",
    waiting_mails=12_000,
    created_at=NOW,
    updated_at=NOW,
)
_DOMAIN: Final = CustomDomain(
    domain=f"id.{'x' * 60}.example.com",
    status=ProofStatus.FAILING,
    txt_name=f"_gatehouse.id.{'x' * 60}.example.com",
    txt_value=f"gatehouse-verification={'k' * 43}",
    verified_at=None,
    checked_at=NOW,
    failing_since=NOW,
    ends_at=NOW,
)
_ROLE: Final = Role(
    slug=LONG_SLUG,
    name="x" * 100,
    description=NAME * 10,
    permissions=[Capability.BILLING_MANAGE, Capability.AUDIT_LOGS_VIEW],
    is_built_in=False,
    created_at=NOW,
    updated_at=NOW,
)
_OWNER: Final = replace(
    _ROLE, slug="owner", name="Owner", permissions=list(Capability), is_built_in=True, created_at=None, updated_at=None
)
_HELD: Final = HeldRole(role=_ROLE, holders=RoleHolders(members=12_000, invitations=3))
_BOXES: Final = capability_boxes({Capability.BILLING_MANAGE, Capability.SERVICES_VIEW})
_PREVIEW: Final = sections_of(standing())
_KEY: Final = MadeOrganizationKey(
    key=OrganizationKey(
        id=UUID(ID),
        name="x" * 100,
        prefix="ok_67CA25LA",
        permissions=[Capability.BILLING_MANAGE, Capability.AUDIT_LOGS_VIEW],
        created_at=NOW,
        expires_at=NOW,
        last_used_at=None,
    ),
    maker_email=EMAIL,
)
_USE: Final = OrganizationUse(
    tier=Tier(
        id=UUID(ID), name="free", display_name=NAME, default_max_services=3, default_max_users=None, price_cents=0
    ),
    members=12_000,
    services=3,
    end_users=12_000,
    sessions=214,
    subscriptions=3,
    max_members=None,
    max_services=3,
)
_ORGANIZATION: Final = SimpleNamespace(id=ID, name="x" * 100, slug=LONG_SLUG, is_active=True, created_at=NOW)
SETTINGS_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "organizations/settings/domain.html": {
        "lacks_change": None,
        **CONSOLE,
        "page": f"{_PAGE}/domain",
        "claimed": _DOMAIN,
        "target": "id.example.com",
        "typed": NAME,
        "seen_state": "none",
        "failure": PROBLEM,
        "found": ["v=spf1 -all", NAME],
        "problems": _problems("domain"),
    },
    "organizations/settings/domain_deletion.html": {
        **CONSOLE,
        "page": f"{_PAGE}/domain",
        "ends": SimpleNamespace(
            claim=SimpleNamespace(id=ID, proof=SimpleNamespace(domain=_DOMAIN.domain)), sessions=214, passkeys=1
        ),
    },
    "organizations/keys_deletion.html": {**CONSOLE, "page": f"{_PAGE}/keys", "one": _KEY, "words": CAPABILITIES},
    "organizations/keys.html": {
        **CONSOLE,
        "page": f"{_PAGE}/keys",
        "at": NOW,
        "found": [_KEY, replace(_KEY, key=replace(_KEY.key, expires_at=None, last_used_at=NOW))],
        "words": CAPABILITIES,
        "form": KeyForm(name=NAME, permissions=["billing.manage"], expires_in_days="x"),
        "problems": _problems("name", "permissions", "expires_in_days"),
        "boxes": _BOXES,
        "made": _KEY.key,
        "secret": f"ok_{'k' * 43}",
        "address": "https://id.example.com/api/organizations/harbour",
    },
    "organizations/management_leaving.html": {
        **CONSOLE,
        "page": f"{_PAGE}/settings",
        "departure": MemberDeparture(sessions=214, services=1, subscriptions=1, grants=3, invitations=3, keys=1),
        "is_owner": False,
    },
    "organizations/settings/smtp.html": {
        **CONSOLE,
        "page": f"{_PAGE}/mail",
        "server": _MAIL_SERVER,
        "form": MailServerForm(host=NAME, username=NAME, from_name=NAME, from_email=EMAIL),
        "seen_state": "none",
        "to": EMAIL,
        "tested": SimpleNamespace(is_accepted=False, message="The mail server refused the login (535)."),
        "problems": _problems("host", "password", "tls"),
        "encryptions": ENCRYPTIONS,
    },
    "organizations/settings/smtp_removal.html": {
        **CONSOLE,
        "page": f"{_PAGE}/mail",
        "server": _MAIL_SERVER,
        "seen_state": "none",
    },
    "organizations/deletion.html": {
        **CONSOLE,
        "page": f"{_PAGE}/settings",
        "ending": Ending(
            sessions=10_001,
            subscriptions=10_001,
            keys=3,
            invitations=2,
            setup_links=1,
            customers=10_001,
            products=4,
            members=12_000,
            services=100,
            end_users=10_001,
            restorable_until=NOW,
        ),
        "slug": NAME,
        "problems": _problems("slug"),
    },
    "organizations/deletion_restoration.html": {
        **CONSOLE,
        "standing": None,
        "page": "/app/deleted-organizations/acme",
        "page_of_all": "/app/organizations",
        "found": DELETED,
    },
    "organizations/ownership.html": {
        **CONSOLE,
        "page": f"{_PAGE}/settings/ownership",
        "back": f"{_PAGE}/settings",
        "people": f"{_PAGE}/people/invited",
        "query": SimpleNamespace(search=EMAIL),
        "found": FoundRows(
            found=[MEMBER, replace(MEMBER, role="owner"), replace(MEMBER, is_suspended=True)],
            total=12_000,
            next=MEMBER.position,
        ),
        "chosen": None,
    },
    "organizations/roles_one.html": {
        "lacks_creation": None,
        **CONSOLE,
        "held": _HELD,
        "role": _ROLE,
        "words": CAPABILITIES,
        "form": ChangedRoleForm(name=NAME, description=NAME, permissions=["billing.manage", "audit_logs.view"]),
        "problems": _problems("name", "description", "permissions"),
        "boxes": _BOXES,
        "seen_state": "built in",
        "preview": _PREVIEW,
        "lacks_change": None,
        "lacks_people": None,
        "page": f"{_PAGE}/roles/{LONG_SLUG}",
        "back": f"{_PAGE}/roles",
        "copy": f"{_PAGE}/roles?copy={LONG_SLUG}#new",
        "people": f"{_PAGE}/people?role={LONG_SLUG}",
    },
    "organizations/roles_deletion.html": {
        **CONSOLE,
        "role": _ROLE,
        "holders": RoleHolders(members=12_000, invitations=3),
        "seen_state": "built in",
        "page": f"{_PAGE}/roles/{LONG_SLUG}",
        "people": f"{_PAGE}/people?role={LONG_SLUG}",
        "invited": f"{_PAGE}/people/invited?status=pending",
    },
    "organizations/roles.html": {
        "lacks_creation": None,
        **CONSOLE,
        "found": FoundRoles(
            found=[HeldRole(role=_OWNER, holders=None), _HELD, replace(_HELD, role=replace(_ROLE, slug="b" * 50))],
            total=103,
            next="b" * 50,
        ),
        "words": CAPABILITIES,
        "form": NewRoleForm(slug=NAME, name=NAME, description=NAME, permissions=["billing.manage"]),
        "copied": _ROLE,
        "problems": _problems("name", "slug"),
        "boxes": _BOXES,
        "lacks_change": None,
        "lacks_people": None,
        "page": f"{_PAGE}/roles",
        "people": f"{_PAGE}/people",
        "first": f"{_PAGE}/roles",
        "next": f"{_PAGE}/roles?after=b",
    },
    "organizations/setup_links.html": {
        **CONSOLE,
        "page": f"{_PAGE}/setup-links",
        "found": [
            _LISTED,
            replace(_LISTED, link=replace(_LINK, last_used_at=None)),
            replace(_LISTED, maker_email=None, is_usable=False),
        ],
        "form": SimpleNamespace(parts=["scim", "siem"], service_slug=NAME, roles=["admin"], expires_in_days="7"),
        "problems": _problems("parts", "service_slug", "roles"),
        "made": _LINK,
        "made_url": f"https://id.example.com/app/setup/{'k' * 43}",
        "titles": _TITLES,
        "boxes": [
            (part.value, PARTS[part][0], ABOUT[part], Capability.AUDIT_LOGS_VIEW if part is Part.SIEM else None)
            for part in Part
        ],
        "services": ["shop", LONG_SLUG],
        "roles": [("admin", "admin", "", None), ("a" * 50, "a" * 50, "", None)],
        "days": DAYS,
    },
    "organizations/management.html": {
        **CONSOLE,
        "standing": standing(_ORGANIZATION),
        "page": f"{_PAGE}/settings",
        "organization_page": _PAGE,
        "use": _USE,
        "name": NAME,
        "problems": _problems("name"),
        "is_owner": True,
        "lacks_change": None,
        "lacks_transfer": RequiredStanding.OWNER,
        "lacks_deletion": RequiredStanding.OWNER,
    },
    "organizations/setup_links_revocation.html": {
        **CONSOLE,
        "page": f"{_PAGE}/setup-links",
        "one": _LISTED,
        "titles": _TITLES,
    },
}

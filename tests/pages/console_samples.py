"""The pages of the console with sample values: a part of `samples.py`."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.invitations.invitations import InvitationStatus
from core.invitations.invited import ListedInvitation
from core.organizations.access import Capability, RequiredStanding
from core.organizations.deletion import DeletedOrganization
from core.organizations.matters import Matter, MatterKind
from core.organizations.organizations import OrganizationStatus
from core.organizations.overview import Overview, SetupSteps
from core.organizations.people import ListedMember, MemberDeparture, MemberSource
from core.positions import FoundRows
from entrypoints.pages.console.found_pages import FoundPage
from entrypoints.pages.console.sections import sections_of
from entrypoints.pages.invitations.invited import STATUSES
from entrypoints.pages.organizations.people import SOURCES
from tests.pages.plot_values import SHOWN
from tests.pages.record_samples import RECORD
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

# Longer than every real one, and in one word.
LONG_SLUG: Final = "a" * 50
_ORGANIZATION: Final = SimpleNamespace(
    id=ID,
    name=NAME,
    slug=LONG_SLUG,
    is_active=False,
    status=OrganizationStatus.REJECTED,
    rejection_reason=NAME,
    suspension_reason=None,
)
_ACTIVE: Final = SimpleNamespace(
    id=ID, name="x" * 100, slug=LONG_SLUG, is_active=True, status=OrganizationStatus.ACTIVE
)
DELETED: Final = DeletedOrganization(
    id=UUID(int=1), slug=LONG_SLUG, name="x" * 100, deletes_at=NOW, members=12_000, services=100
)


def standing(organization: Any = _ACTIVE) -> Any:
    """Return the standing of a reader who lacks everything."""
    return SimpleNamespace(
        is_impersonated=False,
        organization=organization,
        user_id=ID,
        role=NAME,
        owner_email=EMAIL,
        lacks=lambda _operation: RequiredStanding.OWNER,
    )


TABS: Final = [
    (f"/app/organizations/{LONG_SLUG}/people", "Members", None),
    (f"/app/organizations/{LONG_SLUG}/people/invited", "Invitations", Capability.ORG_MEMBERS_MANAGE),
    (f"/app/organizations/{LONG_SLUG}/people/end-users", "End users", None),
]


# One of them opens, and shows how a section looks that does.
_SECTIONS: Final = [
    replace(group, sections=(replace(group.sections[0], missing=None), *group.sections[1:]))
    for group in sections_of(standing())
]
# What a search has found, with a group, and with and without what is worth knowing.
FOUND: Final = [
    ("Sections", [FoundPage(address=f"/app/organizations/{LONG_SLUG}/people", title="People", about="Access")]),
    ("Members", [FoundPage(address="/app", title=EMAIL, about=NAME), FoundPage(address="/app", title=NAME)]),
]
CONSOLE: Final[dict[str, Any]] = {
    "form_token": "token",
    "browser": SimpleNamespace(email=EMAIL, is_disowned=False, confined_to=None),
    "standing": standing(),
    "sections": _SECTIONS,
    "is_called_with_key": False,
    "curl": "curl 'https://id.example.com/api/organizations/harbour' \\\n  -H \"Authorization: Bearer $TOKEN\"",
    "outcome": "The organization is created.",
    "problem": PROBLEM,
}

MEMBER: Final = ListedMember(
    id=UUID(ID),
    user_id=UUID(ID),
    email=EMAIL,
    name=NAME,
    role="a" * 50,
    created_at=NOW,
    is_confirmed=True,
    is_suspended=False,
    has_second_factor=True,
    last_sign_in_at=NOW,
    source=MemberSource.DIRECTORY,
)
_MEMBER_PAGE: Final[dict[str, Any]] = {
    **CONSOLE,
    "member": replace(MEMBER, is_suspended=True),
    "page": f"/app/organizations/{LONG_SLUG}/people/{ID}",
}


def _invitation(status: InvitationStatus) -> ListedInvitation:
    return ListedInvitation(
        id=UUID(ID),
        email=EMAIL,
        role=NAME,
        status=status,
        created_at=NOW,
        expires_at=NOW,
        inviter_email=EMAIL,
        services=["shop", LONG_SLUG],
        message=NAME,
    )


CONSOLE_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "platform/organization_search.html": {**CONSOLE, "searched": NAME, "groups": FOUND, "why": ""},
    "invitations/invited.html": {
        "lacks_roles": None,
        **CONSOLE,
        "query": SimpleNamespace(search=EMAIL, status="pending"),
        "is_filtered": True,
        "form": SimpleNamespace(emails=f"{EMAIL}\n{NAME}", role="member", services=["shop"], message=NAME),
        "problems": {"services": PROBLEM, "message": PROBLEM},
        "offered": [("shop", NAME, "shop", None), (LONG_SLUG, NAME, LONG_SLUG, None)],
        "has_more": True,
        "services_max": 20,
        "message_max": 300,
        "lacks_services": None,
        "results": [(EMAIL, ""), (NAME, PROBLEM)],
        "repeated": [EMAIL, "+ 3"],
        "names": [NAME, "+ 12"],
        "found": FoundRows(found=[_invitation(status) for status in InvitationStatus], total=5, next=None),
        "statuses": STATUSES,
        "choices": [("", "Every status"), ("pending", "Waiting")],
        "tabs": TABS,
        "roles": [("member", "member"), ("a" * 50, "a" * 50)],
        "page": f"/app/organizations/{LONG_SLUG}/people/invited",
        "first": f"/app/organizations/{LONG_SLUG}/people/invited",
        "next": f"/app/organizations/{LONG_SLUG}/people/invited?after=b",
    },
    "invitations/invited_acceptance.html": {
        **CONSOLE,
        "email": EMAIL,
        "role": LONG_SLUG,
        "services": ["shop", LONG_SLUG],
        "page": f"/app/organizations/{LONG_SLUG}/people/invited",
        "form_page": f"/app/organizations/{LONG_SLUG}/people/invited/{ID}/accept",
    },
    "organizations/people_one.html": {
        "kept_since": NOW,
        **_MEMBER_PAGE,
        "chosen": "admin",
        "roles": [("admin", "admin"), ("a" * 50, "a" * 50)],
        "sources": SOURCES,
        "lacks_change": None,
        "lacks_removal": Capability.ORG_MEMBERS_MANAGE,
        "is_self": False,
        **RECORD,
    },
    "organizations/people_removal.html": {
        **_MEMBER_PAGE,
        "departure": MemberDeparture(sessions=214, services=3, subscriptions=1, grants=2, invitations=7, keys=1),
        "seen_role": "admin",
        "note": NAME,
    },
    "organizations/people_removed.html": {
        **CONSOLE,
        "done": "removed",
        "email": EMAIL,
        "role": "member",
        "had_role": "admin",
        "lacks_invitation": None,
        "page": "/app/organizations/acme/people",
    },
    "organizations/organizations.html": {
        **CONSOLE,
        "standing": None,
        "mine": SimpleNamespace(
            total=10_001,
            found=[
                SimpleNamespace(
                    organization=_ORGANIZATION, membership=SimpleNamespace(role="owner"), is_suspended=False
                ),
                SimpleNamespace(organization=_ACTIVE, membership=SimpleNamespace(role=NAME), is_suspended=True),
            ],
        ),
        "deleted": [DELETED],
        "query": SimpleNamespace(search=NAME, after="b"),
        "first": "/app/organizations",
        "next": "/app/organizations?after=b",
        "opens_platform": True,
        "form": SimpleNamespace(name=NAME, slug=LONG_SLUG),
        "problems": {"name": "", "slug": PROBLEM},
    },
    "organizations/people.html": {
        "kept_since": NOW,
        **CONSOLE,
        "query": SimpleNamespace(search=EMAIL, role="admin"),
        "is_filtered": True,
        "found": FoundRows(
            found=[
                MEMBER,
                replace(MEMBER, is_suspended=True, has_second_factor=False, name=None),
                replace(MEMBER, is_confirmed=False, has_second_factor=None, last_sign_in_at=None),
            ],
            total=10_001,
            next=None,
        ),
        "roles": [("", "Every role"), ("admin", "admin"), ("a" * 50, "a" * 50)],
        "sources": SOURCES,
        "tabs": TABS,
        "lacks_change": None,
        "lacks_removal": Capability.ORG_MEMBERS_MANAGE,
        "lacks_invitation": None,
        "change_found": f"/app/organizations/{LONG_SLUG}/people/selected/change?found=yes",
        "remove_found": f"/app/organizations/{LONG_SLUG}/people/selected/remove?found=yes",
        "page": f"/app/organizations/{LONG_SLUG}/people",
        "file": f"/app/organizations/{LONG_SLUG}/people/members.csv",
        "first": f"/app/organizations/{LONG_SLUG}/people",
        "next": f"/app/organizations/{LONG_SLUG}/people?after=b",
    },
    "organizations/organizations_overview.html": {
        "lacks_provider": None,
        "lacks_service": None,
        **CONSOLE,
        "lacks_domain": None,
        "found": Overview(
            steps=SetupSteps(
                has_service=True,
                has_colleague=False,
                has_provider=False,
                has_domain=False,
                has_webhook=True,
                has_second_factor=False,
            ),
            is_new=False,
            sign_ins=None,
            matters=[
                *(Matter(kind=kind, at=NOW, name=NAME, target=ID, number=95, maximum=100) for kind in MatterKind),
                Matter(kind=MatterKind.WEBHOOK_OFF, name=NAME, target=ID),
                Matter(kind=MatterKind.SEATS_USED, number=5, maximum=5),
                Matter(kind=MatterKind.INVITATIONS_EXPIRED, number=10_001),
            ],
        ),
        "shown": SHOWN,
    },
}

"""The pages of the people of an organization with sample values: a part of `samples.py`."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.organizations.people import MemberDeparture, SelectedMembers
from core.positions import FoundRows
from core.privacy.anonymization import DataRemoval
from core.privacy.export import ExportedPerson
from core.scim.directory import DirectoryOverview, ProvisionedMember
from core.scim.log import ProvisioningLogEntry
from core.scim.tokens import ScimToken
from core.services.found_end_users import EndUserState, ListedEndUser, SessionsEnding
from entrypoints.pages.services.end_users import STATES
from tests.pages.console_samples import CONSOLE, LONG_SLUG, MEMBER, TABS
from tests.pages.record_samples import RECORD
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_PAGE: Final = f"/app/organizations/{LONG_SLUG}/people"

END_USER: Final = ListedEndUser(
    id=UUID(ID),
    email=EMAIL,
    name=NAME,
    created_at=NOW,
    state=EndUserState.ACTIVE,
    is_verified=None,
    has_second_factor=True,
    last_sign_in_at=NOW,
    services=[],
    plans=[],
)

_PROVISIONED: Final = ProvisionedMember(
    id=UUID(ID),
    email=EMAIL,
    user_name=NAME,
    external_id="x" * 100,
    name=NAME,
    role="a" * 50,
    is_active=True,
    updated_at=NOW,
)
_TOKEN: Final = ScimToken(
    id=UUID(ID), name=NAME, prefix="scim_live_abcdef", created_at=NOW, expires_at=None, last_used_at=NOW
)
_FAILURE: Final = ProvisioningLogEntry(
    id=UUID(ID),
    created_at=NOW,
    token_id=UUID(ID),
    token_name=NAME,
    method="PATCH",
    path="/scim/v2/Users/" + "x" * 200,
    resource_id=None,
    user_name=EMAIL,
    status=409,
    scim_type="uniqueness",
    detail=NAME,
)

PEOPLE_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "privacy/anonymization_removal.html": {
        **CONSOLE,
        "removal": DataRemoval(
            email=EMAIL, sessions=214, services=3, subscriptions=1, invitations=7, keys=1, organizations=2
        ),
        "form": SimpleNamespace(email=EMAIL, note=NAME),
        "page": f"{_PAGE}/personal-data/{ID}/remove",
        "back": f"{_PAGE}/personal-data/{ID}",
    },
    "scim/directory.html": {
        **CONSOLE,
        "query": SimpleNamespace(search=EMAIL),
        "is_filtered": True,
        "shown": DirectoryOverview(
            members=FoundRows(
                found=[_PROVISIONED, replace(_PROVISIONED, name=None, external_id=None, is_active=False)],
                total=10_001,
                next=None,
            ),
            tokens=[_TOKEN, replace(_TOKEN, last_used_at=None, expires_at=NOW)],
            failures=[_FAILURE],
        ),
        "at": NOW,
        "lacks_members": None,
        "tabs": TABS,
        "page": f"{_PAGE}/directory",
        "file": f"{_PAGE}/directory/directory.csv",
        "first": f"{_PAGE}/directory",
        "next": f"{_PAGE}/directory?after=b",
    },
    "services/end_users_one.html": {**CONSOLE, **RECORD, "end_user": END_USER, "states": STATES, "is_self": False},
    "services/end_users.html": {
        **CONSOLE,
        "query": SimpleNamespace(search=EMAIL, service="a" * 50),
        "is_filtered": True,
        "found": FoundRows(
            found=[
                replace(END_USER, state=state, services=["a" * 50] * number, plans=[NAME] * number)
                for number, state in enumerate(EndUserState, 1)
            ],
            total=10_001,
            next=None,
        ),
        "states": STATES,
        "services_shown": 3,
        "tabs": TABS,
        "page": f"{_PAGE}/end-users",
        "file": f"{_PAGE}/end-users/end-users.csv",
        "first": f"{_PAGE}/end-users",
        "next": f"{_PAGE}/end-users?after=b",
    },
    "organizations/members.html": {
        **CONSOLE,
        "is_removal": True,
        "selection": SelectedMembers(
            members=[MEMBER, MEMBER],
            has_more=True,
            total=214,
            departure=MemberDeparture(sessions=214, services=3, subscriptions=1, grants=2, invitations=7, keys=1),
        ),
        "form": SimpleNamespace(note=NAME, role="admin", all="on"),
        "query": SimpleNamespace(search="b", role="member"),
        "job_rows_max": 10_000,
        "results": [(EMAIL, ""), (NAME, PROBLEM)],
        "roles": [("admin", "admin"), ("a" * 50, "a" * 50)],
        "page": _PAGE,
        "action": f"{_PAGE}/selected/remove",
        "found": f"{_PAGE}?search=b",
    },
    "services/end_users_sessions.html": {
        **CONSOLE,
        "ending": SessionsEnding(email=EMAIL, sessions=214, is_everywhere=True),
        "page": f"{_PAGE}/end-users/{ID}",
    },
    "privacy/anonymization.html": {
        **CONSOLE,
        "person": ExportedPerson(id=UUID(ID), email=EMAIL, is_member=True),
        "page": f"{_PAGE}/personal-data/{ID}",
        "back": f"{_PAGE}/{ID}",
    },
}

"""The pages of the people of an organization with sample values: a part of `samples.py`."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.organizations.authority import Authority
from core.organizations.group_roles import GroupRule, WantedRule
from core.organizations.group_rules import ArrivedGroups, RoleChange, RulesOverview, RulesPreview
from core.organizations.people import MemberDeparture, SelectedMembers
from core.positions import FoundRows
from core.privacy.anonymization import DataRemoval
from core.privacy.export import ExportedPerson
from core.scim.directory import DirectoryOverview, ProvisionedMember
from core.scim.directory_groups import PersonInGroup
from core.scim.group_resources import Group
from core.scim.log import ProvisioningLogEntry
from core.scim.tokens import FoundGroups, ScimToken
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
    id=UUID(ID),
    name=NAME,
    prefix="scim_live_abcdef",
    groups=FoundGroups.ORGANIZATION,
    created_at=NOW,
    expires_at=None,
    last_used_at=NOW,
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

_GROUP: Final = Group(
    id=UUID(ID),
    display_name=NAME,
    external_id="x" * 100,
    created_at=NOW,
    updated_at=NOW,
    member_count=10_000,
    changes=7,
)
_RULE: Final = GroupRule(
    id=UUID(ID),
    source="scim",
    group=ID,
    group_name=NAME,
    role="a" * 50,
    made_by=UUID(ID),
    maker=Authority(role=None, permissions=None),
    role_permissions=[],
    created_at=NOW,
)
_OVERVIEW: Final = RulesOverview(
    rules=[_RULE, replace(_RULE, group_name=None, maker=Authority(role="owner", permissions=None)), _RULE],
    arrived=ArrivedGroups(group_names={ID: NAME}, connections=[(ID, NAME)], asserted=[NAME]),
    roles=["admin", "a" * 50],
    state="7",
)
_SOURCES: Final = [("scim", "Groups of your directory"), (ID, NAME)]

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
    "scim/directory_groups.html": {
        **CONSOLE,
        "query": SimpleNamespace(search=NAME),
        "is_filtered": True,
        "found": FoundRows(found=[_GROUP, replace(_GROUP, external_id=None)], total=10_001, next=None),
        "tabs": TABS,
        "page": f"{_PAGE}/groups",
        "file": f"{_PAGE}/groups/groups.csv",
        "first": f"{_PAGE}/groups",
        "next": f"{_PAGE}/groups?after=b",
        "lacks_tokens": None,
    },
    "scim/directory_groups_one.html": {
        **CONSOLE,
        "is_filtered": False,
        "group": _GROUP,
        "found": FoundRows(
            found=[
                PersonInGroup(user_id=UUID(ID), email=EMAIL, name=NAME, role="a" * 50, joined_at=NOW, is_suspended=True)
            ],
            total=10_001,
            next=None,
        ),
        "groups": f"{_PAGE}/groups",
        "rule": f"{_PAGE}/groups/rules?group={ID}#new",
        "page": f"{_PAGE}/groups/{ID}",
        "file": f"{_PAGE}/groups/{ID}/members.csv",
        "first": f"{_PAGE}/groups/{ID}",
        "next": f"{_PAGE}/groups/{ID}?after=b",
    },
    "organizations/group_rules.html": {
        **CONSOLE,
        "overview": _OVERVIEW,
        "form": SimpleNamespace(source="scim", group=NAME, role="admin"),
        "encoded": [f"scim admin {ID}"],
        "sources": _SOURCES,
        "names": dict(_SOURCES),
        "roles": [("admin", "admin"), ("a" * 50, "a" * 50)],
        "page": f"{_PAGE}/groups/rules",
        "groups": f"{_PAGE}/groups",
        "lacks_change": None,
    },
    "organizations/group_rules_check.html": {
        **CONSOLE,
        "preview": RulesPreview(
            changes=[
                RoleChange(user_id=UUID(ID), email=EMAIL, name=NAME, old_role="member", new_role="a" * 50),
            ],
            total=10_001,
            state="7",
        ),
        "wanted": [WantedRule(source="scim", group=ID, role="a" * 50), WantedRule(source=ID, group=NAME, role="admin")],
        "encoded": [f"scim admin {ID}"],
        "group_names": {ID: NAME},
        "names": dict(_SOURCES),
        "warns": True,
        "page": f"{_PAGE}/groups/rules",
    },
    "accounts/locks_organization.html": {
        **CONSOLE,
        "user": SimpleNamespace(email=EMAIL),
        "page": "/app/organizations/acme/people/lock/1",
        "back": "/app/organizations/acme/people",
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

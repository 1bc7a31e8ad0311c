"""The resources of SCIM in requests and answers, and the conditions of a request."""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Final, cast
from uuid import UUID

import msgspec

from core.scim.directory_group_patches import with_read_members
from core.scim.group_patches import member_ids
from core.scim.group_resources import ID_IN_FORM, Group
from core.scim.kept_members import KeptReason
from core.scim.patches import PatchOperation, operations_of
from core.scim.user_filters import USER_SCHEMA
from core.scim.users import DirectoryUser
from entrypoints.http.scim.dialect import GROUP_SCHEMA, KEPT_SCHEMA, LIST_SCHEMA, ROOT
from entrypoints.http.scim.selection import ALWAYS_ANSWERED, Selection
from entrypoints.web.serving.answering.answers import PartialAnswer
from entrypoints.web.serving.calls import Call

COUNT_DEFAULT: Final = 100
COUNT_MAX: Final = 1_000
START_MAX: Final = 10**9


class ListQuery(Selection, kw_only=True, rename="camel"):
    """Which resources of a list, and what of them."""

    start_index: int = 1
    count: int = COUNT_DEFAULT
    filter: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        # Lower values mean the lowest (RFC 7644, 3.4.2.4).
        self.start_index = min(max(self.start_index, 1), START_MAX)
        self.count = min(max(self.count, 0), COUNT_MAX)


class ScimMeta(PartialAnswer, kw_only=True, rename="camel"):
    """About a resource."""

    resource_type: str
    created: datetime
    last_modified: datetime
    location: str
    version: str


class ScimName(PartialAnswer, kw_only=True, rename="camel", omit_defaults=True):
    """The name of a user."""

    formatted: str | None = None
    given_name: str | None = None
    family_name: str | None = None


class ScimEmail(PartialAnswer, kw_only=True):
    """An address of a user."""

    value: str
    type: str
    primary: bool


class ScimUser(PartialAnswer, kw_only=True, rename="camel", omit_defaults=True):
    """A member of the organization."""

    always_answered = ALWAYS_ANSWERED

    schemas: list[str]
    id: UUID
    external_id: str | None
    meta: ScimMeta
    user_name: str
    name: ScimName | None = None
    display_name: str | None = None
    emails: list[ScimEmail]
    active: bool


class ScimUserList(msgspec.Struct, kw_only=True, rename="camel"):
    """A page of users."""

    schemas: list[str]
    total_results: int
    start_index: int
    items_per_page: int
    resources: list[ScimUser] = msgspec.field(name="Resources")


class ScimMember(PartialAnswer, kw_only=True):
    """A member of a group."""

    value: UUID
    ref: str = msgspec.field(name="$ref")
    type: str


class ScimKeptMember(msgspec.Struct, kw_only=True):
    """A member that the change should have removed from the organization, and who stays."""

    value: UUID
    display: str
    reason: KeptReason


class ScimGroup(PartialAnswer, kw_only=True, rename="camel", omit_defaults=True):
    """The organization, as a group of its members, or a group of its directory."""

    always_answered = ALWAYS_ANSWERED

    schemas: list[str]
    id: UUID
    external_id: str | None = None
    meta: ScimMeta
    display_name: str
    members: list[ScimMember] | None = None
    kept: list[ScimKeptMember] | None = msgspec.field(name=KEPT_SCHEMA, default=None)


class ScimGroupList(msgspec.Struct, kw_only=True, rename="camel"):
    """A page of groups."""

    schemas: list[str]
    total_results: int
    start_index: int
    items_per_page: int
    resources: list[ScimGroup] = msgspec.field(name="Resources")


class ScimNameInput(msgspec.Struct, kw_only=True, rename="camel"):
    """The name of a user."""

    formatted: str | None = None
    given_name: str | None = None
    family_name: str | None = None


class ScimEmailInput(msgspec.Struct, kw_only=True):
    """An address of a user; the primary one counts, else that of work, else the first."""

    value: str | None = None
    type: str | None = None
    primary: bool | str | None = None


class ScimUserInput(msgspec.Struct, kw_only=True, rename="camel"):
    """A user as a directory wants it to be; other attributes of the standard are ignored."""

    schemas: list[str] = []
    user_name: str
    external_id: str | None = None
    name: ScimNameInput | None = None
    display_name: str | None = None
    emails: list[ScimEmailInput] | None = None
    active: bool | str | None = None


class ScimMemberInput(msgspec.Struct, kw_only=True):
    """A member of a group."""

    value: str
    type: str | None = None


class ScimGroupInput(msgspec.Struct, kw_only=True, rename="camel", dict=True):
    """A group with all its members; the name of the organization is read-only."""

    schemas: list[str] = []
    display_name: str | None = None
    external_id: str | None = None
    members: list[ScimMemberInput] | None = None

    @cached_property
    def member_ids(self) -> frozenset[UUID]:
        """The ids of the members; raise `InvalidValue`."""
        return member_ids([{"value": one.value, "type": one.type} for one in self.members or []])

    def prepare(self) -> None:
        """Read the ids of the members on the thread that decodes the body: there may be thousands."""
        _ = self.member_ids


class ScimPatchOperation(msgspec.Struct, kw_only=True):
    """A change of one attribute, or without a path of several."""

    op: str
    path: str | None = None
    value: Any = None


class ScimPatch(msgspec.Struct, kw_only=True):
    """The operations of a PATCH, applied in this order or not at all."""

    schemas: list[str] = []
    operations: Annotated[list[ScimPatchOperation], msgspec.Meta(min_length=1)] = msgspec.field(name="Operations")

    def prepare(self) -> None:
        """Read the ids of members on the thread that decodes the body: there may be thousands."""
        for one in self.operations:
            one.value = with_read_members(one.path, one.value)

    @property
    def path_characters(self) -> int:
        """How many characters the paths have together."""
        return sum(len(one.path or "") for one in self.operations)

    def as_operations(self) -> Sequence[PatchOperation]:
        """Return the operations; raise `BadRequest` when one is malformed."""
        return operations_of([(one.op, one.path, one.value) for one in self.operations])


def user_resource(user: DirectoryUser, base_url: str) -> ScimUser:
    """Return a user as it is answered."""
    profile = user.profile
    formatted_name = user.formatted_name
    return ScimUser(
        schemas=[USER_SCHEMA],
        id=user.id,
        external_id=profile.external_id,
        meta=ScimMeta(
            resource_type="User",
            created=user.created_at,
            last_modified=user.updated_at,
            location=f"{base_url}{ROOT}/Users/{user.id}",
            version=etag(user.version),
        ),
        user_name=profile.user_name,
        name=ScimName(formatted=formatted_name, given_name=profile.given_name, family_name=profile.family_name)
        if formatted_name is not None
        else None,
        display_name=profile.display_name,
        emails=[ScimEmail(value=user.email, type="work", primary=profile.is_primary)],
        active=user.is_active,
    )


def user_list(users: list[ScimUser], *, total: int, start: int) -> ScimUserList:
    """Return a page of users as it is answered."""
    return ScimUserList(
        schemas=[LIST_SCHEMA], total_results=total, start_index=start, items_per_page=len(users), resources=users
    )


def group_resource(group: Group, base_url: str) -> ScimGroup:
    """Return a group as it is answered."""
    return ScimGroup(
        schemas=[GROUP_SCHEMA],
        id=group.id,
        external_id=group.external_id,
        meta=ScimMeta(
            resource_type="Group",
            created=group.created_at,
            last_modified=group.updated_at,
            location=f"{base_url}{ROOT}/Groups/{group.id}",
            version=etag(group.version),
        ),
        display_name=group.display_name,
        # As PostgreSQL has written them: making an object of each of 50,000 members would stop all other requests.
        members=cast("list[ScimMember]", msgspec.Raw(f"[{group.members}]")) if group.members is not None else None,
        kept=[ScimKeptMember(value=one.value, display=one.display, reason=one.reason) for one in group.kept] or None,
    )


def member_form(selection: Selection, base_url: str) -> str | None:
    """Return a member as it is answered, with `ID_IN_FORM` as the id; None when the answer shows no members."""
    if not selection.has("members"):
        return None
    member = ScimMember(value=ID_IN_FORM, ref=f"{base_url}{ROOT}/Users/{ID_IN_FORM}", type="User")
    return msgspec.json.encode(selection.of_element("members", member)).decode()


def etag(version: str) -> str:
    """Return a version as a header and `meta.version` have it."""
    return f'W/"{version}"'


def versions_of(call: Call) -> Collection[str] | None:
    """Return the versions of which the resource must have one, by `If-Match`; None when it may have any."""
    if "If-Match" not in call.request.headers:
        return None
    tags = call.request.if_match
    return None if tags.star_tag else tags.as_set(include_weak=True)


def is_unchanged(call: Call, version: str) -> bool:
    """Return whether the client has this version already, by `If-None-Match`."""
    return call.request.if_none_match.contains_weak(version)

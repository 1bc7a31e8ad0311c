"""The resources of SCIM in requests and answers, the attributes of an answer, and the conditions of a request."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Final, TypeVar, cast
from uuid import UUID

import msgspec

from core.errors import BadRequest
from core.scim.directory_group_patches import with_read_members
from core.scim.group_patches import member_ids
from core.scim.group_resources import ID_IN_FORM, Group
from core.scim.kept_members import KeptReason
from core.scim.patches import PatchOperation, operations_of
from core.scim.user_filters import USER_SCHEMA
from core.scim.users import DirectoryUser
from entrypoints.http.scim.dialect import GROUP_SCHEMA, KEPT_SCHEMA, LIST_SCHEMA, ROOT
from entrypoints.web.input.decoding import Query
from entrypoints.web.serving.answering.answers import PartialAnswer
from entrypoints.web.serving.calls import Call

# In one list; a resource has some twenty.
NAMES_MAX: Final = 200
# Returned whatever the request names.
ALWAYS_ANSWERED: Final = frozenset({"schemas", "id"})
_RESOURCES: Final = "Resources"
_PREFIXES: Final = tuple(f"{schema.lower()}:" for schema in (USER_SCHEMA, GROUP_SCHEMA))
Resource = TypeVar("Resource", bound=msgspec.Struct)


class Selection(Query, kw_only=True, rename="camel"):
    """What of a resource to answer: lists of attributes, as in `userName,name.givenName`."""

    attributes: str | None = None
    excluded_attributes: str | None = None

    def __post_init__(self) -> None:
        for name, text in (("attributes", self.attributes), ("excludedAttributes", self.excluded_attributes)):
            if text is not None and text.count(",") >= NAMES_MAX:
                raise BadRequest.of_field(name, f"Name at most {NAMES_MAX} attributes.")

    def of(self, resource: Resource) -> Resource:
        """Return a resource or a list of resources with the attributes that are wanted, or as it is."""
        if not (_names(self.attributes) or _names(self.excluded_attributes)):
            return resource
        wanted, unwanted = _Named(self.attributes), _Named(self.excluded_attributes)
        # What is encoded already has the wanted parts alone (`of_element`).
        answer = msgspec.to_builtins(resource, builtin_types=[msgspec.Raw])
        if _RESOURCES in answer:
            parts = [_part_of(one, wanted, unwanted) for one in answer[_RESOURCES]]
            return cast("Resource", answer | {_RESOURCES: parts})
        # It encodes as the resource does, apart from the attributes that are left out.
        return cast("Resource", _part_of(answer, wanted, unwanted))

    def of_element(self, attribute: str, element: msgspec.Struct) -> Any:
        """Return the wanted parts of an element of an attribute that is a list."""
        wanted, unwanted = _Named(self.attributes), _Named(self.excluded_attributes)
        return _part_of({attribute: msgspec.to_builtins(element)}, wanted, unwanted)[attribute]

    def has(self, attribute: str) -> bool:
        """Return whether the answer has an attribute; if not, it need not be read."""
        wanted = _names(self.attributes)
        is_wanted = not wanted or any(name.partition(".")[0] == attribute for name in wanted)
        return is_wanted and attribute not in _names(self.excluded_attributes)


def _names(text: str | None) -> frozenset[str]:
    """Return the names of attributes in a list, in lower case and without the schema."""
    names = (name.strip().lower() for name in (text or "").split(","))
    return frozenset(_without_schema(name) for name in names if name)


def _without_schema(name: str) -> str:
    return next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name)


class _Named:
    """The attributes in a list, read once for all resources: their names, and of which parts each is named with."""

    def __init__(self, text: str | None) -> None:
        self.names = _names(text)
        self._parts: dict[str, set[str]] = {}
        for name in self.names:
            attribute, dot, part = name.partition(".")
            if dot:
                self._parts.setdefault(attribute, set()).add(part)

    def parts_of(self, attribute: str) -> frozenset[str]:
        """Return the parts of an attribute that are named."""
        return frozenset(self._parts.get(attribute, ()))


def _part_of(resource: Mapping[str, Any], wanted: _Named, unwanted: _Named) -> dict[str, Any]:
    """Return the attributes of a resource that are requested (RFC 7644, 3.9)."""
    part: dict[str, Any] = {}
    for name, value in resource.items():
        key = name.lower()
        if name in ALWAYS_ANSWERED:
            part[name] = value
        elif key in unwanted.names:
            continue
        elif not wanted.names or key in wanted.names:
            part[name] = _without(value, unwanted.parts_of(key))
        elif parts := wanted.parts_of(key):
            part[name] = _only(value, parts)
    return part


def _without(value: Any, subs: frozenset[str]) -> Any:
    return _filtered(value, lambda name: name.lower() not in subs) if subs else value


def _only(value: Any, subs: frozenset[str]) -> Any:
    return _filtered(value, lambda name: name.lower() in subs)


def _filtered(value: Any, keeps: Callable[[str], bool]) -> Any:
    if isinstance(value, list):
        return [_filtered(element, keeps) for element in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: part for name, part in cast("dict[str, Any]", value).items() if keeps(name)}
    return value


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

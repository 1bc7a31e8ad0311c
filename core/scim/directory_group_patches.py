"""Filters of the groups of a directory, and the operations of a PATCH to one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any, Final, cast
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.scim import filters
from core.scim.filters import And, Comparison, Filter, Operator, Or, TargetPath, ValuePath
from core.scim.group_resources import Group
from core.scim.patches import OperationKind, PatchOperation, target_of
from core.scim.refusals import InvalidFilter, InvalidPath, InvalidValue, NoTarget, ReadOnlyAttribute
from core.text import stored_form
from core.wording import Wording

_MEMBER: Final = frozenset({"members", "members.value"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSearch:
    """The values that all have to fit; None for any. Each account of `member_ids` has to be in the group.

    `is_impossible` means that no group can fit.
    """

    display_name: str | None = None
    external_id: str | None = None
    group_id: UUID | None = None
    member_ids: frozenset[UUID] = frozenset()
    is_impossible: bool = False

    def of_accounts(self, accounts: frozenset[UUID]) -> GroupSearch:
        """Return the search with accounts instead of the ids by which the organization knows them."""
        return replace(self, member_ids=accounts)


def search_of(filter_: Filter) -> GroupSearch:
    """Return the search that a filter means; raise `InvalidFilter`."""
    _require_conjunction(filter_)
    found = GroupSearch()
    for comparison in filters.comparisons(filter_):
        found = _narrowed(found, comparison)
    return found


def _require_conjunction(filter_: Filter) -> None:
    match filter_:
        case Comparison(operator=Operator.EQ):
            return
        case And():
            _require_conjunction(filter_.left)
            _require_conjunction(filter_.right)
        case ValuePath():
            _require_conjunction(filter_.inner)
        case _:
            raise _unsupported()


def _narrowed(found: GroupSearch, comparison: Comparison) -> GroupSearch:
    key, text = comparison.path.key, comparison.value
    if not isinstance(text, str):
        raise _unsupported()
    if key == "displayname":
        return _with_name(found, stored_form(text))
    if key == "externalid":
        external_id = stored_form(text)
        return replace(
            found, external_id=external_id, is_impossible=_contradicts(found, found.external_id, external_id)
        )
    if key not in {"id", *_MEMBER}:
        raise _unsupported()
    named = next(_ids([text]), None)
    if named is None:
        # No group and no member has a text that is no id.
        return replace(found, is_impossible=True)
    if key in _MEMBER:
        return replace(found, member_ids=found.member_ids | {named})
    return replace(found, group_id=named, is_impossible=_contradicts(found, found.group_id, named))


def _with_name(found: GroupSearch, name: str) -> GroupSearch:
    # The database compares names in any case; this compares two names within one filter.
    is_other = found.display_name is not None and found.display_name.casefold() != name.casefold()
    return replace(found, display_name=name, is_impossible=found.is_impossible or is_other)


def _contradicts(found: GroupSearch, held: object, wanted: object) -> bool:
    return found.is_impossible or held not in {None, wanted}


def _ids(texts: Iterable[str]) -> Iterator[UUID]:
    for text in texts:
        try:
            yield UUID(text)
        except ValueError:
            continue


def _unsupported() -> InvalidFilter:
    return InvalidFilter(
        "Groups are filtered by displayName, externalId, id and members.value, each compared by eq with a text, and"
        " several of them by and."
    )


GROUP_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:Group"
_MEMBERS: Final = "members"
_GROUP: Final = "group"
# Clients often send these in an operation without a path, as part of the whole resource.
_IGNORED: Final = frozenset({"schemas", "meta"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """The new name of a group, and the members to add and to remove; with `replaces` all others are removed."""

    display_name: str
    external_id: str | None
    replaces: bool = False
    added: frozenset[UUID] = field(default=frozenset(), repr=False)
    removed: frozenset[UUID] = field(default=frozenset(), repr=False)


def changed(group: Group, operations: Sequence[PatchOperation]) -> GroupChange:
    """Return the change that the operations make to a group, applied in order."""
    draft = _Draft(id=group.id, display_name=group.display_name, external_id=group.external_id)
    for operation in operations:
        draft.apply(operation)
    return GroupChange(
        display_name=draft.display_name,
        external_id=draft.external_id,
        replaces=draft.replaces,
        added=frozenset(draft.added),
        removed=frozenset(draft.removed),
    )


def member_ids(value: Any) -> frozenset[UUID]:
    """Return the ids that a value of `members` names; raise `InvalidValue` for what is no user."""
    if isinstance(value, frozenset):
        return cast("frozenset[UUID]", value)
    named = _listed(value)
    ids = [id_ for id_ in map(_id, named) if id_ is not None]
    if len(ids) < len(named):
        raise InvalidValue("members: This organization has no user with one of these ids.")
    return frozenset(ids)


def with_read_members(path: str | None, value: Any) -> Any:
    """Return the value of an operation with ids in place of a list of members; unchanged if one is no user.

    There may be thousands of members, so their ids are read with the decoding of the body, outside the event loop.
    """
    if path is not None:
        return _read(value) if path.lower() == _MEMBERS else value
    if not isinstance(value, dict):
        return value
    parts = cast("dict[str, Any]", value)
    return {name: _read(part) if name.lower() == _MEMBERS else part for name, part in parts.items()}


def _read(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    try:
        return member_ids(cast("list[Any]", value))
    except InvalidValue:
        return cast("list[Any]", value)


@dataclass(slots=True)
class _Draft:
    """A group while the operations are applied."""

    id: UUID
    display_name: str
    external_id: str | None
    replaces: bool = False
    added: set[UUID] = field(default_factory=set[UUID])
    removed: set[UUID] = field(default_factory=set[UUID])

    def apply(self, operation: PatchOperation) -> None:
        target = operation.target
        if target is not None:
            self._apply_to(operation.kind, target, operation.value)
        elif operation.kind is OperationKind.REMOVE:
            raise NoTarget
        elif not isinstance(operation.value, dict):
            raise InvalidValue("An operation without a path has an object of attributes as its value.")
        else:
            self._apply_all(operation.kind, cast("dict[str, Any]", operation.value))

    def _apply_all(self, kind: OperationKind, parts: dict[str, Any]) -> None:
        for name, part in parts.items():
            if name.lower() == GROUP_SCHEMA.lower() and isinstance(part, dict):
                # The attributes below the name of their schema.
                self._apply_all(kind, cast("dict[str, Any]", part))
            elif name.lower() not in _IGNORED:
                self._apply_to(kind, target_of(name), part)

    def _apply_to(self, kind: OperationKind, target: TargetPath, value: Any) -> None:
        schema, name = target.attribute.schema, target.attribute.name.lower()
        if schema is not None and schema.lower() != GROUP_SCHEMA.lower():
            # An extension; none is kept.
            return
        new = None if kind is OperationKind.REMOVE else value
        if name == _MEMBERS and target.attribute.sub is None and target.sub is None:
            self._change_members(kind, target, value)
        elif target.key == "displayname":
            self.display_name = _text("displayName", new) or ""
        elif target.key == "externalid":
            self.external_id = _text("externalId", new)
        elif name in {"id", *_IGNORED}:
            if kind is OperationKind.REMOVE or str(value).lower() != str(self.id):
                raise ReadOnlyAttribute(Wording("%(attribute)s is read-only.", attribute=target.attribute))
        else:
            raise InvalidPath(Wording("A group has no attribute %(target)s that can be changed.", target=target))

    def _change_members(self, kind: OperationKind, target: TargetPath, value: Any) -> None:
        if kind is OperationKind.REMOVE:
            self._remove(_named(target.values, value))
        elif target.values is not None:
            raise InvalidPath("The parts of a member cannot be changed. Remove it and add another.")
        else:
            named = member_ids(value) if value is not None else frozenset[UUID]()
            if kind is OperationKind.REPLACE:
                self._remove(None)
            self.added |= named
            self.removed -= named

    def _remove(self, named: frozenset[UUID] | None) -> None:
        """Remove these members; None for all."""
        if named is None:
            self.replaces = True
            self.added.clear()
            self.removed.clear()
        else:
            self.added -= named
            self.removed |= named


def _named(values: Filter | None, value: Any) -> frozenset[UUID] | None:
    """Return the members that a removal names; None for all (RFC 7644, 3.5.2.2). An unknown user is in no group."""
    if values is not None:
        return frozenset(id_ for text in _selected(values) if (id_ := _id({"value": text})) is not None)
    if value is None:
        return None
    if isinstance(value, frozenset):
        return cast("frozenset[UUID]", value)
    return frozenset(id_ for id_ in map(_id, _listed(value)) if id_ is not None)


def _selected(filter_: Filter) -> Iterable[str]:
    """Return the values that a filter of members selects."""
    match filter_:
        case Or():
            return [*_selected(filter_.left), *_selected(filter_.right)]
        case Comparison(operator=Operator.EQ, value=str() as text) if filter_.path.key == "value":
            return [text]
        case _:
            raise InvalidPath('Members are selected by their value, as in members[value eq "…"].')


def _listed(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _id(member: Any) -> UUID | None:
    """Return the id of a member; None for a text that is no id. Raise `InvalidValue` for another structure."""
    kind = None
    if isinstance(member, dict):
        named = {str(name).lower(): part for name, part in cast("dict[Any, Any]", member).items()}
        member, kind = named.get("value"), named.get("type")
    if isinstance(kind, str) and kind.lower() == _GROUP:
        raise InvalidValue("members: A group has users as its members, no groups. Send the users of the inner group.")
    if not isinstance(member, str):
        raise InvalidValue("members: Each member is an object with the id of a user as its value.")
    try:
        return UUID(member)
    except ValueError:
        return None


def _text(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise InvalidValue(Wording("%(name)s: This must be a text.", name=name))

"""Filters of the groups of a directory, and the operations of a PATCH to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, Final, cast
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.scim import filters
from core.scim.filters import And, Comparison, Filter, Operator, TargetPath, ValuePath
from core.scim.group_patches import MemberChange, member_change, member_ids
from core.scim.group_resources import Group
from core.scim.patches import OperationKind, PatchOperation, target_of
from core.scim.refusals import InvalidFilter, InvalidPath, InvalidValue, ReadOnlyAttribute
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
    named = next(filters.ids_among([text]), None)
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


def _unsupported() -> InvalidFilter:
    return InvalidFilter(
        "Groups are filtered by displayName, externalId, id and members.value, each compared by eq with a text, and"
        " several of them by and."
    )


GROUP_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:Group"
_MEMBERS: Final = "members"
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
        if operation.target is not None:
            self._apply_to(operation.kind, operation.target, operation.value)
        else:
            self._apply_all(operation.kind, operation.attributes)

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
            self._change_members(member_change(kind, target.values, value, is_of_directory=True))
        elif target.key == "displayname":
            self.display_name = _text("displayName", new) or ""
        elif target.key == "externalid":
            self.external_id = _text("externalId", new)
        elif name in {"id", *_IGNORED}:
            if kind is OperationKind.REMOVE or str(value).lower() != str(self.id):
                raise ReadOnlyAttribute(Wording("%(attribute)s is read-only.", attribute=target.attribute))
        else:
            raise InvalidPath(Wording("A group has no attribute %(target)s that can be changed.", target=target))

    def _change_members(self, change: MemberChange) -> None:
        if change.kind is OperationKind.REMOVE:
            self.added -= change.ids
            self.removed |= change.ids
            return
        if change.kind is OperationKind.REPLACE:
            self.replaces = True
            self.added.clear()
            self.removed.clear()
        self.added |= change.ids
        self.removed -= change.ids


def _text(name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise InvalidValue(Wording("%(name)s: This must be a text.", name=name))

"""Reads the changes of a group's members from the operations of a PATCH."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, cast
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.scim.filters import Comparison, Filter, Operator, Or, TargetPath, ids_among
from core.scim.patches import OperationKind, PatchOperation, target_of
from core.scim.refusals import InvalidPath, InvalidValue, ReadOnlyAttribute
from core.wording import Wording

_MEMBERS: Final = "members"
_GROUP: Final = "group"
_READ_ONLY: Final = frozenset({"id", "meta", "displayname", "externalid", "schemas"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberChange:
    """Members to add, to remove, or to replace all others."""

    kind: OperationKind
    ids: frozenset[UUID]


def member_changes(operations: Sequence[PatchOperation], held: Mapping[str, Any]) -> Iterator[MemberChange]:
    """List the changes of the members in order; successive changes of one kind are one.

    Some directories send an operation for each member. `held` has the read-only attributes by their lower-case names; a
    client may send them unchanged.
    """
    for kind, alike in groupby(_changes(operations, held), key=lambda change: change.kind):
        if kind is OperationKind.REPLACE:
            yield from alike
        else:
            yield MemberChange(kind=kind, ids=frozenset(user_id for change in alike for user_id in change.ids))


def _changes(operations: Sequence[PatchOperation], held: Mapping[str, Any]) -> Iterator[MemberChange]:
    for operation in operations:
        if operation.target is not None:
            yield from _changes_of(operation.kind, operation.target, operation.value, held)
            continue
        for name, part in operation.attributes.items():
            yield from _changes_of(operation.kind, target_of(name), part, held)


def _changes_of(kind: OperationKind, target: TargetPath, value: Any, held: Mapping[str, Any]) -> Iterator[MemberChange]:
    name = target.attribute.name.lower()
    if name in _READ_ONLY:
        if kind is OperationKind.REMOVE or (name in held and value != held[name]):
            raise ReadOnlyAttribute(
                Wording(
                    "%(attribute)s of a group is read-only: change the organization instead.",
                    attribute=target.attribute,
                )
            )
    elif name != _MEMBERS or target.attribute.sub is not None or target.sub is not None:
        raise InvalidPath(Wording("A group has no attribute %(target)s that can be changed.", target=target))
    else:
        yield member_change(kind, target.values, value)


def member_change(
    kind: OperationKind, selected: Filter | None, value: Any, *, is_of_directory: bool = False
) -> MemberChange:
    """Return the change that an operation makes to `members`; raise `InvalidPath` or `InvalidValue`.

    No group of a directory has an unknown user, so removing one there changes nothing.
    """
    if kind is not OperationKind.REMOVE:
        if selected is not None:
            raise InvalidPath("The parts of a member cannot be changed. Remove it and add another.")
        ids = member_ids(value, is_of_directory=is_of_directory) if value is not None else frozenset[UUID]()
        return MemberChange(kind=kind, ids=ids)
    if selected is None and value is None:
        # Remove all members (RFC 7644, 3.5.2.2).
        return MemberChange(kind=OperationKind.REPLACE, ids=frozenset())
    if selected is None and isinstance(value, frozenset):
        return MemberChange(kind=kind, ids=cast("frozenset[UUID]", value))
    texts = _selected(selected) if selected is not None else _texts(value, is_of_directory=is_of_directory)
    return MemberChange(kind=kind, ids=frozenset(ids_among(texts)) if is_of_directory else _ids(texts))


def member_ids(value: Any, *, is_of_directory: bool = True) -> frozenset[UUID]:
    """Return the ids that a value of `members` names; raise `InvalidValue` for what is no user."""
    if isinstance(value, frozenset):
        return cast("frozenset[UUID]", value)
    texts = _texts(value, is_of_directory=is_of_directory)
    return _ids([*texts] if is_of_directory else texts)


def _ids(texts: Iterable[str]) -> frozenset[UUID]:
    try:
        return frozenset(map(UUID, texts))
    except ValueError:
        raise InvalidValue("members: This organization has no user with one of these ids.") from None


def _selected(filter_: Filter) -> Iterator[str]:
    """Return the values that a filter of members selects."""
    match filter_:
        case Or():
            yield from _selected(filter_.left)
            yield from _selected(filter_.right)
        case Comparison(operator=Operator.EQ, value=str() as text) if filter_.path.key == "value":
            yield text
        case _:
            raise InvalidPath('Members are selected by their value, as in members[value eq "…"].')


def _texts(value: Any, *, is_of_directory: bool) -> Iterator[str]:
    """Return the ids of members as they are written; raise `InvalidValue` for another structure."""
    for member in cast("list[Any]", value) if isinstance(value, list) else [value]:
        text, kind = member, None
        if isinstance(member, dict):
            named = {str(name).lower(): part for name, part in cast("dict[Any, Any]", member).items()}
            text, kind = named.get("value"), named.get("type")
        if is_of_directory and isinstance(kind, str) and kind.lower() == _GROUP:
            raise InvalidValue(
                "members: A group has users as its members, no groups. Send the users of the inner group."
            )
        if not isinstance(text, str):
            raise InvalidValue("members: Each member is an object with the id of a user as its value.")
        yield text

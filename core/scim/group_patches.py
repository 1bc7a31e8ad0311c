"""Reads the changes of a group's members from the operations of a PATCH."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, cast
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.scim.filters import Comparison, Filter, Operator, Or, TargetPath
from core.scim.patches import OperationKind, PatchOperation, target_of
from core.scim.refusals import InvalidPath, InvalidValue, NoTarget, ReadOnlyAttribute
from core.wording import Wording

_MEMBERS: Final = "members"
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
        target = operation.target
        if target is not None:
            yield from _changes_of(operation.kind, target, operation.value, held)
        elif operation.kind is OperationKind.REMOVE:
            raise NoTarget
        else:
            yield from _changes_in(operation.kind, operation.value, held)


def ids_in(value: Any) -> frozenset[UUID]:
    """Return the ids that a value of `members` names; raise `InvalidValue`."""
    if isinstance(value, frozenset):
        return cast("frozenset[UUID]", value)
    listed = cast("list[Any]", value) if isinstance(value, list) else [value]
    return frozenset(_id(member) for member in listed)


def id_of(text: str) -> UUID:
    """Return the id of a member; raise `InvalidValue` when no user has such an id."""
    try:
        return UUID(text)
    except ValueError:
        raise InvalidValue("members: This organization has no user with one of these ids.") from None


def _changes_in(kind: OperationKind, value: Any, held: Mapping[str, Any]) -> Iterator[MemberChange]:
    if not isinstance(value, dict):
        raise InvalidValue("An operation without a path has an object of attributes as its value.")
    for name, part in cast("dict[str, Any]", value).items():
        yield from _changes_of(kind, target_of(name), part, held)


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
    elif kind is OperationKind.REMOVE:
        yield _removal(target.values, value)
    elif target.values is None:
        yield MemberChange(kind=kind, ids=ids_in(value) if value is not None else frozenset())
    else:
        raise InvalidPath("The parts of a member cannot be changed. Remove it and add another.")


def _removal(values: Filter | None, value: Any) -> MemberChange:
    if values is not None:
        return MemberChange(kind=OperationKind.REMOVE, ids=frozenset(_selected(values)))
    if value is None:
        # Remove all members (RFC 7644, 3.5.2.2).
        return MemberChange(kind=OperationKind.REPLACE, ids=frozenset())
    return MemberChange(kind=OperationKind.REMOVE, ids=ids_in(value))


def _selected(filter_: Filter) -> Iterable[UUID]:
    """Return the ids that a filter of members selects."""
    match filter_:
        case Or():
            return [*_selected(filter_.left), *_selected(filter_.right)]
        case Comparison(operator=Operator.EQ, value=str() as text) if filter_.path.key == "value":
            return [id_of(text)]
        case _:
            raise InvalidPath('Members are selected by their value, as in members[value eq "…"].')


def _id(member: Any) -> UUID:
    if isinstance(member, dict):
        named = {str(name).lower(): part for name, part in cast("dict[Any, Any]", member).items()}
        member = named.get("value")
    if not isinstance(member, str):
        raise InvalidValue("members: Each member is an object with the id of a user as its value.")
    return id_of(member)

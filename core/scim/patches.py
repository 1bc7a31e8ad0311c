"""The operations of a PATCH (RFC 7644, 3.5.2), as Entra, Okta and others really send them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, Final, cast

from core.lazy_dataclasses import dataclass
from core.scim import filters
from core.scim.filters import TargetPath
from core.scim.refusals import InvalidFilter, InvalidPath, InvalidSyntax, InvalidValue, NoTarget, TooMany
from core.wording import Wording

# More than any client sends; each operation may change as many members as the body holds.
OPERATIONS_MAX: Final = 1_000
# Long enough to name several members, and short enough that reading all paths of a request takes no time.
PATH_CHARACTERS_MAX: Final = 500
# Of all paths and names of attributes in a request together, because they are read before anything else runs.
NAMES_CHARACTERS_MAX: Final = 100_000


class OperationKind(StrEnum):
    """What an operation does."""

    ADD = "add"
    REPLACE = "replace"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchOperation:
    """An operation; without a target its value is an object of attributes."""

    kind: OperationKind
    target: TargetPath | None
    value: Any

    @property
    def attributes(self) -> dict[str, Any]:
        """What an operation without a target changes; raise `NoTarget` for a removal, and `InvalidValue`."""
        if self.kind is OperationKind.REMOVE:
            raise NoTarget
        return attributes_of(self.value)


def operations_of(sent: Sequence[tuple[str, str | None, Any]]) -> Sequence[PatchOperation]:
    """Return the operations of one request, each sent as its kind, path and value.

    Raise `TooMany`, `InvalidSyntax`, or `InvalidPath`.
    """
    if not sent:
        raise InvalidSyntax("A PATCH has at least one operation in Operations.")
    if len(sent) > OPERATIONS_MAX:
        raise TooMany(
            Wording("A PATCH has at most %(maximum)s operations. Send several requests.", maximum=OPERATIONS_MAX)
        )
    if not _has_short_names(sent):
        raise TooMany(
            Wording(
                "The paths of a PATCH have at most %(maximum)s characters. Send several requests.",
                maximum=NAMES_CHARACTERS_MAX,
            )
        )
    return [operation(*one) for one in sent]


def operation(kind: str, path: str | None, value: Any) -> PatchOperation:
    """Return the operation of a request; its kind may be written in any case."""
    if kind.lower() not in set(OperationKind):
        raise InvalidSyntax(
            Wording("The operation %(operation)s is none of add, replace and remove.", operation=repr(kind[:20]))
        )
    return PatchOperation(
        kind=OperationKind(kind.lower()), target=target_of(path) if path is not None else None, value=value
    )


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes in the value of an operation without a path; raise `InvalidValue`."""
    if not isinstance(value, dict):
        raise InvalidValue("An operation without a path has an object of attributes as its value.")
    return cast("dict[str, Any]", value)


def target_of(path: str) -> TargetPath:
    """Return the target that a path names; raise `InvalidPath`."""
    if len(path) > PATH_CHARACTERS_MAX:
        raise InvalidPath(
            Wording("The path of an operation has at most %(maximum)s characters.", maximum=PATH_CHARACTERS_MAX)
        )
    try:
        return filters.parse_target(path)
    except InvalidFilter as problem:
        raise InvalidPath(
            Wording("The path of an operation is not valid. %(problem)s", problem=problem.message)
        ) from None


def _has_short_names(sent: Sequence[tuple[str, str | None, Any]]) -> bool:
    """Return whether the paths and names of attributes, also in the objects of schemas, are short enough together.

    The count stops at the maximum.
    """
    left = NAMES_CHARACTERS_MAX
    for _, path, value in sent:
        left -= len(path or "")
        for parts in _objects_in(value):
            # All names of an object but one have at least one character.
            if len(parts) - 1 > left:
                return False
            left -= sum(map(len, parts))
        if left < 0:
            return False
    return True


def _objects_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield cast("dict[str, Any]", value)
        for part in cast("dict[str, Any]", value).values():
            if isinstance(part, dict):
                yield cast("dict[str, Any]", part)

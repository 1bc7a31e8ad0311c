"""The operations of a PATCH (RFC 7644, 3.5.2), as clients really send them (decisions 8.2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from core.scim import filter_parser
from core.scim.refusals import InvalidFilter, InvalidPath, InvalidSyntax, TooMany

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.scim.filters import TargetPath

# More than any client sends; each may change as many members as fit the body.
OPERATIONS_MAX: Final = 1_000
# Long enough to name several members, and short enough that reading all paths of a request takes no time.
PATH_CHARACTERS_MAX: Final = 500


class OperationKind(StrEnum):
    """What an operation does."""

    ADD = "add"
    REPLACE = "replace"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation; without a target its value is an object of attributes."""

    kind: OperationKind
    target: TargetPath | None
    value: Any


def operation(kind: str, path: str | None, value: Any) -> Operation:
    """Return the operation of a request; its kind may be written in any case."""
    if kind.lower() not in set(OperationKind):
        raise InvalidSyntax(f"The operation {kind[:20]!r} is none of add, replace and remove.")
    return Operation(
        kind=OperationKind(kind.lower()), target=target_of(path) if path is not None else None, value=value
    )


def target_of(path: str) -> TargetPath:
    """Return the target that a path names; raise `InvalidPath`."""
    if len(path) > PATH_CHARACTERS_MAX:
        raise InvalidPath(f"The path of an operation has at most {PATH_CHARACTERS_MAX} characters.")
    try:
        return filter_parser.parse_target(path)
    except InvalidFilter as problem:
        raise InvalidPath(f"The path of an operation is not valid. {problem.message}") from None


def checked(operations: Sequence[Operation]) -> Sequence[Operation]:
    """Return the operations of one request; raise `TooMany`, or `InvalidSyntax` when there is none."""
    if not operations:
        raise InvalidSyntax("A PATCH has at least one operation in Operations.")
    if len(operations) > OPERATIONS_MAX:
        raise TooMany(f"A PATCH has at most {OPERATIONS_MAX} operations. Send several requests.")
    return operations

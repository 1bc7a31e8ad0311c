"""Checks for input that decodes but that the database cannot store: NUL, lone surrogates, numbers of any size."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

from msgspec import inspect

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
# A union in place of the tuple would take three times as long for each value of a body.
_CONTAINERS: Final = (dict, list)


def is_storable(text: str) -> bool:
    """Return whether a text has neither NUL, which PostgreSQL does not store, nor a lone surrogate."""
    return _UNSTORABLE.search(text) is None


def as_shown(text: str) -> str:
    """Replace the characters that cannot be stored or encoded."""
    return _UNSTORABLE.sub("\ufffd", text)


def nul_escape(data: bytes) -> int | None:
    """Return the position of the first NUL in a JSON body, which is always written as an escape, or None."""
    if rb"\u0000" not in data:
        return None
    # Without escaped backslashes, every other backslash begins an escape.
    position = data.replace(rb"\\", b"__").find(rb"\u0000")
    return position if position >= 0 else None


def unstorable_fields(data: bytes) -> Iterator[str]:
    """List the paths of the fields of a JSON body whose texts cannot be stored; ignored fields count as well.

    Raise `ValueError` when the body is not valid JSON, `RecursionError` when it is nested too deeply.
    """
    # The standard library refuses whole numbers of very many digits, which do not matter here.
    pending = [_Container(json.loads(data.decode(), parse_int=float), "", None)]
    while pending:
        container = pending.pop()
        for step, value in _members(container.value):
            if isinstance(value, str) and not is_storable(value):
                yield container.path_of(step)
            if isinstance(value, _CONTAINERS):
                pending.append(_Container(value, step, container))


def unbounded_numbers(shape: Any) -> list[str]:
    """Return the paths of the whole numbers in a type that have no bounds, and so may fit no column."""
    return [path for path, kind in simple_types(inspect.type_info(shape)) if _is_unbounded(kind)]


def simple_types(
    kind: inspect.Type, path: str = "", within: tuple[type[Any], ...] = ()
) -> Iterator[tuple[str, inspect.Type]]:
    """List the simple types inside a type, each with its path."""
    match kind:
        case inspect.StructType() | inspect.DataclassType():
            # A type may contain itself.
            for field in kind.fields if kind.cls not in within else ():
                yield from simple_types(
                    field.type, f"{path}.{field.encode_name}".removeprefix("."), (*within, kind.cls)
                )
        case inspect.UnionType():
            for one in kind.types:
                yield from simple_types(one, path, within)
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType() | inspect.FrozenSetType():
            yield from simple_types(kind.item_type, f"{path}[]", within)
        case inspect.DictType():
            yield from simple_types(kind.key_type, f"{path}{{}}", within)
            yield from simple_types(kind.value_type, f"{path}{{}}", within)
        case inspect.Metadata():
            yield from simple_types(kind.type, path, within)
        case _:
            yield path, kind


def _is_unbounded(kind: inspect.Type) -> bool:
    if not isinstance(kind, inspect.IntType):
        return False
    return (kind.ge is None and kind.gt is None) or (kind.le is None and kind.lt is None)


class _Container(NamedTuple):
    """An object or a list inside a body, and its position; the path is built only when it is needed."""

    value: Any
    step: str | int
    parent: "_Container | None"

    def path_of(self, step: str | int) -> str:
        steps = [step]
        container = self
        while container.parent is not None:
            steps.append(container.step)
            container = container.parent
        written = (f".{step}" if isinstance(step, str) else f"[{step}]" for step in reversed(steps))
        return "".join(written).removeprefix(".")


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    """List the members of an object or a list with their path steps; the keys of an object are checked as texts too."""
    if isinstance(value, list):
        yield from enumerate(cast("list[Any]", value))
    elif isinstance(value, dict):
        for name, item in cast("dict[str, Any]", value).items():
            yield name, name
            yield name, item

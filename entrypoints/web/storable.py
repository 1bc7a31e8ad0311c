"""Checks for input that decodes but that the database cannot store: lone surrogates, deep nesting, large numbers.

Bodies are checked as bytes where that is faster than checking values, because any caller may send a megabyte.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

from msgspec import inspect

NESTING_LEVELS_MAX: Final = 50

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
# In JSON, these characters can only be written as escapes.
_SUSPICIOUS: Final = re.compile(rb"\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})")
# The closing quotation mark may be missing, so that a broken body is not searched again from every other one.
_STRING: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_CURLY_AS_SQUARE: Final = bytes.maketrans(b"{}", b"[]")
_ALL_BUT_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))


def is_storable(text: str) -> bool:
    """Return whether a text has neither NUL, which PostgreSQL does not store, nor a lone surrogate."""
    return _UNSTORABLE.search(text) is None


def as_shown(text: str) -> str:
    """Replace the characters that cannot be stored or encoded."""
    return _UNSTORABLE.sub("\ufffd", text)


def unstorable_fields(data: bytes) -> Iterator[str]:
    """List the paths of the fields of a JSON body whose texts cannot be stored; ignored fields count as well.

    Raise `ValueError` when the body is not valid JSON.
    """
    if not _SUSPICIOUS.search(data):
        return
    # The standard library refuses whole numbers of very many digits, which do not matter here.
    pending = [_Container(json.loads(data.decode(), parse_int=float), "", None)]
    while pending:
        container = pending.pop()
        for name, value in _members(container.value):
            if isinstance(value, str) and not is_storable(value):
                yield container.path_of(name)
            if isinstance(value, dict | list):
                pending.append(_Container(value, name, container))


def is_nested_too_deeply(data: bytes) -> bool:
    """Return whether objects and lists are nested deeper than any valid body."""
    if data.count(b"[") + data.count(b"{") <= NESTING_LEVELS_MAX:
        return False
    brackets = _STRING.sub(b"", data).translate(_CURLY_AS_SQUARE, _ALL_BUT_BRACKETS)
    for _ in range(NESTING_LEVELS_MAX):
        # Each iteration removes the innermost level; what is left at the end is nested deeper.
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


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
    name: str
    parent: "_Container | None"

    def path_of(self, name: str) -> str:
        names = [name]
        container: _Container | None = self
        while container is not None:
            names.append(container.name)
            container = container.parent
        return "".join(reversed(names)).removeprefix(".")


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """List the members of an object or a list with their path steps; the keys of an object are checked as texts too."""
    if isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            yield f"[{index}]", item
    elif isinstance(value, dict):
        for name, item in cast("dict[str, Any]", value).items():
            yield f".{name}", name
            yield f".{name}", item

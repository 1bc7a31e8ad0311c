"""What is wrong with the input, explained for each invalid field from the type and the constraints declared for it.

msgspec stops at the first invalid field and reports one English sentence. So the fields of rejected input are converted
one by one; of the sentence, only the field's path and the name of a missing field are taken, because they have no other
source.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, cast, get_args, get_origin

import msgspec
from msgspec import UNSET, ValidationError, inspect, structs

from core.errors import FieldError
from entrypoints.web.input.storable import as_shown

REQUIRED: Final = "This field is required."
# A person corrects no more errors at once, and a body of one megabyte may have half a million.
PROBLEMS_MAX: Final = 20

_REPORT: Final = re.compile(r"(?P<problem>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `([^`]*)`")
# The third form is a value of an object with any keys, or an item of a set: msgspec does not report which.
_STEP: Final = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>[0-9]+)\]|\[\.\.\.\]")

# What each declared type accepts, in words, and the types of the decoded JSON or query values that may be one.
_KINDS: Final[dict[type[inspect.Type], tuple[str, tuple[type[Any], ...]]]] = {
    inspect.NoneType: ("null", (NoneType,)),
    inspect.BoolType: ("true or false", (bool,)),
    inspect.IntType: ("a whole number", (int, float)),
    inspect.FloatType: ("a number", (int, float)),
    inspect.StrType: ("text", (str,)),
    inspect.UUIDType: ("an id (a UUID)", (str,)),
    inspect.DateTimeType: ("a time such as 2026-01-31T12:00:00Z (RFC 3339)", (str,)),
    inspect.DateType: ("a date such as 2026-01-31 (RFC 3339)", (str,)),
    inspect.EnumType: ("one of these", (str, int, float)),
    inspect.LiteralType: ("one of these", (str, int, float)),
    inspect.ListType: ("a list", (list,)),
    inspect.VarTupleType: ("a list", (list,)),
    inspect.TupleType: ("a list", (list,)),
    inspect.SetType: ("a list", (list,)),
    inspect.FrozenSetType: ("a list", (list,)),
    inspect.DictType: ("an object", (dict,)),
    inspect.StructType: ("an object", (dict,)),
    inspect.DataclassType: ("an object", (dict,)),
}
_LISTS: Final = (list, tuple, set, frozenset)
# Larger than any number of the interface; more digits are read as infinity.
_DIGITS_MAX: Final = 400
_SIZES: Final = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
_LENGTHS: Final = {"min_length": "at least", "max_length": "at most"}


def parsed(data: bytes) -> Any:
    """Return the JSON value of a rejected body for `field_problems`, or `UNSET` when the rest of it is not JSON.

    Characters that cannot be stored are replaced: msgspec fails at a lone surrogate where it expects another type.
    """
    try:
        return _encodable(json.loads(data, parse_int=_number, object_pairs_hook=_unambiguous))
    except (ValueError, RecursionError):
        return UNSET


def field_problems(error: ValidationError, shape: Any, given: Any, *, is_strict: bool) -> list[FieldError]:
    """List what is wrong with each invalid field of rejected input, at most `PROBLEMS_MAX`; never empty.

    `given` is the input as plain values, or `UNSET` when it is unknown. Without `is_strict`, texts are converted to
    numbers and truth values, as in a query string.
    """
    found = [] if given is UNSET else list(islice(_problems(shape, given, "", is_strict=is_strict), PROBLEMS_MAX))
    # The conversion of values accepts a few texts that the decoder rejects, such as a name that an object has twice.
    return found or [_problem(error, shape, given)]


def _problems(shape: Any, value: Any, path: str, *, is_strict: bool) -> Iterator[FieldError]:
    """Explain what is wrong with a value, and with every value inside it."""
    found = False
    for inner_shape, inner_value, inner_path in _inner_values(shape, value, path):
        for problem in (
            [FieldError(field=inner_path, message=REQUIRED)]
            if inner_value is UNSET
            else _problems(inner_shape, inner_value, inner_path, is_strict=is_strict)
        ):
            found = True
            yield problem
    if found:
        return
    try:
        msgspec.convert(value, shape, strict=is_strict)
    except ValidationError as error:
        yield _problem(error, shape, value, path)


def _inner_values(shape: Any, value: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """List the fields of a struct or the items of a list: type, value and path; a missing field is `UNSET`."""
    for bare in _bare_shapes(shape):
        if isinstance(value, dict) and isinstance(bare, type) and issubclass(bare, msgspec.Struct):
            values = cast("dict[str, Any]", value)
            for field in structs.fields(bare):
                inner_path = f"{path}.{field.encode_name}".removeprefix(".")
                if field.required or field.encode_name in values:
                    yield field.type, values.get(field.encode_name, UNSET), inner_path
        elif isinstance(value, list) and get_origin(bare) in _LISTS:
            # Of a tuple, only `tuple[X, ...]` has one type for all its items.
            item_shape, *others = get_args(bare)
            if not others or others == [...]:
                for index, item in enumerate(cast("list[Any]", value)):
                    yield item_shape, item, f"{path}[{index}]"


def _bare_shapes(shape: Any) -> Iterator[Any]:
    """List the members of a union, without their annotations."""
    if get_origin(shape) is Annotated:
        yield from _bare_shapes(get_args(shape)[0])
    elif get_origin(shape) in {Union, UnionType}:
        for member in get_args(shape):
            yield from _bare_shapes(member)
    else:
        yield shape


def _problem(error: ValidationError, shape: Any, given: Any, within: str = "") -> FieldError:
    """Return the one problem that msgspec reports, with the path inside `within`."""
    # A `__post_init__` explains the problem in words of its own, which may look like anything.
    own_words = str(error.__cause__) if error.__cause__ is not None else ""
    report = _REPORT.fullmatch(str(error).removeprefix(own_words))
    assert report is not None, "the expression matches every text"
    path = report["path"] or ""
    field = (within + path).removeprefix(".")
    if own_words:
        return FieldError(field=field or "body", message=own_words)
    missing = _MISSING.fullmatch(report["problem"])
    if missing is not None:
        return FieldError(field=f"{field}.{missing[1]}".removeprefix("."), message=REQUIRED)

    kinds, value = [*_alternatives(inspect.type_info(shape))], given
    for step in _STEP.finditer(path):
        kinds = [alternative for kind in kinds for alternative in _at(kind, step)]
        value = _value_at(value, step)
    if report["key"]:
        kinds = [one for kind in kinds if isinstance(kind, inspect.DictType) for one in _alternatives(kind.key_type)]
        value = UNSET
    return FieldError(field=field or "body", message=_sentence(kinds, value))


def _number(digits: str) -> int | float:
    """Read a whole number of a body; the standard library refuses one with very many digits."""
    return int(digits) if len(digits) <= _DIGITS_MAX else float(digits)


def expected(kind: inspect.Type, value: Any) -> str:
    """Return the sentence about the values that a field of this type takes."""
    return _sentence([*_alternatives(kind)], value)


def _unambiguous(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Leave out the names that an object has twice: either value may be the wrong one."""
    values = dict(members)
    if len(values) < len(members):
        for name, count in Counter(name for name, _ in members).items():
            if count > 1:
                del values[name]
    return values


def _encodable(value: Any) -> Any:
    """Return a value whose texts and names, at any depth, have characters that can be encoded in place of others."""
    match value:
        case str():
            return as_shown(value)
        case list():
            return [_encodable(item) for item in cast("list[Any]", value)]
        case dict():
            return {as_shown(name): _encodable(item) for name, item in cast("dict[str, Any]", value).items()}
        case _:
            return value


def _alternatives(kind: inspect.Type) -> Iterator[inspect.Type]:
    """List the members of a union; any other type is its only alternative."""
    match kind:
        case inspect.UnionType():
            for member in kind.types:
                yield from _alternatives(member)
        case inspect.Metadata():
            yield from _alternatives(kind.type)
        case _:
            yield kind


def _at(kind: inspect.Type, step: re.Match[str]) -> Iterator[inspect.Type]:
    """List the alternatives for what is one step further inside a type; none when the step does not fit the type."""
    match kind:
        case inspect.StructType() | inspect.DataclassType():
            for field in kind.fields:
                if field.encode_name == step["name"]:
                    yield from _alternatives(field.type)
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType() | inspect.FrozenSetType():
            yield from _alternatives(kind.item_type)
        case inspect.TupleType() if step["index"]:
            yield from _alternatives(kind.item_types[int(step["index"])])
        case inspect.DictType():
            yield from _alternatives(kind.value_type)
        case _:
            pass


def _value_at(value: Any, step: re.Match[str]) -> Any:
    """Return what is one step further inside a value, or `UNSET` when that is unknown."""
    if isinstance(value, dict) and step["name"]:
        return cast("dict[str, Any]", value).get(step["name"], UNSET)
    if isinstance(value, list) and step["index"]:
        items = cast("list[Any]", value)
        return items[int(step["index"])] if int(step["index"]) < len(items) else UNSET
    return UNSET


def _sentence(kinds: list[inspect.Type], value: Any) -> str:
    if isinstance(value, float) and math.isinf(value):
        return f"This number is too {'large' if value > 0 else 'small'}."
    # Of an optional id, a wrong text is explained as an id, without "or null".
    known = [kind for kind in kinds if type(kind) in _KINDS]
    fitting = [kind for kind in known if type(value) in _KINDS[type(kind)][1]]
    descriptions = list(dict.fromkeys(_described(kind) for kind in fitting or known))
    if not descriptions:
        return "This value is not valid."
    *others, last = descriptions
    return f"This must be {', '.join(others)} or {last}." if others else f"This must be {last}."


def _described(kind: inspect.Type) -> str:
    words, _ = _KINDS[type(kind)]
    match kind:
        case inspect.EnumType():
            return f"{words}: {_listed(member.value for member in kind.cls)}"
        case inspect.LiteralType():
            return f"{words}: {_listed(kind.values)}"
        case inspect.TupleType():
            return f"{words} with a length of {len(kind.item_types)}"
        case _:
            pass
    if size := _bounds(kind, _SIZES):
        words += f" of {size}"
    if length := _bounds(kind, _LENGTHS):
        words += f" with a length of {length}"
    if isinstance(kind, inspect.StrType) and kind.pattern is not None:
        words += f" that matches the regular expression {kind.pattern}"
    return words


def _listed(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)


def _bounds(kind: inspect.Type, bounds: dict[str, str]) -> str:
    limits = ((words, getattr(kind, name, None)) for name, words in bounds.items())
    return " and ".join(f"{words} {limit}" for words, limit in limits if limit is not None)

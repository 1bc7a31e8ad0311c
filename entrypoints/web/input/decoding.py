"""Decoding of bodies, query strings and path parameters into typed values; a `BadRequest` names the invalid fields.

No input may pass here and fail later: text that PostgreSQL cannot store (NUL), text that is not Unicode (a lone
surrogate), numbers that fit no column and excessive nesting are refused as well.

All of this runs on the event loop, so no body may take more than a few milliseconds, whatever is in it. msgspec reads
all bodies, and refuses lone surrogates and nesting beyond the interpreter's recursion limit. What a type does not name
is skipped at any depth; a type with `Any` has to limit the depth itself. Only small bodies are read again value by
value, to name a field in a refusal.
"""

import binascii
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec
from msgspec import UNSET, inspect

from core.errors import BadRequest, FieldError, NotFound
from core.ids import id_or_none
from core.lazy_dataclasses import dataclass
from core.limits import PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, PAGE_NUMBER_MAX
from core.secrets import Secret
from core.wording import Wording
from entrypoints.web.input.explanations import PROBLEMS_MAX, expected, field_problems, parsed
from entrypoints.web.input.storable import as_shown, is_storable, nul_escape, simple_types, unstorable_fields

# The largest body that is parsed a second time, value by value, to explain what is wrong with it.
EXPLAINED_BYTES_MAX: Final = 8 * 1024
# A form has up to 100 boxes to tick, beside its other fields.
QUERY_FIELDS_MAX: Final = 200
# A number in a query string with more digits is read as 10 to this power, which is above every limit.
QUERY_DIGITS_MAX: Final = 18
FIELD_NAME_CHARACTERS_MAX: Final = 200
SLOWLY_DECODED_BYTES_MAX: Final = 16 * 1024

# msgspec reads this text as no value; a parameter without a value is left out instead.
_NULL: Final = "null"
_DAMAGED_ESCAPE: Final = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]+")
# A number of 128 bits, such as an id, has 39.
_DIGITS_MAX: Final = 40

Shape = TypeVar("Shape")


class Query(msgspec.Struct, kw_only=True):
    """The query string of a route; unknown fields are ignored."""


class Paged(Query, kw_only=True):
    """Paging by number: `page` from 1, `limit` lowered to its maximum."""

    page: Annotated[int, msgspec.Meta(ge=1)] = 1
    limit: Annotated[int, msgspec.Meta(ge=1)] = PAGE_ITEMS_DEFAULT

    def __post_init__(self) -> None:
        self.page = min(self.page, PAGE_NUMBER_MAX)
        self.limit = min(self.limit, PAGE_ITEMS_MAX)


class Sliced(Query, kw_only=True):
    """Paging by offset: `offset` from 0, `limit` lowered to its maximum."""

    limit: Annotated[int, msgspec.Meta(ge=1)] = PAGE_ITEMS_DEFAULT
    offset: Annotated[int, msgspec.Meta(ge=0)] = 0

    def __post_init__(self) -> None:
        self.limit = min(self.limit, PAGE_ITEMS_MAX)
        self.offset = min(self.offset, PAGE_NUMBER_MAX)


def decode_body(data: bytes, shape: type[Shape]) -> Shape:
    """Decode a JSON object; an empty body is an empty object. Raise `BadRequest` when it is invalid."""
    try:
        body: Shape = _decoder(shape).decode(data.decode() or "{}")
    except msgspec.ValidationError as error:
        if len(data) > EXPLAINED_BYTES_MAX:
            raise _refusal(field_problems(error, shape, UNSET, is_strict=True)) from None
        # What cannot be stored is named first, because it explains why a text is of no other type.
        unstorable = _unstorable_texts(data)
        raise _refusal([*unstorable, *field_problems(error, shape, parsed(data), is_strict=True)]) from None
    except RecursionError:
        raise nested_too_deeply() from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        # If the reason is a lone surrogate, this names the field.
        if unstorable := _unstorable_texts(data):
            raise _refusal(unstorable) from None
        raise _not_json() from None
    _require_times_in_utc(body, shape)
    position = nul_escape(data)
    if position is not None:
        text = Wording("The text at byte %(position)s contains a NUL, which cannot be stored.", position=position)
        raise _refusal(_unstorable_texts(data) or [FieldError(field="body", message=text)])
    return body


def decode_query(query_string: bytes, shape: type[Shape], *, allows_repetition: bool = True) -> Shape:
    """Decode a query string; raise `BadRequest` when it is invalid.

    The last value of a repeated field counts, and all of them where the field is a list, such as the boxes that are
    ticked in a form. OAuth allows no field twice (RFC 6749, 3.1).
    """
    return convert_fields(_given(query_string, allows_repetition=allows_repetition), {}, shape)


def convert_fields(given: Mapping[str, list[str]], files: Mapping[str, bytes], shape: type[Shape]) -> Shape:
    """Return the texts and files of a form, by the names of their fields, as its type; raise `BadRequest`."""
    values: dict[str, Any] = {}
    problems: list[FieldError] = []
    for name, field in _query_fields(shape).items():
        if field.is_file:
            values |= {name: files[name]} if name in files else {}
            continue
        texts = given.get(name)
        if texts is None:
            continue
        text = texts[-1]
        value = texts if field.is_list else _value_of(field, text)
        if value is not UNSET:
            values[name] = value
        if value is UNSET or value is None:
            problems.append(FieldError(field=name, message=expected(field.kind, text)))
        elif not all(map(is_storable, texts if field.is_list else (text,))):
            problems.append(_unstorable(name))
    try:
        query = msgspec.convert(values, shape, strict=False, dec_hook=_typed_secret)
    except msgspec.ValidationError as error:
        raise _refusal([*problems, *field_problems(error, shape, values, is_strict=False)]) from None
    if problems:
        raise _refusal(problems)
    _require_times_in_utc(query, shape)
    return query


def takes_files(shape: type[Any]) -> bool:
    """Return whether a form has a field for a file, which is one of bytes."""
    return any(field.is_file for field in _query_fields(shape).values())


@cache
def takes_secret(shape: type[Any]) -> bool:
    """Return whether a form has a field for a secret, which is one of `Secret`."""
    return any(field.is_secret for field in _query_fields(shape).values())


def kept_fields(shape: type[Any]) -> frozenset[str]:
    """Return the names of the fields of a form or a query whose texts may stand in an address: no files, no secrets."""
    return frozenset(name for name, field in _query_fields(shape).items() if not field.is_secret and not field.is_file)


def decode_id(text: str) -> UUID:
    """Decode an id of a path, in upper or lower case; raise `NotFound` when it is not a UUID."""
    found = id_or_none(text)
    if found is None:
        raise NotFound
    return found


def number_of(text: str) -> int:
    """Return a number that a form or a script sends back as the page had it; 0 for a damaged one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX else 0


def decode_word(text: str) -> str:
    """Return a text parameter of a path; raise `NotFound` when it cannot be stored, and so cannot exist."""
    if not is_storable(text):
        raise NotFound
    return text


def _given(query_string: bytes, *, allows_repetition: bool) -> dict[str, list[str]]:
    if query_string.count(b"&") >= QUERY_FIELDS_MAX:
        raise BadRequest("The query string has too many fields.")
    if len(query_string) > SLOWLY_DECODED_BYTES_MAX:
        fields = _large_fields(query_string)
    else:
        fields = parse_qsl(query_string.decode("ascii", "replace"), keep_blank_values=True)
    given: dict[str, list[str]] = {}
    for name, text in fields:
        given.setdefault(name, []).append(text)
    if not allows_repetition and len(given) < len(fields):
        raise BadRequest("A parameter is sent twice. Send each parameter once.")
    return given


def _large_fields(query_string: bytes) -> list[tuple[str, str]]:
    """Return what `parse_qsl` does, which takes half a second for a mebibyte of escapes; refuse damaged escapes."""
    if _DAMAGED_ESCAPE.search(query_string):
        raise BadRequest("This form cannot be read. Load it again, and fill it in once more.")
    parts = (part.partition(b"=") for part in query_string.split(b"&") if part)
    return [(_unescaped(name), _unescaped(text)) for name, _, text in parts]


def _unescaped(text: bytes) -> str:
    # Quoted-printable has the same escapes behind another character, and its decoder is not written in Python.
    quoted = text.replace(b"+", b" ").replace(b"=", b"%3D").replace(b"%", b"=")
    return binascii.a2b_qp(quoted).decode("utf-8", "replace")


@cache
def _decoder(shape: type[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class _QueryField:
    """The type of a field of a query or a form: several values, numbers, any text, a file, or a secret."""

    kind: inspect.Type
    is_list: bool
    is_number: bool
    is_text: bool
    is_file: bool
    is_secret: bool


@cache
def _query_fields(shape: type[Any]) -> dict[str, _QueryField]:
    """Return the fields of a query by their names."""
    info = inspect.type_info(shape)
    assert isinstance(info, inspect.StructType), f"{shape} is not a struct"
    return {field.encode_name: _query_field(field.type) for field in info.fields}


def _query_field(kind: inspect.Type) -> _QueryField:
    simple = [one for _, one in simple_types(kind)]
    kinds = {type(one) for one in simple}
    is_secret = any(isinstance(one, inspect.CustomType) and one.cls is Secret for one in simple)
    return _QueryField(
        kind=kind,
        is_list=isinstance(kind.type if isinstance(kind, inspect.Metadata) else kind, inspect.ListType),
        is_number=inspect.IntType in kinds,
        is_text=is_secret or inspect.StrType in kinds,
        is_file=inspect.BytesType in kinds,
        is_secret=is_secret,
    )


def _typed_secret(kind: type[Any], text: str) -> Secret:
    """Return a secret that was typed into a form, the only type that msgspec does not know."""
    assert kind is Secret, f"a form has a field of {kind.__name__}"
    return Secret(text)


def _require_times_in_utc(decoded: Any, shape: type[Any]) -> None:
    """Refuse a time that is in another year than the first to the 9999th only in its own zone: nothing can show it."""
    for name, encoded in _time_fields(shape):
        moment = getattr(decoded, name)
        try:
            _ = moment.astimezone(UTC) if isinstance(moment, datetime) else None
        except OverflowError:
            raise BadRequest.of_field(encoded, "This time is too long ago or too far ahead.") from None


@cache
def _time_fields(shape: type[Any]) -> list[tuple[str, str]]:
    """Return the names of the fields of a type that hold a time, each with its name in requests."""
    info = inspect.type_info(shape)
    fields = info.fields if isinstance(info, inspect.StructType) else ()
    return [
        (field.name, field.encode_name)
        for field in fields
        if any(isinstance(kind, inspect.DateTimeType) for _, kind in simple_types(field.type))
    ]


def _value_of(field: _QueryField, text: str) -> Any:
    """Return the value of a field with one value: None for an invalid number, UNSET for no value."""
    if field.is_number:
        return _whole_number(text)
    return text if field.is_text or text.lower() != _NULL else UNSET


def _whole_number(text: str) -> int | None:
    if not _WHOLE_NUMBER.fullmatch(text):
        return None
    digits = text.lstrip("-").lstrip("0") or "0"
    size = int(digits) if len(digits) <= QUERY_DIGITS_MAX else 10**QUERY_DIGITS_MAX
    return -size if text.startswith("-") else size


def _refusal(problems: list[FieldError]) -> BadRequest:
    """Return the refusal of these fields, each with its first problem."""
    by_field: dict[str, FieldError] = {}
    for problem in problems:
        by_field.setdefault(problem.field, problem)
    return BadRequest.of_fields([*by_field.values()][:PROBLEMS_MAX])


def _unstorable_texts(data: bytes) -> list[FieldError]:
    """List the fields of a small body whose texts cannot be stored."""
    if len(data) > EXPLAINED_BYTES_MAX or rb"\u" not in data:
        return []
    try:
        fields = list(islice(unstorable_fields(data), PROBLEMS_MAX))
    except ValueError:
        raise _not_json() from None
    except RecursionError:
        raise nested_too_deeply() from None
    return [_unstorable(as_shown(field[:FIELD_NAME_CHARACTERS_MAX])) for field in fields]


def _unstorable(field: str) -> FieldError:
    return FieldError(field=field, message="This text contains a character that cannot be stored.")


def nested_too_deeply() -> BadRequest:
    """Return the refusal of a body with too many levels."""
    return BadRequest.of_field("body", "This is nested too deeply.")


def _not_json() -> BadRequest:
    return BadRequest("The body is not valid JSON in UTF-8.")

"""Decoding of bodies, query strings and path parameters into typed values; a `BadRequest` names the invalid field.

No input may pass here and fail later: text that PostgreSQL cannot store (NUL), text that is not Unicode (a lone
surrogate), numbers that fit no column and excessive nesting are refused as well (decisions 1.4 and 1.5).

All of this runs on the event loop, so no body may take more than a few milliseconds, whatever is in it. msgspec reads
all bodies, and refuses lone surrogates and nesting beyond the interpreter's recursion limit. What a type does not name
is skipped at any depth; a type with `Any` has to limit the depth itself. Only small bodies are read again value by
value, to name a field in a refusal.
"""

import re
from functools import cache
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import parse_qsl
from uuid import UUID

import msgspec
from msgspec import UNSET, inspect

from core.errors import BadRequest, NotFound
from core.limits import PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, PAGE_NUMBER_MAX
from entrypoints.web.explanations import explained, parsed
from entrypoints.web.storable import as_shown, is_storable, nul_escape, simple_types, unstorable_field

# The largest body that is parsed a second time, value by value, to explain what is wrong with it.
EXPLAINED_BYTES_MAX: Final = 8 * 1024
QUERY_FIELDS_MAX: Final = 100
# A number in a query string with more digits is read as 10 to this power, which is above every limit.
QUERY_DIGITS_MAX: Final = 18
FIELD_NAME_CHARACTERS_MAX: Final = 200

_WHOLE_NUMBER: Final = re.compile(r"-?[0-9]+")
_ID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

Shape = TypeVar("Shape")


class Query(msgspec.Struct, kw_only=True):
    """The query string of a route; unknown fields are ignored."""


class Paged(Query, kw_only=True):
    """Paging by number: `page` from 1, `limit` lowered to its maximum (operations 8)."""

    page: Annotated[int, msgspec.Meta(ge=1)] = 1
    limit: Annotated[int, msgspec.Meta(ge=1)] = PAGE_ITEMS_DEFAULT

    def __post_init__(self) -> None:
        self.page = min(self.page, PAGE_NUMBER_MAX)
        self.limit = min(self.limit, PAGE_ITEMS_MAX)


class Sliced(Query, kw_only=True):
    """Paging by offset: `offset` from 0, `limit` lowered to its maximum (operations 8)."""

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
        raise explained(error, shape, parsed(data) if len(data) <= EXPLAINED_BYTES_MAX else UNSET) from None
    except RecursionError:
        raise _nested_too_deeply() from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        if len(data) <= EXPLAINED_BYTES_MAX:
            # The reason may be a lone surrogate.
            _name_unstorable(data)
        raise _not_json() from None
    position = nul_escape(data)
    if position is not None:
        if len(data) <= EXPLAINED_BYTES_MAX:
            _name_unstorable(data)
        raise BadRequest.of_field("body", f"The text at byte {position} contains a NUL, which cannot be stored.")
    return body


def decode_query(query_string: bytes, shape: type[Shape]) -> Shape:
    """Decode a query string; the last value of a repeated field counts. Raise `BadRequest` when it is invalid."""
    try:
        given = dict(
            parse_qsl(query_string.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=QUERY_FIELDS_MAX)
        )
    except ValueError:
        raise BadRequest("The query string has too many fields.") from None
    values: dict[str, Any] = {}
    for name, is_number in _query_fields(shape).items():
        text = given.get(name)
        if text is not None:
            values[name] = _whole_number(name, text) if is_number else _storable(name, text)
    try:
        return msgspec.convert(values, shape, strict=False)
    except msgspec.ValidationError as error:
        raise explained(error, shape, values) from None


def decode_id(text: str) -> UUID:
    """Decode an id of a path, in upper or lower case; raise `NotFound` when it is not a UUID."""
    # `UUID` by itself also accepts braces, a URN, and dashes anywhere.
    if not _ID.fullmatch(text):
        raise NotFound
    return UUID(text)


def decode_word(text: str) -> str:
    """Return a text parameter of a path; raise `NotFound` when it cannot be stored, and so cannot exist."""
    if not is_storable(text):
        raise NotFound
    return text


@cache
def _decoder(shape: type[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)


@cache
def _query_fields(shape: type[Any]) -> dict[str, bool]:
    """Return the names of a query's fields, each with whether it is a whole number."""
    info = inspect.type_info(shape)
    assert isinstance(info, inspect.StructType), f"{shape} is not a struct"
    return {
        field.encode_name: any(isinstance(kind, inspect.IntType) for _, kind in simple_types(field.type))
        for field in info.fields
    }


def _whole_number(name: str, text: str) -> int:
    if not _WHOLE_NUMBER.fullmatch(text):
        raise BadRequest.of_field(name, "This must be a whole number.")
    digits = text.lstrip("-").lstrip("0") or "0"
    size = int(digits) if len(digits) <= QUERY_DIGITS_MAX else 10**QUERY_DIGITS_MAX
    return -size if text.startswith("-") else size


def _storable(name: str, text: str) -> str:
    if not is_storable(text):
        raise _unstorable(name)
    return text


def _name_unstorable(data: bytes) -> None:
    """Raise the refusal that names the field whose text cannot be stored, if one can be named."""
    try:
        field = unstorable_field(data)
    except ValueError:
        raise _not_json() from None
    except RecursionError:
        raise _nested_too_deeply() from None
    if field is not None:
        raise _unstorable(as_shown(field[:FIELD_NAME_CHARACTERS_MAX]))


def _unstorable(field: str) -> BadRequest:
    return BadRequest.of_field(field, "This text contains a character that cannot be stored.")


def _nested_too_deeply() -> BadRequest:
    return BadRequest.of_field("body", "This is nested too deeply.")


def _not_json() -> BadRequest:
    return BadRequest("The body is not valid JSON in UTF-8.")

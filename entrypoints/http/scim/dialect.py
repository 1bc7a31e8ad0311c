"""The dialect of SCIM: its media type, names of attributes in any case, and its errors (RFC 7644)."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar, cast

import msgspec
from msgspec import UNSET, UnsetType, inspect
from quart import Response

from core.errors import BadRequest, ErrorCode, PayloadTooLarge, Refusal
from core.scim.log import DirectoryAnswer, DirectoryRequest
from core.scim.log import record_refusal as record
from core.scim.refusals import NAMED_MAX, ScimProblem, ScimType, TooManyMembersNamed
from entrypoints.web.input.decoding import decode_body, decode_id, nested_too_deeply
from entrypoints.web.input.explanations import field_problems
from entrypoints.web.serving.answering.answers import JSON, encode, refusal_headers
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.dialects import Dialect

SCIM_JSON: Final = "application/scim+json"
ROOT: Final = "/scim/v2"
GROUP_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:Group"
# The attribute of answers that lists members that the directory removed, and who stay.
KEPT_SCHEMA: Final = "urn:gatehouse:scim:kept"
LIST_SCHEMA: Final = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
ERROR_SCHEMA: Final = "urn:ietf:params:scim:api:messages:2.0:Error"

# Of attributes in one body; a member has four.
NAMES_MAX: Final = 100_000
# Of elements that are no members: operations, addresses, names of schemas. A PATCH has at most 1,000 operations.
OTHERS_MAX: Final = 2_000
# Of lists and objects, and of commas, in the bytes: more than the limits above need, with what stands in texts. The
# decoder does not give the interpreter up to the event loop, which 4 MiB of empty lists stopped for 0.2 seconds.
CONTAINERS_MAX: Final = 130_000
COMMAS_MAX: Final = 260_000
# Of a value of an operation: an object of attributes, with a list of objects.
DEPTH_MAX: Final = 8

_SERVER_ERROR_MIN: Final = 500
# What refusals call the parameter, and the body as a whole.
_FILTER: Final = "filter"
_BODY: Final = "body"
_MEMBERS: Final = "members"

Shape = TypeVar("Shape")


class ScimError(msgspec.Struct, kw_only=True, rename="camel"):
    """A request was refused."""

    schemas: list[str]
    status: int
    scim_type: ScimType | UnsetType = UNSET
    detail: str


def decode_named(data: bytes, shape: type[Shape]) -> Shape:
    """Decode a body whose attributes may be written in any case (RFC 7643, 2.1).

    Raise `BadRequest`, and `TooManyMembersNamed` or `PayloadTooLarge` for lists and objects that are too long.
    """
    _require_decodable(data)
    body = _spelled(decode_body(data, cast("type[Any]", dict[str, Any])), _kind(shape), _Counter())
    try:
        decoded = msgspec.convert(body, shape)
    except msgspec.ValidationError as error:
        raise BadRequest.of_fields(field_problems(error, shape, body, is_strict=True)) from None
    # What it takes for each element of a list is done here, on the thread of a large body.
    prepare: Callable[[], None] | None = getattr(decoded, "prepare", None)
    if prepare is not None:
        prepare()
    return decoded


def refused(refusal: Refusal) -> Response:
    """Return the response for a refusal."""
    status = refusal.code.status
    error = ScimError(
        schemas=[ERROR_SCHEMA], status=status, scim_type=_type_of(refusal) or UNSET, detail=refusal.message
    )
    return Response(encode(error), status=status, headers=refusal_headers(refusal), content_type=SCIM_JSON)


async def log_refusal(call: Call, refusal: Refusal) -> None:
    """Write a refusal to the provisioning log of the organization; raise `ScimTokenInvalid` if there is none."""
    if refusal.code.status < _SERVER_ERROR_MIN or refusal.code is ErrorCode.NOT_IMPLEMENTED:
        outcome = DirectoryAnswer(status=refusal.code.status, scim_type=_type_of(refusal), detail=refusal.message)
        await call.transact(record, attempt_of(call), outcome)


def attempt_of(call: Call) -> DirectoryRequest:
    """Return the request as the provisioning log names it."""
    view_args = cast("dict[str, str]", call.request.view_args or {})
    try:
        resource_id = decode_id(next(iter(view_args.values()), ""))
    except Refusal:
        resource_id = None
    return DirectoryRequest(
        method=call.request.method, path=call.request.path, resource_id=resource_id, user_name=call.subject
    )


def _type_of(refusal: Refusal) -> ScimType | None:
    match refusal:
        case ScimProblem():
            return refusal.scim_type
        case BadRequest():
            return _type_of_fields({detail.field for detail in refusal.details})
        case _:
            return None


def _type_of_fields(names: set[str]) -> ScimType:
    if names == {_FILTER}:
        return ScimType.INVALID_FILTER
    return ScimType.INVALID_VALUE if names - {_BODY} else ScimType.INVALID_SYNTAX


class _Field(NamedTuple):
    """How an attribute is spelled, and its type where that has attributes of its own, or elements to count."""

    name: str
    kind: inspect.Type | None


class _Counter:
    """Counts what is in a body, each list and object before anything looks into it."""

    def __init__(self) -> None:
        self._members_left = NAMED_MAX
        self._others_left = OTHERS_MAX
        self._names_left = NAMES_MAX

    def count_list(self, values: list[Any], name: str) -> None:
        """Count the elements of a list; raise when there are too many in all lists together."""
        if name == _MEMBERS:
            self._members_left -= len(values)
        else:
            self._others_left -= len(values)
        if self._members_left < 0:
            raise TooManyMembersNamed
        if self._others_left < 0:
            raise PayloadTooLarge

    def count_object(self, value: dict[str, Any]) -> None:
        """Count the names of an object; raise when there are too many in all objects together."""
        self._names_left -= len(value)
        if self._names_left < 0:
            raise PayloadTooLarge

    def count_all(self, value: Any, depth_left: int = DEPTH_MAX) -> None:
        """Count what is in a value of any type; raise `BadRequest` when it is nested too deeply."""
        if isinstance(value, list):
            inner = cast("list[Any]", value)
            # The values of operations have no other long lists.
            self.count_list(inner, _MEMBERS)
        elif isinstance(value, dict):
            self.count_object(cast("dict[str, Any]", value))
            inner = list(cast("dict[str, Any]", value).values())
        else:
            return
        if not depth_left:
            raise nested_too_deeply()
        for part in inner:
            self.count_all(part, depth_left - 1)


def _require_decodable(data: bytes) -> None:
    if data.count(b"{") + data.count(b"[") > CONTAINERS_MAX or data.count(b",") > COMMAS_MAX:
        raise PayloadTooLarge


def _spelled(value: Any, kind: inspect.Type, counter: _Counter, name: str = "") -> Any:
    """Return a decoded value with the names of its attributes as the type spells them."""
    match kind:
        case inspect.UnionType():
            spelled: Any = value
            for one in kind.types:
                spelled = _spelled(spelled, one, counter, name)
            return spelled
        case inspect.StructType() if isinstance(value, dict):
            return _spelled_object(cast("dict[str, Any]", value), _fields(kind.cls), counter)
        case inspect.ListType() if isinstance(value, list):
            elements = cast("list[Any]", value)
            counter.count_list(elements, name)
            if not isinstance(kind.item_type, inspect.StructType):
                return elements
            fields = _fields(kind.item_type.cls)
            return [
                _spelled_object(cast("dict[str, Any]", one), fields, counter) if isinstance(one, dict) else one
                for one in elements
            ]
        case inspect.AnyType():
            counter.count_all(value)
            return value
        case _:
            return value


def _spelled_object(value: dict[str, Any], fields: Mapping[str, _Field], counter: _Counter) -> dict[str, Any]:
    counter.count_object(value)
    spelled: dict[str, Any] = {}
    for name, part in value.items():
        field = fields.get(name.lower())
        if field is not None:
            kind = field.kind
            spelled[field.name] = part if kind is None else _spelled(part, kind, counter, field.name)
    return spelled


@cache
def _kind(shape: type[Any]) -> inspect.Type:
    return inspect.type_info(shape)


@cache
def _fields(cls: type[Any]) -> Mapping[str, _Field]:
    info = _kind(cls)
    assert isinstance(info, inspect.StructType), f"{cls} is not a struct"
    return {
        field.encode_name.lower(): _Field(field.encode_name, field.type if _has_parts(field.type) else None)
        for field in info.fields
    }


def _has_parts(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.UnionType):
        return any(map(_has_parts, kind.types))
    inner = kind.type if isinstance(kind, inspect.Metadata) else kind
    return isinstance(inner, inspect.StructType | inspect.ListType | inspect.AnyType)


SCIM: Final = Dialect(
    path=ROOT,
    media_type=SCIM_JSON,
    also_accepted=frozenset({JSON}),
    decode=decode_named,
    refused=refused,
    failure=ScimError,
    ignores_trailing_slash=True,
)

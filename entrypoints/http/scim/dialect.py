"""The dialect of SCIM: its media type, names of attributes in any case, and its errors (RFC 7644)."""

from functools import cache
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import UNSET, UnsetType, inspect
from quart import Response

from core.errors import BadRequest, ErrorCode, Refusal
from core.scim.log import DirectoryAnswer, DirectoryRequest
from core.scim.log import record_refusal as record
from core.scim.refusals import ScimProblem, ScimType
from entrypoints.web.input.decoding import decode_body, decode_id
from entrypoints.web.input.explanations import field_problems
from entrypoints.web.serving.answers import JSON, encode, refusal_headers
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.dialects import Dialect

SCIM_JSON: Final = "application/scim+json"
ROOT: Final = "/scim/v2"
GROUP_SCHEMA: Final = "urn:ietf:params:scim:schemas:core:2.0:Group"
LIST_SCHEMA: Final = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
ERROR_SCHEMA: Final = "urn:ietf:params:scim:api:messages:2.0:Error"

_SERVER_ERROR_MIN: Final = 500
# What refusals call the parameter, and the body as a whole.
_FILTER: Final = "filter"
_BODY: Final = "body"

Shape = TypeVar("Shape")


class ScimError(msgspec.Struct, kw_only=True, rename="camel"):
    """A request was refused."""

    schemas: list[str]
    status: int
    scim_type: ScimType | UnsetType = UNSET
    detail: str


def decode_named(data: bytes, shape: type[Shape]) -> Shape:
    """Decode a body whose attributes may be written in any case (RFC 7643, 2.1); raise `BadRequest`."""
    body = _spelled(decode_body(data, cast("type[Any]", dict[str, Any])), inspect.type_info(shape))
    try:
        return msgspec.convert(body, shape)
    except msgspec.ValidationError as error:
        raise BadRequest.of_fields(field_problems(error, shape, body, is_strict=True)) from None


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


def _spelled(value: Any, kind: inspect.Type) -> Any:
    """Return a decoded value with the names of its attributes as the type spells them."""
    match kind:
        case inspect.UnionType():
            spelled: Any = value
            for one in kind.types:
                spelled = _spelled(spelled, one)
            return spelled
        case inspect.StructType() if isinstance(value, dict):
            return _spelled_object(cast("dict[str, Any]", value), kind)
        case inspect.ListType() if isinstance(value, list) and isinstance(kind.item_type, inspect.StructType):
            return [_spelled(element, kind.item_type) for element in cast("list[Any]", value)]
        case _:
            return cast("Any", value)


def _spelled_object(value: dict[str, Any], kind: inspect.StructType) -> dict[str, Any]:
    fields = _fields(kind.cls)
    spelled: dict[str, Any] = {}
    for name, part in value.items():
        field = fields.get(name.lower())
        if field is not None:
            spelled[field.encode_name] = _spelled(part, field.type)
    return spelled


@cache
def _fields(cls: type[Any]) -> dict[str, inspect.Field]:
    info = inspect.type_info(cls)
    assert isinstance(info, inspect.StructType), f"{cls} is not a struct"
    return {field.encode_name.lower(): field for field in info.fields}


SCIM: Final = Dialect(
    path=ROOT,
    media_type=SCIM_JSON,
    also_accepted=frozenset({JSON}),
    decode=decode_named,
    refused=refused,
    failure=ScimError,
    ignores_trailing_slash=True,
)

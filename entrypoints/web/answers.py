"""From what a handler returns, or raises, to what goes over the wire."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec
from quart import Response

from core.errors import (
    BadRequest,
    ErrorCode,
    FieldProblem,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    Refusal,
    RefusedForNow,
    RequestTimedOut,
)
from core.secrets import Secret

if TYPE_CHECKING:
    from werkzeug.exceptions import HTTPException

    from entrypoints.web.calls import Call
    from entrypoints.web.routes import Route

JSON: Final = "application/json"
# Answers with these are over after their headers, so they do not say how long a body is (RFC 9110, 8.6).
_WITHOUT_BODY: Final = frozenset({204, 304})
# What a client may try next (RFC 6750, 3); the code in the body says the same in more detail.
_CHALLENGES: Final = {
    ErrorCode.UNAUTHORIZED: "Bearer",
    ErrorCode.TOKEN_EXPIRED: 'Bearer error="invalid_token"',
    ErrorCode.JWT_ERROR: 'Bearer error="invalid_token"',
}


@dataclass(frozen=True, slots=True)
class Media:
    """Says in a return annotation what a handler's own `Response` holds: `Annotated[Response, Media("text/css")]`."""

    type: str


@dataclass(frozen=True, slots=True)
class Status:
    """Says in a return annotation which status an answer goes with: `Healthy | Annotated[Unhealthy, Status(503)]`."""

    code: int


class Failure(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The body of every refusal (operations 7, decisions 1.2)."""

    error: str
    error_code: str
    timestamp: datetime
    request_id: str
    details: tuple[FieldProblem, ...] = ()


class InternalFailure(Refusal):
    """We are at fault; the log knows why."""

    code = ErrorCode.INTERNAL_SERVER_ERROR
    default_message = "Something went wrong on our side. The request id finds the reason in the service's log."


def encode(value: Any) -> bytes:
    """Write a value as JSON; times in UTC with Z, ids in lower case, and no secret by accident."""
    return _ENCODER.encode(value)


def answered(route: Route, value: Any, call: Call) -> Response:
    """Turn a handler's result into a response."""
    if isinstance(value, Response):
        value.headers.update(call.headers)
        return _without_length(value) if value.status_code in _WITHOUT_BODY else value
    status = call.status or route.status
    if value is None:
        return empty(status, call.headers)
    return Response(encode(value), status=status, headers=call.headers, content_type=JSON)


def empty(status: int, headers: dict[str, str]) -> Response:
    """Answer without a body, which has no type then either."""
    response = Response(b"", status=status, headers=headers)
    del response.headers["Content-Type"]
    return _without_length(response) if status in _WITHOUT_BODY else response


def refused(refusal: Refusal, *, request_id: str) -> Response:
    """Turn a refusal into a response."""
    failure = Failure(
        error=refusal.message,
        error_code=refusal.code.name,
        timestamp=datetime.now(UTC),
        request_id=request_id,
        details=refusal.details if isinstance(refusal, BadRequest) else (),
    )
    response = Response(encode(failure), status=refusal.code.status, content_type=JSON)
    if isinstance(refusal, RefusedForNow):
        response.headers["Retry-After"] = str(refusal.retry_after_seconds)
    if isinstance(refusal, MethodNotAllowed):
        response.headers["Allow"] = ", ".join(refusal.allowed)
    if refusal.code in _CHALLENGES:
        response.headers["WWW-Authenticate"] = _CHALLENGES[refusal.code]
    return response


def as_refusal(error: HTTPException) -> Refusal:
    """Say in our words what the framework refused."""
    match error.code:
        case 404:
            return NotFound("There is nothing at this path. The reference of all paths is at /docs.")
        case 405:
            return MethodNotAllowed(tuple(sorted(getattr(error, "valid_methods", None) or ())))
        case 408:
            return RequestTimedOut()
        case 413:
            return PayloadTooLarge()
        case _:
            return BadRequest("The request is malformed.")


def _without_length(response: Response) -> Response:
    del response.headers["Content-Length"]
    return response


def _encode_other(value: Any) -> Any:
    if isinstance(value, Secret):
        raise TypeError("A secret is revealed on purpose or not at all")
    raise TypeError(f"{type(value).__name__} has no form in JSON")


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_encode_other)

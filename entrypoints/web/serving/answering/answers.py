"""Responses: the HTTP form of what a handler returns or raises.

A response without a body is `quart.Response(b"")`: without the argument, Quart needs asyncio and fails under Trio.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, Final
from uuid import UUID

import msgspec
from quart import Response
from quart.wrappers import Request
from werkzeug.exceptions import HTTPException

from core.errors import (
    BadRequest,
    ErrorCode,
    FieldError,
    MethodNotAllowed,
    NoSuchPath,
    PayloadTooLarge,
    Refusal,
    RequestTimedOut,
    SsoRequired,
    TemporaryRefusal,
    UnsupportedContentCoding,
)
from core.lazy_dataclasses import dataclass
from core.openid.refusals import NonceRequired, OAuthRefusal, TokenBound
from core.secrets import Secret
from core.sessions.caller_limits import AccountUsedElsewhere
from core.sign_in.customer_choices import CustomerRequired
from core.tables import PartialTable
from core.wording import Wording
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Route

ERROR_PAGES: Final = "/docs/errors"


@cache
def help_links(base_url: str) -> Mapping[ErrorCode, str]:
    """Return the `Link` header of a refusal with each code; made once, because refusals come in bursts."""
    return {code: f'<{base_url}{error_page(code)}>; rel="help"' for code in ErrorCode}


def error_page(code: ErrorCode) -> str:
    """Return the path of the page that explains an error code."""
    return f"{ERROR_PAGES}/{code.name}"


JSON: Final = "application/json"
HTML: Final = "text/html"
# Responses with these statuses end after their headers. They carry no Content-Length, and no Content-Type, which would
# replace the one that a client has cached with the body (RFC 9110, 8.6 and 15.4.5).
# Where users go on whose account a service may not change.
_ACCOUNT_PAGE: Final = "/app/account"
_WITHOUT_BODY: Final = frozenset({204, 304})
# The WWW-Authenticate header (RFC 6750, 3); the error code in the body is more detailed.
CHALLENGES: Final = PartialTable(
    {
        ErrorCode.UNAUTHORIZED: "Bearer",
        ErrorCode.TOKEN_EXPIRED: 'Bearer error="invalid_token"',
        ErrorCode.JWT_ERROR: 'Bearer error="invalid_token"',
    }
)

# Where an API is described (RFC 9728); ours is named in its challenges.
PROTECTED_RESOURCE: Final = "/.well-known/oauth-protected-resource"
# The base URL of examples.
EXAMPLE_URL: Final = "https://id.example.com"


@dataclass(frozen=True, slots=True)
class Media:
    """The media type of a handler's own `Response` in its return annotation: `Annotated[Response, Media("a/b")]`.

    `lines` are the types of the lines of a body of JSON lines; `example` is a body, for the OpenAPI document.
    """

    type: str
    lines: tuple[Any, ...] = ()
    example: Any = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class AnswerStatus:
    """The status of one answer in a handler's return annotation: `Healthy | Annotated[Unhealthy, Status(503)]`."""

    code: int


class Error(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The body of every error response, except on routes with the conventions of another standard."""

    error: str
    error_code: str
    timestamp: datetime
    request_id: str
    details: tuple[FieldError, ...] = ()


class OfferedCustomer(msgspec.Struct, kw_only=True):
    """A customer of the service for which the user may sign in, and its only connection, if it has one."""

    id: UUID
    slug: str
    name: str
    connection_id: UUID | None


class CustomerError(Error, kw_only=True):
    """The user has to choose a customer: `POST /api/auth/customer` takes one with the token, for ten minutes, once."""

    customers: list[OfferedCustomer]
    individual: bool
    customer_token: str


class SingleSignOnError(Error, kw_only=True):
    """The user comes for a customer that requires its own sign-in, by this connection."""

    connection_id: UUID


class PartialAnswer(msgspec.Struct):
    """An answer of which a request may choose the fields: only those in `always_answered` are certain."""

    always_answered: ClassVar[frozenset[str]] = frozenset()


class InternalFailure(Refusal):
    """The service failed unexpectedly; the log has the reason."""

    code = ErrorCode.INTERNAL_SERVER_ERROR
    default_message = "Something went wrong on our side. The service's log has the reason under this request id."


def encode(value: Any) -> bytes:
    """Encode a value as JSON: times in UTC with Z, ids in lower case. Raise `TypeError` for a `Secret`."""
    return _ENCODER.encode(value)


def answered(route: Route, value: Any, call: Call) -> Response:
    """Return the response for a handler's result."""
    if isinstance(value, Response):
        value.headers.update(call.headers)
        return _without_body(value) if value.status_code in _WITHOUT_BODY else value
    status = call.status or route.status
    if value is None:
        return empty(status, call.headers)
    return Response(encode(value), status=status, headers=call.headers, content_type=route.answer_media_type)


def empty(status: int, headers: dict[str, str]) -> Response:
    """Return a response without a body, and so without a content type."""
    response = Response(b"", status=status, headers=headers)
    del response.headers["Content-Type"]
    return _without_body(response) if status in _WITHOUT_BODY else response


def see_other(location: str) -> Response:
    """Return the response that leads a browser to another page, with a GET."""
    return empty(303, {"Location": location})


def refused(refusal: Refusal, *, request_id: str, at: datetime, base_url: str) -> Response:
    """Return the response for a refusal; `at` is the time of the installation's clock."""
    common: dict[str, Any] = {
        "error": refusal.message,
        "error_code": refusal.code.name,
        "timestamp": at,
        "request_id": request_id,
        "details": _details(refusal, base_url),
    }
    failure = Error(**common)
    if isinstance(refusal, CustomerRequired):
        failure = CustomerError(
            **common,
            customers=[
                OfferedCustomer(id=one.id, slug=one.slug, name=one.name, connection_id=one.connection_id)
                for one in refusal.undecided.customers
            ],
            individual=refusal.undecided.may_come_alone,
            customer_token=refusal.token.reveal(),
        )
    elif isinstance(refusal, SsoRequired) and refusal.connection_id is not None:
        failure = SingleSignOnError(**common, connection_id=refusal.connection_id)
    headers = refusal_headers(refusal)
    headers["Link"] = help_links(base_url)[refusal.code]
    return Response(encode(failure), status=refusal.code.status, headers=headers, content_type=JSON)


def asks_for_page(request: Request) -> bool:
    """Return whether a request asks for HTML by name and prefers it to JSON, as browsers do that open an address."""
    return HTML in request.headers.get("Accept", "").lower() and (
        request.accept_mimetypes.best_match([HTML, JSON], default=JSON) == HTML
    )


def refusal_headers(refusal: Refusal) -> dict[str, str]:
    """Return the headers that the response for a refusal has, whatever the shape of its body."""
    headers: dict[str, str] = {}
    if isinstance(refusal, TemporaryRefusal):
        headers["Retry-After"] = str(refusal.retry_after_seconds)
    if isinstance(refusal, UnsupportedContentCoding):
        headers["Accept-Encoding"] = "identity"
    if isinstance(refusal, MethodNotAllowed):
        headers["Allow"] = ", ".join(refusal.allowed)
    if isinstance(refusal, OAuthRefusal):
        headers["WWW-Authenticate"] = dpop_challenge(refusal)
    elif (challenge := CHALLENGES.get(refusal.code)) is not None:
        headers["WWW-Authenticate"] = challenge
    if isinstance(refusal, NonceRequired):
        headers["DPoP-Nonce"] = refusal.nonce
    return headers


def dpop_challenge(refusal: OAuthRefusal) -> str:
    """Return the header that asks for a proof of possession (RFC 9449, 7.1)."""
    algorithms = f', algs="{" ".join(refusal.algorithms)}"' if isinstance(refusal, TokenBound) else ""
    return f'DPoP error="{refusal.error}"{algorithms}'


def _details(refusal: Refusal, base_url: str) -> tuple[FieldError, ...]:
    match refusal:
        case BadRequest():
            return refusal.details
        case AccountUsedElsewhere():
            return (FieldError(field="continue_at", message=base_url + _ACCOUNT_PAGE),)
        case _:
            return ()


def as_refusal(error: HTTPException) -> Refusal:
    """Return the refusal that corresponds to an error of the framework."""
    match error.code:
        case 404:
            return NoSuchPath()
        case 405:
            return MethodNotAllowed(tuple(sorted(getattr(error, "valid_methods", None) or ())))
        case 408:
            return RequestTimedOut()
        case 413:
            return PayloadTooLarge()
        case _:
            return BadRequest("The request is malformed.")


def _without_body(response: Response) -> Response:
    for name in ("Content-Length", "Content-Type"):
        del response.headers[name]
    return response


def _encode_other(value: Any) -> Any:
    if isinstance(value, Wording):
        # Programs read the English text.
        return str(value)
    if isinstance(value, Secret):
        raise TypeError("a Secret cannot be encoded; call reveal() where it is meant to be shown")
    raise TypeError(f"{type(value).__name__} cannot be encoded as JSON")


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_encode_other)

"""Refusals in the shape of OAuth (RFC 6749, 5.2), for the endpoints whose clients expect it.

An endpoint of OAuth raises an `OAuthRefusal` of `core/openid/refusals.py`, and its `Routes` have the refusals here.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec
from quart import Response

from core.errors import BadRequest, ErrorCode, Refusal, TemporaryRefusal
from core.openid.refusals import (
    ClientInvalid,
    InsufficientScope,
    NonceRequired,
    OAuthRefusal,
    ProofInvalid,
    TokenBound,
    WayUnauthorized,
)
from core.tables import PartialTable
from entrypoints.web.serving.answering.answers import JSON, dpop_challenge, encode, help_links
from entrypoints.web.serving.calls import Call

NONCE_HEADER: Final = "DPoP-Nonce"
_SERVER_ERROR_MIN: Final = 500
# The names for refusals that every route may have.
_NAMES: Final = PartialTable(
    {
        ErrorCode.TOKEN_EXPIRED: "invalid_token",
        ErrorCode.JWT_ERROR: "invalid_token",
        ErrorCode.UNAUTHORIZED: "invalid_token",
        ErrorCode.FORBIDDEN: "invalid_token",
        ErrorCode.ORGANIZATION_NOT_ACTIVE: "invalid_grant",
        ErrorCode.RATE_LIMIT_EXCEEDED: "temporarily_unavailable",
        ErrorCode.SERVICE_UNAVAILABLE: "temporarily_unavailable",
    }
)


class OauthError(msgspec.Struct, kw_only=True):
    """The body of a refusal in OAuth; `error_code` is the code of the table of all errors."""

    error: str
    error_description: str
    error_code: str
    timestamp: datetime


def refused(call: Call, refusal: Refusal) -> Response:
    """Return the response for a refusal; for `Routes` that OAuth clients call."""
    status = refusal.code.status
    name = name_of(refusal)
    if refusal.code is ErrorCode.ORGANIZATION_NOT_ACTIVE:
        status = ErrorCode.BAD_REQUEST.status
    failure = OauthError(
        error=name,
        error_description=refusal.message,
        error_code=refusal.code.name,
        timestamp=call.installation.clock(),
    )
    response = Response(encode(failure), status=status, content_type=JSON)
    response.headers["Link"] = help_links(call.installation.settings.base_url)[refusal.code]
    if isinstance(refusal, TemporaryRefusal):
        response.headers["Retry-After"] = str(refusal.retry_after_seconds)
    if isinstance(refusal, NonceRequired):
        response.headers[NONCE_HEADER] = refusal.nonce
    # No other credential would help such a client, and libraries read a challenge instead of the refusal. A client that
    # has not authenticated by the header gets no challenge (RFC 6749, 5.2).
    is_by_other_way = isinstance(refusal, ClientInvalid) and not _has_basic(call)
    is_challenged = not isinstance(refusal, WayUnauthorized) and not is_by_other_way
    if is_challenged and status in {ErrorCode.UNAUTHORIZED.status, ErrorCode.FORBIDDEN.status}:
        response.headers["WWW-Authenticate"] = challenge(call, refusal)
    return response


def _has_basic(call: Call) -> bool:
    """Return whether a request has a header by Basic, also one that cannot be read."""
    values = call.request.headers.getlist("Authorization")
    return any(value.strip().partition(" ")[0].lower() == "basic" for value in values)


def name_of(refusal: Refusal) -> str:
    """Return the name of a refusal in OAuth."""
    if isinstance(refusal, OAuthRefusal):
        return refusal.error
    if isinstance(refusal, BadRequest):
        return "invalid_request"
    return name_of_code(refusal.code)


def name_of_code(code: ErrorCode) -> str:
    """Return the name in OAuth of a refusal that has none of its own."""
    return _NAMES.get(code, "server_error" if code.status >= _SERVER_ERROR_MIN else "invalid_request")


def challenge(call: Call, refusal: Refusal) -> str:
    """Return the WWW-Authenticate header: how a client authenticates, or what is wrong with the token."""
    name = name_of(refusal)
    if name == "invalid_client":
        return 'Basic realm="Gatehouse"'
    if "Authorization" not in call.request.headers and name != "invalid_token":
        return "Bearer"
    if isinstance(refusal, ProofInvalid | NonceRequired | TokenBound):
        return dpop_challenge(refusal)
    if isinstance(refusal, InsufficientScope):
        return f'Bearer error="{name}", scope="{" ".join(refusal.scopes)}"'
    return f'Bearer error="{name}"'

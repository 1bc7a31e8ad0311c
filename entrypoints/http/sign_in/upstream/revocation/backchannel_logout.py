"""Back-channel logout: the OpenID provider of a connection tells that a user has signed out there."""

from typing import Any
from uuid import UUID

import msgspec

from core.errors import RateLimitExceeded, ServiceUnavailable
from core.rate_limits import RateLimit
from core.sign_in.upstream.revocation import backchannel_logout
from core.sign_in.upstream.revocation.backchannel_logout import LogoutIssuer, LogoutToken, LogoutTokenRefused
from entrypoints.http.sign_in.upstream.connections import upstream_providers
from entrypoints.shared.sign_in.upstream.keys_of_issuers import verified_by_issuer
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("upstream connections", upstream_providers.routes.description)


class LogoutTokenForm(msgspec.Struct, kw_only=True):
    """The token that the provider posts."""

    logout_token: str = ""


@routes.post(
    "/auth/upstream/:connection_id/backchannel-logout",
    status=204,
    has_group_limit=False,
    refuses=(LogoutTokenRefused, RateLimitExceeded, ServiceUnavailable),
)
@public
async def log_out_by_token(call: Call, connection_id: UUID, form: LogoutTokenForm) -> None:
    """End the sessions that the OpenID provider of a connection names in a logout token.

    The token (OpenID Connect Back-Channel Logout 1.0) is a JWT of the connection's issuer, for its client id, signed by
    one of the published keys: with `iat`, `jti`, the event, and `sub` or `sid` or both, and without `nonce`. It is
    taken once, and for ten minutes. What ends is what began by this connection; sessions of the user by other ways
    stay. The answer is the same when there is no such session. A connection has 600 requests a minute.
    """
    token = await _verified(call, connection_id, form.logout_token)
    call.limit_connection(connection_id, RateLimit.BACKCHANNEL_LOGOUT)
    await call.transact(backchannel_logout.log_out, connection_id, token)
    call.headers["Cache-Control"] = "no-store"


async def _verified(call: Call, connection_id: UUID, text: str) -> LogoutToken:
    """Return the token of a form; raise `LogoutTokenRefused`, or `RateLimitExceeded` after many of these."""
    try:
        known = await call.read(backchannel_logout.find_issuer, connection_id)
        claims, kind = await _claims(call, known, text)
        return backchannel_logout.judged(claims, kind, known, at=call.installation.clock())
    except LogoutTokenRefused:
        call.limit(RateLimit.SIGN_IN_GROUP)
        raise


async def _claims(call: Call, known: LogoutIssuer, text: str) -> tuple[dict[str, Any], Any]:
    # Its keys are asked for only where the token is said to be signed with them.
    if call.installation.signatures.named_issuer(text) != known.issuer:
        raise LogoutTokenRefused().because("other_issuer")
    claims = await verified_by_issuer(call, known.organization_id, known.issuer, text)
    if claims is None:
        raise LogoutTokenRefused().because("wrong_signature")
    return dict(claims), call.installation.signatures.named_type(text)

"""What a service learns about its user with an access token."""

from typing import Any

from core.openid import user_info
from core.openid.refusals import InsufficientScope, NonceRequiredHere, ProofUnauthorized
from entrypoints.web import oauth
from entrypoints.web.calls import Call
from entrypoints.web.credentials import signed_in
from entrypoints.web.hosts import on_custom_hosts
from entrypoints.web.oauth import OAuthFailure
from entrypoints.web.routes import Routes

routes = Routes("OpenID Connect", "What a service learns about its user.", oauth.refused, OAuthFailure)

REFUSALS = (InsufficientScope, ProofUnauthorized, NonceRequiredHere)


@routes.get("/auth/userinfo", allows_any_origin=True, has_group_limit=False, refuses=REFUSALS)
@on_custom_hosts
@signed_in
async def read_user_info(call: Call) -> dict[str, Any]:
    """Return the claims about the user of an access token that its scopes open."""
    return await call.read(user_info.read, call.claims.get("scope"))


@routes.post("/auth/userinfo", allows_any_origin=True, has_group_limit=False, refuses=REFUSALS)
@on_custom_hosts
@signed_in
async def post_user_info(call: Call) -> dict[str, Any]:
    """Return the same for a POST, as OpenID Connect requires; the token is in the header."""
    return await read_user_info(call)

"""What a service learns about its user with an access token."""

from typing import Any

from core.openid import userinfo
from core.openid.refusals import InsufficientScope, NonceRequiredHere, ProofUnauthorized
from entrypoints.web.serving import oauth
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import signed_in
from entrypoints.web.serving.hosts import on_custom_hosts
from entrypoints.web.serving.oauth import OauthError
from entrypoints.web.serving.routes import Routes

routes = Routes("OpenID Connect", "What a service learns about its user.", oauth.refused, OauthError)

REFUSALS = (InsufficientScope, ProofUnauthorized, NonceRequiredHere)


@routes.get("/auth/userinfo", allows_any_origin=True, has_group_limit=False, refuses=REFUSALS)
@on_custom_hosts
@signed_in
async def read_user_info(call: Call) -> dict[str, Any]:
    """Return the claims about the user of an access token that its scopes open."""
    return await call.read(userinfo.read, call.claims.get("scope"))


@routes.post("/auth/userinfo", allows_any_origin=True, has_group_limit=False, refuses=REFUSALS)
@on_custom_hosts
@signed_in
async def post_user_info(call: Call) -> dict[str, Any]:
    """Return the same for a POST, as OpenID Connect requires; the token is in the header."""
    return await read_user_info(call)

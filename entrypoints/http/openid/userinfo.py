"""What a service learns about its user with an access token."""

from typing import Any

from core.openid import userinfo
from core.openid.refusals import (
    ContextInactive,
    InsufficientScope,
    NonceRequiredHere,
    ProofUnauthorized,
    TokenBound,
)
from entrypoints.web.serving.admission.credentials import signed_in, signed_in_or_in_form
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.answering import oauth
from entrypoints.web.serving.answering.oauth import OauthError
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("OpenID Connect", "What a service learns about its user.", oauth.refused, OauthError)

REFUSALS = (InsufficientScope, ContextInactive, TokenBound, ProofUnauthorized, NonceRequiredHere)


@routes.get("/auth/userinfo", allows_any_origin=True, has_group_limit=False, refuses=REFUSALS)
@on_custom_hosts
@signed_in
async def read_user_info(call: Call) -> dict[str, Any]:
    """Return the claims about the user of an access token: those that its scopes open, and those asked for by name."""
    # A token of the JSON interface was granted to no client, whatever scopes it has for the interfaces of the service.
    scope = call.claims.get("scope") if "client_id" in call.claims else None
    return await call.read(userinfo.read, scope, call.claims.get("userinfo_claims", ()))


@routes.post("/auth/userinfo", allows_any_origin=True, has_group_limit=False, refuses=REFUSALS)
@on_custom_hosts
@signed_in_or_in_form
async def post_user_info(call: Call) -> dict[str, Any]:
    """Return the same for a POST; the token is in the header, or in a form as `access_token` (RFC 6750, 2.2)."""
    return await read_user_info(call)

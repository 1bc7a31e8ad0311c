"""The public keys that verify tokens. They are created and rotated by a command, never by a request."""

import msgspec

from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.admission.hosts import on_custom_hosts
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("signing keys", "The public keys that verify access tokens.")

# The next key is published long before it signs, so a copy of this age is never outdated.
CACHE_SECONDS = 300


class JsonWebKeySet(msgspec.Struct, kw_only=True, frozen=True):
    """A JSON Web Key Set (RFC 7517)."""

    keys: list[dict[str, str]]


@routes.get("/.well-known/jwks.json", allows_any_origin=True)
@on_custom_hosts
@public
async def jwks(call: Call) -> JsonWebKeySet:
    """List the keys that sign tokens: the active one, the next one, and retired ones until their last token expires."""
    call.headers["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
    return JsonWebKeySet(keys=call.installation.tokens.jwks())

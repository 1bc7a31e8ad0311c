"""The public keys by which anybody can check our tokens. Making and rotating them is a command, never a request."""

import msgspec

from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes

routes = Routes("signing keys", "The public keys that access tokens are checked with.")

# The next key is published long before it signs, so nobody is surprised by a copy that is this old.
CACHE_SECONDS = 300


class KeySet(msgspec.Struct, kw_only=True, frozen=True):
    """A JSON Web Key Set (RFC 7517)."""

    keys: list[dict[str, str]]


@routes.get("/.well-known/jwks.json")
@public
async def jwks(call: Call) -> KeySet:
    """List the keys that sign tokens: the active one, the next one, and retired ones until their last token expires."""
    call.headers["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
    return KeySet(keys=call.installation.tokens.jwks())

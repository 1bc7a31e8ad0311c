"""Finding out how an address signs in, before anybody has typed a password."""

import msgspec

from core.sign_in import lookup
from core.sign_in.lookup import Lookup
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes

routes = Routes("login", "Signing in with an email address and a password.")


class LookupWanted(msgspec.Struct, kw_only=True):
    """An address."""

    email: str


@routes.post("/api/auth/lookup-email")
@public
async def look_email_up(call: Call, body: LookupWanted) -> Lookup:  # noqa: ARG001 - every handler is given its call
    """Say how the addresses of this domain sign in; whether an account has the address plays no part."""
    return lookup.by_domain(body.email)

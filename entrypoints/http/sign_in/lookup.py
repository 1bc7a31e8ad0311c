"""How an email address signs in, for sign-in pages that ask for the address first."""

import msgspec

from core.sign_in import lookup
from core.sign_in.lookup import Lookup
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.routes import Routes

routes = Routes("login", "Signing in with an email address and a password.")


class LookupWanted(msgspec.Struct, kw_only=True):
    """An email address."""

    email: str


@routes.post("/api/auth/lookup-email")
@public
async def look_email_up(call: Call, body: LookupWanted) -> Lookup:
    """Show how addresses of this domain sign in; the answer does not depend on whether an account has the address."""
    return await call.read(lookup.by_domain, body.email, base_url=call.installation.settings.base_url)

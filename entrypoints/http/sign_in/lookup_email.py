"""How an email address signs in, for sign-in pages that ask for the address first."""

import msgspec

from core.sign_in import lookup_email
from core.sign_in.lookup_email import EmailLookupResult
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.routes import Routes

routes = Routes("login", "Signing in with an email address and a password.")


class EmailLookup(msgspec.Struct, kw_only=True):
    """An email address."""

    email: str


@routes.post("/api/auth/lookup-email")
@public
async def look_email_up(call: Call, body: EmailLookup) -> EmailLookupResult:
    """Show how addresses of this domain sign in; the answer does not depend on whether an account has the address."""
    return await call.read(lookup_email.by_domain, body.email, base_url=call.installation.settings.base_url)

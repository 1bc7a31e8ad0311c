"""How an email address signs in, for sign-in pages that ask for the address first."""

import msgspec

from core.errors import NotFound
from core.sign_in.lookup_email import EmailLookupResult
from entrypoints.shared.sessions.token_answers import destination
from entrypoints.shared.sign_in.lookup_email import look_up
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("login", "Signing in with an email address and a password.")


class EmailLookup(msgspec.Struct, kw_only=True):
    """An email address, and the organization and service to sign in to."""

    email: str
    org_slug: str | None = None
    service_slug: str | None = None


@routes.post("/api/auth/lookup-email", refuses=(NotFound,))
@public
async def look_email_up(call: Call, body: EmailLookup) -> EmailLookupResult:
    """Show how addresses of this domain sign in; the answer does not depend on whether an account has the address.

    With `org_slug` and `service_slug`, as at `POST /api/auth/login`, it is how they sign in there: the connection of
    another organization does not sign in to it, and is not named, unless that is a customer of the service. At a
    service with customers one network looks up 60 domains an hour.
    """
    wanted = destination(call, body.org_slug, body.service_slug)
    return await look_up(
        call,
        body.email,
        base_url=call.installation.settings.base_url,
        organization_slug=wanted.organization_slug,
        service_slug=wanted.service_slug,
        is_checked=True,
    )

"""Asking for a link to sign in with, and signing in with it; the page behind the link is a page."""

from uuid import UUID

from core.accounts.return_targets import RedirectNotRegistered
from core.errors import Forbidden, NotFound, OrganizationNotActive
from core.rate_limits import RateLimit
from core.sign_in import magic_links
from core.sign_in.magic_links import AskedForElsewhere, MagicLinkRefused
from entrypoints.http.accounts.registration import LetterWanted
from entrypoints.http.sessions.sessions import Message
from entrypoints.http.sessions.token_answers import (
    SecondFactorDue,
    SignedIn,
    answer_outcome,
    destination,
    transact_counted,
)
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.hidden import Hidden
from entrypoints.web.routes import Routes

routes = Routes("magic links", "Signing in with a link that is mailed, without a password.")


class MagicLink(Hidden, kw_only=True):
    """The token of the mailed link, or the code that its page shows, and where its person wants to."""

    token: UUID
    org_slug: str | None = None
    service_slug: str | None = None


@routes.post(
    "/api/auth/magic-link/request",
    limits=(RateLimit.MAGIC_LINK_REQUEST,),
    refuses=(RedirectNotRegistered, NotFound),
)
@public
async def request_link(call: Call, body: LetterWanted) -> Message:
    """Send a link to sign in with, good for 15 minutes and once.

    The answer is the same whether or not an account has the address. The link opens a page that shows a code for
    where the person wanted to sign in: offer a field for it, and send it to `POST /api/auth/magic-link/verify`. An
    app that opens the link itself sends the link's `token` instead. `redirect_uri` is where the page leads back to.
    """
    await call.transact(magic_links.request, body.email, body.return_request)
    return Message(message="If an account has this address, a letter with a link to sign in is on its way to it.")


@routes.post(
    "/api/auth/magic-link/verify",
    refuses=(MagicLinkRefused, AskedForElsewhere, NotFound, Forbidden, OrganizationNotActive),
)
@public
async def verify_link(call: Call, body: MagicLink) -> SignedIn | SecondFactorDue:
    """Sign in with the token of a mailed link, or with the code of its page; the answer is that of `/api/auth/login`.

    The organization and service that the link was asked for are those of the sign-in.
    """
    wanted = destination(call, body.org_slug, body.service_slug)
    return answer_outcome(call, await transact_counted(call, magic_links.verify, str(body.token), wanted))

"""Requesting a magic link, and signing in with it; `entrypoints/pages` has the page of the link."""

from uuid import UUID

from core.accounts.return_targets import RedirectNotRegistered
from core.errors import Forbidden, NotFound, OrganizationNotActive, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in import magic_links
from core.sign_in.magic_links import DestinationMismatch, MagicLinkRefused
from entrypoints.http.accounts.registration import MailedLinkRequest
from entrypoints.shared.sessions.token_answers import (
    PendingSecondFactor,
    SignInTokens,
    answer_outcome,
    destination,
    transact_counted,
)
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.bodies import Message
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.routes import Routes

routes = Routes("magic links", "Signing in with a mailed link, without a password.")


class MagicLinkSignIn(SecretBody, kw_only=True):
    """The token of the link or the code of its page, and the organization and service to sign in to."""

    token: UUID
    org_slug: str | None = None
    service_slug: str | None = None


@routes.post(
    "/api/auth/magic-link/request",
    limits=(RateLimit.MAGIC_LINK_REQUEST,),
    refuses=(RedirectNotRegistered, NotFound),
)
@public
async def request_link(call: Call, body: MailedLinkRequest) -> Message:
    """Mail a link to sign in with, which is valid for 15 minutes and can be used once.

    The answer is the same whether or not an account has the address. The link opens a page that shows a code to
    paste where the sign-in began: offer a field for it, and send it to `POST /api/auth/magic-link/verify`. An app that
    opens the link itself sends the `token` of the link instead. The page leads back to `redirect_uri`.
    """
    await call.transact(magic_links.request, body.email, body.return_request)
    return Message(message="If an account has this address, we are sending it a mail with a link to sign in.")


@routes.post(
    "/api/auth/magic-link/verify",
    refuses=(MagicLinkRefused, SsoRequired, DestinationMismatch, NotFound, Forbidden, OrganizationNotActive),
)
@public
async def verify_link(call: Call, body: MagicLinkSignIn) -> SignInTokens | PendingSecondFactor:
    """Sign in with the token of a mailed link, or with the code of its page; the answer is that of `/api/auth/login`.

    The organization and service are those that the link was requested for.
    """
    wanted = destination(call, body.org_slug, body.service_slug)
    return answer_outcome(call, await transact_counted(call, magic_links.verify, str(body.token), wanted))

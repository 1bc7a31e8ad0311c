"""Requesting a sign-in mail, and signing in with its link or code; `entrypoints/pages` has the page of the link."""

from dataclasses import replace
from uuid import UUID

import msgspec

from core.accounts import links
from core.accounts.return_targets import RedirectNotRegistered
from core.errors import BadRequest, Forbidden, NotFound, OrganizationNotActive, SsoRequired
from core.rate_limits import RateLimit
from core.sign_in import magic_links
from core.sign_in.customer_choices import CustomerRequired
from core.sign_in.magic_links import DestinationMismatch, MagicLinkRefused
from entrypoints.http.accounts.registration import MailedLinkRequest
from entrypoints.shared.sessions.token_answers import (
    CustomerName,
    PendingSecondFactor,
    SignInTokens,
    answer_outcome,
    destination,
    transact_counted,
)
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.admission.credentials import public
from entrypoints.web.serving.answering.bodies import Message
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes = Routes("magic links", "Signing in with a mailed link, without a password.")


class MagicLinkRequested(Message, kw_only=True):
    """What was done, and the challenge that the code of the mail answers."""

    challenge_id: UUID


class MagicLinkSignIn(SecretBody, kw_only=True):
    """The token of the link or the code of its page, or the code of the mail; and where to sign in."""

    token: UUID | msgspec.UnsetType = msgspec.UNSET
    challenge_id: UUID | msgspec.UnsetType = msgspec.UNSET
    code: str | msgspec.UnsetType = msgspec.UNSET
    org_slug: str | None = None
    service_slug: str | None = None
    customer: CustomerName | None = None


class MagicLinkRequest(MailedLinkRequest, kw_only=True):
    """The recipient of the mail, and where to sign in; the page of the link leads back to `redirect_uri`."""

    customer: CustomerName | None = None


@routes.post(
    "/api/auth/magic-link/request",
    limits=(RateLimit.MAGIC_LINK_REQUEST,),
    refuses=(RedirectNotRegistered, NotFound),
)
@public
async def request_link(call: Call, body: MagicLinkRequest) -> MagicLinkRequested:
    """Mail a link and a code to sign in with, of which one can be used, once: the link for 15 minutes, the code for 10.

    The answer is the same whether or not an account has the address. Offer a field for the six digits, and send them
    with `challenge_id` to `POST /api/auth/magic-link/verify`: they are of use to no other client. A browser gets by the
    link a page with a longer code to paste where the sign-in began, which is sent as `token`. An app that opens
    the link itself sends the `token` of the link. The page leads back to `redirect_uri`. After 100 wrong codes an
    address gets links alone until its user has signed in; the answer stays the same. The `customer` that is named here
    is asked for after the sign-in, unless the user has come in for it before, because anyone can request a mail.
    """
    wanted = replace(body.return_request, customer=body.customer)
    challenge_id = await call.transact(magic_links.request, body.email, wanted)
    return MagicLinkRequested(
        message="If an account has this address, we are sending it a mail with a link and a code to sign in.",
        challenge_id=challenge_id,
    )


@routes.post(
    "/api/auth/magic-link/verify",
    refuses=(
        MagicLinkRefused,
        SsoRequired,
        DestinationMismatch,
        NotFound,
        Forbidden,
        OrganizationNotActive,
        CustomerRequired,
    ),
)
@public
async def verify_link(call: Call, body: MagicLinkSignIn) -> SignInTokens | PendingSecondFactor:
    """Sign in with a mailed link or code; the answer is the same as from `/api/auth/login`.

    Send `token`, from the link or the code of its page; or `code`, the six digits in the mail, and `challenge_id`, from
    the answer to the request for it. Five wrong codes end a challenge; its link stays valid. After 30 within an hour
    the network of the client gets 429 for every code. The sign-in is to the organization and service that the mail was
    requested for.
    """
    wanted = destination(call, body.org_slug, body.service_slug, body.customer)
    if body.challenge_id is msgspec.UNSET and body.code is msgspec.UNSET:
        if body.token is msgspec.UNSET:
            raise BadRequest.of_field("token", "Send the token of the link, or challenge_id and code.")
        return answer_outcome(call, await transact_counted(call, magic_links.verify, str(body.token), wanted))
    challenge_id, code = _code_of(body)
    return answer_outcome(call, await transact_counted(call, magic_links.verify_code, challenge_id, code, wanted))


def _code_of(body: MagicLinkSignIn) -> tuple[UUID, str]:
    """Return the challenge and the code of a body that has no token."""
    if body.token is not msgspec.UNSET:
        raise BadRequest.of_field("token", "Send either the token of the link, or challenge_id and code.")
    if body.challenge_id is msgspec.UNSET:
        raise BadRequest.of_field("challenge_id", "Send the challenge_id with which the request was answered.")
    code = links.typed_code(body.code) if body.code is not msgspec.UNSET else None
    if code is None:
        raise BadRequest.of_field("code", "This must be the six digits in the mail.")
    return body.challenge_id, code

"""The pages behind the link of an invitation: where it leads, the two buttons of our own page, and what comes next."""

from typing import Annotated, Final
from urllib.parse import urlencode
from uuid import UUID

import msgspec

from core.errors import OrganizationNotActive
from core.invitations import answers
from core.invitations.acceptance import InvitationAnswered, NextStep
from core.invitations.answers import InvitationUnknown
from core.invitations.invitations import InvitationExpired
from core.rate_limits import RateLimit
from entrypoints.http.invitations.invitations import CANNOT_JOIN
from entrypoints.pages.forms import MailedLink, read_form
from entrypoints.pages.refusals import refusal_page
from entrypoints.pages.rendering import Page, page
from entrypoints.web.calls import Call
from entrypoints.web.credentials import public
from entrypoints.web.hidden import Hidden
from entrypoints.web.routes import Routes

routes = Routes("invitations", "Inviting people into an organization, and their answer.", refusal_page)

ACCEPT: Final = "/app/invitations/accept"
DECLINE: Final = "/app/invitations/decline"
# Where our own pages are, for installations without others.
_OWN_PAGES: Final = "/app"
_SAME_PATH: Final = "/invitations/accept"

# The path and the words for what somebody does next who has accepted.
_NEXT_STEPS: Final = {
    NextStep.SIGN_IN: "Sign in with your account {email} to work there.",
    NextStep.VERIFY_ADDRESS: "Before you sign in, show that {email} is yours: open the link in the letter that was sent"
    " there. Without a password yet, ask for one where you sign in.",
    NextStep.CHOOSE_PASSWORD: "A letter is on its way to {email}: open its link to choose a password, and sign in with"
    " it.",
}


class InvitationLink(MailedLink, kw_only=True):
    """What the link in an invitation's letter says."""

    proof: Annotated[str, msgspec.Meta(description="What only the mailed link has.")] | None = None


class InvitationForm(Hidden, kw_only=True):
    """What the buttons of the page send."""

    token: UUID
    proof: str = ""


@routes.get(_SAME_PATH, status=301)
@public
async def follow_link(call: Call, query: InvitationLink) -> None:
    """Lead from the mailed link to the page where one accepts: that of your own pages, or of Gatehouse."""
    settings = call.installation.settings
    frontend = settings.frontend_url or settings.base_url + _OWN_PAGES
    kept = {"token": query.token} | ({"proof": query.proof} if query.proof is not None else {})
    call.headers["Location"] = f"{frontend}{_SAME_PATH}?{urlencode(kept)}"


@routes.get(ACCEPT, refuses=(InvitationUnknown, InvitationAnswered, InvitationExpired, OrganizationNotActive))
@public
async def show_invitation(call: Call, query: InvitationLink) -> Page:
    """Show who invites into what, with a button to accept and one to decline; looking changes nothing."""
    presented = await call.read(answers.inspect, query.token)
    return page(call, "invitation.html", token=query.token, proof=query.proof or "", presented=presented)


@routes.post(ACCEPT, limits=(RateLimit.INVITATION_ANSWER,), refuses=(InvitationUnknown, *CANNOT_JOIN))
@public
async def press_accept(call: Call) -> Page:
    """Accept; programs use `POST /api/invitations/accept`."""
    form = await read_form(call, InvitationForm)
    joined = await call.transact(answers.accept, str(form.token), form.proof or None)
    return _message(
        call,
        f"You are a member of {joined.organization_name}",
        _NEXT_STEPS[joined.next_step].format(email=joined.email),
    )


@routes.post(
    DECLINE,
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(InvitationUnknown, InvitationAnswered, OrganizationNotActive),
)
@public
async def press_decline(call: Call) -> Page:
    """Decline; programs use `POST /api/invitations/decline`."""
    form = await read_form(call, InvitationForm)
    declined = await call.transact(answers.decline, str(form.token))
    return _message(
        call,
        "You have declined",
        f"You join nothing, and {declined.organization_name} is told so. If that was a mistake, ask for a new"
        " invitation.",
    )


def _message(call: Call, heading: str, text: str) -> Page:
    return page(call, "message.html", heading=heading, text=text, back=None, request_id=None)

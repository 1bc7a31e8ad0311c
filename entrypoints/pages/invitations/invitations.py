"""The pages of an invitation link: the redirect, the page with two buttons, and the page that names the next step."""

from typing import Annotated, Final
from urllib.parse import urlencode
from uuid import UUID

import msgspec

from core.errors import OrganizationNotActive
from core.invitations import answers
from core.invitations.acceptance import CANNOT_JOIN, InvitationAnswered, Joined, NextStep
from core.invitations.answers import InvitationUnknown
from core.invitations.invitations import InvitationExpired
from core.rate_limits import RateLimit
from entrypoints.pages.brands import brand_of
from entrypoints.pages.declaring import invitation_pages
from entrypoints.pages.forms import MailedLink
from entrypoints.pages.languages import marked, translated
from entrypoints.pages.rendering import Page, page
from entrypoints.web.input.hidden import SecretBody
from entrypoints.web.serving.browsers import SIGN_IN
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public

routes = invitation_pages()

ACCEPT: Final = "/app/invitations/accept"
DECLINE: Final = "/app/invitations/decline"
# The pages of Gatehouse, for installations without a frontend of their own.
_OWN_PAGES: Final = "/app"
_SAME_PATH: Final = "/invitations/accept"

# What a person does next after accepting.
_NEXT_STEPS: Final = {
    NextStep.SIGN_IN: marked("Sign in with your account %(email)s to work there."),
    NextStep.FOLLOW_MAIL: marked(
        "Open the link in the mail that we are sending to %(email)s, then sign in. If you have no password yet, request"
        " one where you sign in."
    ),
    NextStep.CHOOSE_PASSWORD: marked(
        "We are sending a mail to %(email)s: open its link to choose a password, then sign in."
    ),
}


class InvitationLink(MailedLink, kw_only=True):
    """The query of the link in an invitation mail."""

    proof: Annotated[str, msgspec.Meta(description="The proof that only the mailed link contains.")] | None = None


class InvitationForm(SecretBody, kw_only=True):
    """The form of the two buttons."""

    token: UUID
    proof: str = ""


@routes.get(_SAME_PATH, status=301)
@public
async def follow_link(call: Call, query: InvitationLink) -> None:
    """Redirect from the mailed link to the page for accepting, in your frontend or in Gatehouse."""
    settings = call.installation.settings
    frontend = settings.frontend_url or settings.base_url + _OWN_PAGES
    kept = {"token": query.token} | ({"proof": query.proof} if query.proof is not None else {})
    call.headers["Location"] = f"{frontend}{_SAME_PATH}?{urlencode(kept)}"


@routes.get(ACCEPT, refuses=(InvitationUnknown, InvitationAnswered, InvitationExpired, OrganizationNotActive))
@public
async def show_invitation(call: Call, query: InvitationLink) -> Page:
    """Show the invitation, with a button to accept and one to decline; opening the page changes nothing."""
    presented = await call.read(answers.inspect, query.token, query.proof or None)
    brand = await brand_of(call, presented.invitation.organization_id)
    return page(call, "invitation.html", token=query.token, proof=query.proof or "", presented=presented, brand=brand)


@routes.post(ACCEPT, limits=(RateLimit.INVITATION_ANSWER,), refuses=(InvitationUnknown, *CANNOT_JOIN))
@public
async def press_accept(call: Call, form: InvitationForm) -> Page:
    """Accept an invitation; programs use `POST /api/invitations/accept`."""
    return joined_page(call, await call.transact(answers.accept, str(form.token), form.proof or None))


@routes.post(
    DECLINE,
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(InvitationUnknown, InvitationAnswered, OrganizationNotActive),
)
@public
async def press_decline(call: Call, form: InvitationForm) -> Page:
    """Decline an invitation; programs use `POST /api/invitations/decline`."""
    declined = await call.transact(answers.decline, str(form.token), form.proof or None)
    return message_page(
        call,
        translated(call, "You declined the invitation"),
        translated(
            call,
            "You do not join %(name)s, which is notified. If this was a mistake, ask for a new invitation.",
            name=declined.organization_name,
        ),
    )


def joined_page(call: Call, joined: Joined) -> Page:
    """Return the page that tells a new member what to do next."""
    return message_page(
        call,
        translated(call, "You are a member of %(name)s", name=joined.organization_name),
        translated(call, _NEXT_STEPS[joined.next_step], email=joined.email),
        leads_to_sign_in=True,
    )


def message_page(call: Call, heading: str, text: str, *, leads_to_sign_in: bool = False) -> Page:
    """Return a page with a message."""
    next_step = (marked("Sign in"), SIGN_IN) if leads_to_sign_in else (marked("Go to the start page"), _OWN_PAGES)
    return page(call, "message.html", heading=heading, text=text, back=None, next=next_step, request_id=None)

"""The pages of an invitation link: the redirect, the page that answers it, and the page that names the next step."""

from functools import partial
from typing import Annotated, Final
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from quart import Response

from core.accounts import names, passwords
from core.accounts.passwords import PasswordBreached, PasswordTooCommon
from core.errors import BadRequest, NotFound, OrganizationNotActive, Refusal, SsoRequired, all_valid
from core.invitations import joining, own_invitations
from core.invitations.invitations import InvitationExpired
from core.invitations.joining import AccountChanged, Answerable, DomainConnection, JoinBy
from core.invitations.new_members import CANNOT_JOIN, InvitationAnswered, Joined, NextStep
from core.invitations.own_invitations import InvitationUnknown
from core.rate_limits import RateLimit
from core.sign_in.reasons import SignInRefused
from entrypoints.pages.frame import returns
from entrypoints.pages.frame.brands import brand_of
from entrypoints.pages.frame.forms import MailedLink
from entrypoints.pages.frame.languages import marked, translated
from entrypoints.pages.frame.refusals import message_on_page, problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect, form_page, page
from entrypoints.pages.frame.returns import ReturnQuery
from entrypoints.pages.frame.routes import invitation_pages
from entrypoints.pages.sign_in import conclusion
from entrypoints.pages.sign_in.login import methods_page
from entrypoints.shared.accounts.passwords import hashed
from entrypoints.shared.sessions.token_answers import transact_counted
from entrypoints.shared.sign_in.login import authenticate
from entrypoints.web.serving.admission.browsers import SIGN_IN, ProtectedForm
from entrypoints.web.serving.admission.credentials import in_browser, in_browser_or_not, public
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

routes = invitation_pages()

ACCEPT: Final = "/app/invitations/accept"
DECLINE: Final = "/app/invitations/decline"
JOINED: Final = "/app/invitations/joined/:org_slug"
# The pages of Gatehouse, for installations without a frontend of their own.
_OWN_PAGES: Final = "/app"
_SAME_PATH: Final = "/invitations/accept"

_CHANGED: Final = marked(
    "The account of this address has changed since this page was opened. Look again, and repeat it."
)
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


class InvitationForm(ProtectedForm, kw_only=True):
    """The form of a button."""

    token: str = ""
    proof: str = ""


class AcceptanceForm(InvitationForm, kw_only=True):
    """The form that accepts: how, and what that takes."""

    by: str = ""
    password: str = ""
    name: str = ""


@routes.get(_SAME_PATH, status=301)
@public
async def follow_link(call: Call, query: InvitationLink) -> None:
    """Redirect from the mailed link to the page for accepting, in your frontend or in Gatehouse."""
    settings = call.installation.settings
    frontend = settings.frontend_url or settings.base_url + _OWN_PAGES
    kept = {"token": query.token} | ({"proof": query.proof} if query.proof is not None else {})
    call.headers["Location"] = f"{frontend}{_SAME_PATH}?{urlencode(kept)}"


@routes.get(ACCEPT, refuses=(InvitationUnknown, InvitationAnswered, InvitationExpired, OrganizationNotActive))
@in_browser_or_not
async def show_invitation(call: Call, query: InvitationLink) -> Page:
    """Show the invitation, with a form to accept it and a button to decline; opening the page changes nothing.

    With the proof of the mailed link it takes a password, of a new account or of the one that there is, and signs in.
    """
    found = await call.read(joining.inspect, query.token, query.proof or None)
    return await _page(call, query.token, query.proof or "", found)


@routes.post(
    ACCEPT,
    limits=(RateLimit.INVITATION_ANSWER, RateLimit.SIGN_IN_GROUP),
    refuses=(InvitationUnknown, SignInRefused, SsoRequired, PasswordTooCommon, PasswordBreached, *CANNOT_JOIN),
)
@in_browser_or_not
async def press_accept(call: Call, form: AcceptanceForm) -> PageOrRedirect:
    """Accept an invitation, and sign in; programs use `POST /api/invitations/accept`."""
    token, proof = form.token, form.proof
    try:
        found = await call.read(joining.inspect, token, proof or None)
    except InvitationExpired:
        # Marks it as expired, and refuses in the same way.
        await call.transact(own_invitations.accept, token, proof or None)
        raise
    if form.by == JoinBy.CONNECTION and found.connection is not None:
        joined = await call.transact(joining.accept_before_connection, token, proof)
        return await _leading_page(call, found.connection, joined)
    if form.by == JoinBy.OTHER_WAY and found.join_by in {JoinBy.PASSWORD, JoinBy.OTHER_WAY}:
        return await _join_and_choose(call, token, proof)
    if form.by != found.join_by or found.join_by is JoinBy.CONNECTION:
        return await _page(call, token, proof, found, form=form, refusal=AccountChanged(_CHANGED))
    if found.join_by is JoinBy.MAIL:
        return await joined_page(call, await call.transact(own_invitations.accept, token, None))
    if found.join_by is JoinBy.SESSION:
        return see_other(_way_on(await call.transact(own_invitations.accept, token, proof or None)).return_to)
    try:
        if found.join_by is JoinBy.NEW_PASSWORD:
            return await _join_as_new(call, form, found)
        return await _join_with_password(call, form, found)
    except (SignInRefused, SsoRequired, BadRequest) as refusal:
        if isinstance(refusal, CANNOT_JOIN):
            raise
        return await _page(
            call, token, proof, await call.read(joining.inspect, token, proof), form=form, refusal=refusal
        )


@routes.post(
    DECLINE,
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(InvitationUnknown, InvitationAnswered, OrganizationNotActive),
)
@in_browser_or_not
async def press_decline(call: Call, form: InvitationForm) -> Page:
    """Decline an invitation; programs use `POST /api/invitations/decline`."""
    declined = await call.transact(own_invitations.decline, form.token, form.proof or None)
    return await message_page(
        call,
        declined.invitation.organization_id,
        translated(call, "You declined the invitation"),
        translated(
            call,
            "You do not join %(name)s, which is notified. If this was a mistake, ask for a new invitation.",
            name=declined.organization_name,
        ),
    )


@routes.get(JOINED, refuses=(NotFound,))
@in_browser
async def show_joined(call: Call, org_slug: str) -> Page:
    """Show an organization that you have joined, and what comes next."""
    found = await call.read(joining.joined, org_slug)
    brand = await brand_of(call, found.organization.id)
    return form_page(
        call,
        "invitations/invitations_joined.html",
        joined=found,
        organizations="/app/account/organizations",
        brand=brand,
    )


async def _join_as_new(call: Call, form: AcceptanceForm, found: Answerable) -> Response:
    """Join with a new account, or one that the proof gives to its person; `BadRequest` names what is invalid."""
    details, rules = found.details, call.installation.password_rules
    about = [found.email, details.organization_name, details.organization_slug]
    password, name = all_valid(
        lambda: passwords.accepted(form.password, "password", rules, about),
        lambda: names.checked_or_none(form.name.strip() or None),
    )
    password_hash = await hashed(call.installation, password)
    way = _way_to(found)
    wanted = conclusion.destination(call, way)
    outcome = await transact_counted(call, joining.accept_as_new, form.token, form.proof, password_hash, name, wanted)
    return await conclusion.conclude(call, outcome, way)


async def _join_with_password(call: Call, form: AcceptanceForm, found: Answerable) -> Response:
    """Join with the account that there is, after the right password."""
    way = _way_to(found)
    wanted = conclusion.destination(call, way)
    finish = partial(joining.accept_with_password, token=form.token, proof=form.proof)
    outcome = await authenticate(call, found.email, form.password, wanted, finish=finish)
    return await conclusion.conclude(call, outcome, way)


async def _join_and_choose(call: Call, token: str, proof: str) -> Response:
    """Join with the account that there is, and show how it signs in."""
    joined = await call.transact(own_invitations.accept, token, proof)
    await brand_of(call, joined.organization_id)
    return await methods_page(call, _way_on(joined), joined.email)


async def _leading_page(call: Call, connection: DomainConnection, joined: Joined) -> Response:
    """Return the page that opens a connection's sign-in: a browser follows no redirect from a form to another site."""
    address = _way_on(joined).on("/auth/upstream", connection_id=str(connection.id))
    shown = page(
        call,
        "frame/message.html",
        heading=translated(call, "One moment"),
        text=translated(call, "You go on to %(provider)s to sign in.", provider=connection.name),
        back=None,
        next=(marked("Continue"), address),
        request_id=None,
        brand=await brand_of(call, joined.organization_id),
    )
    shown.headers["Refresh"] = f"0; url={address}"
    return shown


def _way_on(joined: Joined) -> ReturnQuery:
    return _way(joined.organization_slug)


def _way_to(found: Answerable) -> ReturnQuery:
    return _way(found.details.organization_slug)


def _way(slug: str) -> ReturnQuery:
    return ReturnQuery(return_to=JOINED.replace(":org_slug", slug))


async def _page(
    call: Call,
    token: str,
    proof: str,
    found: Answerable,
    *,
    form: AcceptanceForm | None = None,
    refusal: Refusal | None = None,
) -> Response:
    problems = problems_of(refusal)
    other = call.browser.email if call.browser is not None and call.browser.email != found.email else ""
    return form_page(
        call,
        "invitations/invitations.html",
        status=refusal.code.status if refusal is not None else 200,
        token=token,
        proof=proof,
        presented=found.details,
        join_by=found.join_by.value,
        connection=found.connection,
        signed_in_as=other,
        name=form.name if form is not None else found.details.invitation.name or "",
        problems=problems,
        problem=message_on_page(refusal) if refusal is not None and not problems else "",
        brand=await brand_of(call, found.details.invitation.organization_id),
        here=returns.link_page(ACCEPT, token=token, proof=proof),
    )


async def joined_page(call: Call, joined: Joined) -> Page:
    """Return the page that tells a new member what to do next."""
    return await message_page(
        call,
        joined.organization_id,
        translated(call, "You are a member of %(name)s", name=joined.organization_name),
        translated(call, _NEXT_STEPS[joined.next_step], email=joined.email),
        leads_to_sign_in=True,
    )


async def message_page(
    call: Call, organization_id: UUID, heading: str, text: str, *, leads_to_sign_in: bool = False
) -> Page:
    """Return a page with a message, under the brand of the organization that it is about."""
    next_step = (marked("Sign in"), SIGN_IN) if leads_to_sign_in else (marked("Go to the start page"), _OWN_PAGES)
    brand = await brand_of(call, organization_id)
    return page(
        call, "frame/message.html", heading=heading, text=text, back=None, next=next_step, request_id=None, brand=brand
    )

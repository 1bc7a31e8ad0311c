"""The page of one's own organizations and of the invitations to others: accepting, declining, leaving."""

from typing import Final

from core.errors import BadRequest, Forbidden, NotFound, OrganizationNotActive, Refusal
from core.invitations import answers
from core.invitations.acceptance import CANNOT_JOIN, InvitationAnswered
from core.invitations.answers import InvitationUnknown
from core.organizations import management, members
from core.rate_limits import RateLimit
from entrypoints.pages.account_pages import ACCOUNT, DoneQuery, account_page, address_after, after
from entrypoints.pages.declaring import account_pages, shows_again
from entrypoints.pages.rendering import Page, PageOrRedirect
from entrypoints.web.serving.browsers import ProtectedForm
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_browser

routes = account_pages()

ORGANIZATIONS: Final = f"{ACCOUNT}/organizations"


class ReceivedForm(ProtectedForm, kw_only=True):
    """The invitation that a button answers."""

    token: str = ""


class MembershipForm(ProtectedForm, kw_only=True):
    """The organization that a button leaves."""

    org_slug: str = ""


async def _page(call: Call, *, done: str = "", refusal: Refusal | None = None) -> Page:
    return account_page(
        call,
        "account_organizations.html",
        done=done,
        refusal=refusal,
        organizations=await call.read(management.list_mine),
        invitations=await call.read(answers.list_mine),
    )


@routes.get(ORGANIZATIONS)
@in_browser
async def show_organizations(call: Call, query: DoneQuery) -> Page:
    """Show your organizations, and the invitations that wait for your answer."""
    return await _page(call, done=query.done)


@routes.post(
    f"{ORGANIZATIONS}/accept",
    status=303,
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(InvitationUnknown, *CANNOT_JOIN),
)
@in_browser
async def accept_invitation(call: Call, form: ReceivedForm) -> None:
    """Accept an invitation; programs use `POST /api/invitations/accept`."""
    await call.transact(answers.accept, form.token, None)
    call.headers["Location"] = address_after(ORGANIZATIONS, "joined")


@routes.post(
    f"{ORGANIZATIONS}/decline",
    status=303,
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(InvitationUnknown, InvitationAnswered, OrganizationNotActive),
)
@in_browser
async def decline_invitation(call: Call, form: ReceivedForm) -> None:
    """Decline an invitation; programs use `POST /api/invitations/decline`."""
    await call.transact(answers.decline, form.token, None)
    call.headers["Location"] = address_after(ORGANIZATIONS, "declined")


@routes.post(f"{ORGANIZATIONS}/leave", refuses=(NotFound, Forbidden))
@in_browser
@shows_again(_page, BadRequest)
async def leave_organization(call: Call, form: MembershipForm) -> PageOrRedirect:
    """Leave an organization; programs use `POST /api/organizations/:slug/leave`."""
    await call.transact(members.leave, form.org_slug)
    return after(ORGANIZATIONS, "left")

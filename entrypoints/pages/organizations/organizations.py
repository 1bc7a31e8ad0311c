"""The pages of one's own organizations: finding and creating them, the overview of one, joining and leaving."""

from dataclasses import replace
from typing import Annotated, Final

import msgspec

from core.audit import sign_in_counts
from core.audit.sign_in_counts import SignInAnalytics
from core.audit.sign_in_log import NO_SERVICE
from core.errors import BadRequest, Forbidden, NotFound, OrganizationNotActive, Refusal
from core.invitations import own_invitations
from core.invitations.new_members import CANNOT_JOIN, InvitationAnswered
from core.invitations.own_invitations import InvitationUnknown
from core.organizations import deletion, management, members, overview
from core.organizations.access import Operation
from core.organizations.management import AddressNotVerified, SlugTaken
from core.organizations.organizations import OrganizationStatus
from core.organizations.overview import Overview
from core.organizations.standing import Standing
from core.platform import console
from core.platform import organizations as approvals
from core.rate_limits import RateLimit
from core.text import slug_of_name
from entrypoints.pages.console.account import ACCOUNT, account_page, address_after, after
from entrypoints.pages.console.found_pages import (
    FindQuery,
    FoundPage,
    Group,
    found_pages,
    grouped,
    only_page,
    options_page,
    row_page,
)
from entrypoints.pages.console.frame import CONSOLE, ROWS_SHOWN, Program, console_page, opened, page_of
from entrypoints.pages.console.frame import after as after_in_console
from entrypoints.pages.console.lists import ways
from entrypoints.pages.console.setup_steps import SetupStep, current_of
from entrypoints.pages.console.sign_in_plots import lists_of, plot_values
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import language_of, marked
from entrypoints.pages.frame.refusals import problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import account_pages, shows_again
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_browser, in_browser_in_person, in_console
from entrypoints.web.serving.answering.answers import see_other
from entrypoints.web.serving.calls import Call

routes = account_pages()

ORGANIZATIONS: Final = f"{ACCOUNT}/organizations"
SEARCH: Final = f"{ACCOUNT}/search"
# How many organizations a search of the account shows.
_FOUND_MAX: Final = 10
# The kinds of applications that a service is most often made for (`services/connecting.py`).
_KINDS: Final = (("web", marked("Web application")), ("spa", marked("Single-page application")))


class ReceivedForm(ProtectedForm, kw_only=True):
    """The invitation that a button answers."""

    token: str = ""


class MembershipForm(ProtectedForm, kw_only=True):
    """The organization that a button leaves."""

    org_slug: str = ""


@routes.get(ORGANIZATIONS)
@in_browser
async def show_organizations(call: Call, *, query: DoneQuery | None = None, refusal: Refusal | None = None) -> Page:
    """Show your organizations, and the invitations that wait for your answer."""
    return account_page(
        call,
        "organizations/organizations_own.html",
        done=query.done if query is not None else "",
        refusal=refusal,
        organizations=await call.read(management.list_mine),
        # What they carry could be used without a trace of who acts.
        invitations=await call.read(own_invitations.list_mine) if call.acts_for is None else [],
    )


@routes.post(
    f"{ORGANIZATIONS}/accept",
    status=303,
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(InvitationUnknown, *CANNOT_JOIN),
)
@in_browser_in_person
async def accept_invitation(call: Call, form: ReceivedForm) -> None:
    """Accept an invitation; programs use `POST /api/invitations/accept`."""
    await call.transact(own_invitations.accept, form.token, None)
    call.headers["Location"] = address_after(ORGANIZATIONS, "joined")


@routes.post(
    f"{ORGANIZATIONS}/decline",
    status=303,
    limits=(RateLimit.INVITATION_ANSWER,),
    refuses=(InvitationUnknown, InvitationAnswered, OrganizationNotActive),
)
@in_browser_in_person
async def decline_invitation(call: Call, form: ReceivedForm) -> None:
    """Decline an invitation; programs use `POST /api/invitations/decline`."""
    await call.transact(own_invitations.decline, form.token, None)
    call.headers["Location"] = address_after(ORGANIZATIONS, "declined")


@routes.post(f"{ORGANIZATIONS}/leave", refuses=(NotFound, Forbidden))
@in_browser
@shows_again(show_organizations, BadRequest)
async def leave_organization(call: Call, form: MembershipForm) -> PageOrRedirect:
    """Leave an organization; programs use `POST /api/organizations/:slug/leave`."""
    await call.transact(members.leave, form.org_slug)
    return after(ORGANIZATIONS, "left")


@routes.get(SEARCH)
@in_browser
async def find_in_account(call: Call, query: FindQuery) -> PageOrRedirect:
    """Find a part of your account or an organization of yours by its name, and lead to the only hit."""
    groups = await _found(call, query.searched)
    only = only_page(groups)
    if only is not None:
        return see_other(only)
    return account_page(call, "organizations/organizations_search.html", searched=query.searched, groups=groups)


@routes.get(f"{SEARCH}/options")
@in_browser
async def show_options_in_account(call: Call, query: FindQuery) -> Page:
    """Return what a text finds in your account while it is typed, as the options of the palette."""
    return options_page(call, query, await _found(call, query.searched), SEARCH)


async def _found(call: Call, text: str) -> list[Group]:
    found: list[FoundPage] = []
    if text:
        mine = await call.read(management.search_mine, search=text, after="", limit=_FOUND_MAX)
        organizations = [membership.organization for membership in mine.found]
        found = [
            row_page(text, page_of(one.slug), one.name, one.slug, one.slug, icon="organizations")
            for one in organizations
        ]
    pages = found_pages(call, text, root=ACCOUNT, groups=(), actions=())
    return grouped(pages, [(marked("Organizations"), found)])


class OwnOrganizationsQuery(DoneQuery, kw_only=True):
    """Which of one's organizations to show, and what was just done."""

    search: Annotated[str, msgspec.Meta(description="A part of the name or of the slug.", max_length=100)] = ""
    after: Annotated[str, msgspec.Meta(description="The slug after which the page begins.")] = ""


class NewOrganizationForm(ProtectedForm, kw_only=True):
    """The organization to create, and whether it is approved at once: a box for people who may approve."""

    name: str = ""
    slug: str = ""
    approve: str = ""


@routes.get(CONSOLE)
@in_browser
async def show_my_organizations(
    call: Call,
    *,
    query: OwnOrganizationsQuery | None = None,
    form: NewOrganizationForm | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the organizations that you are a member of, by a part of their name or slug."""
    query = query or OwnOrganizationsQuery()
    mine = await call.read(management.search_mine, search=query.search, after=query.after, limit=ROWS_SHOWN)
    following = None if mine.is_last else mine.found[-1].organization.slug
    deleted = await call.read(deletion.list_mine)
    # A refused field has its problem beside it, and needs no notice.
    return console_page(
        call,
        "organizations/organizations.html",
        None,
        program=Program("organizations_list_organizations"),
        done=query.done,
        refusal=refusal,
        mine=mine,
        deleted=deleted,
        opens_platform=await call.read(console.is_open),
        decides=await call.read(console.decides),
        query=query,
        **ways(CONSOLE, {"search": query.search}, after=query.after, following=following),
        form=form or NewOrganizationForm(),
        problems={"name": "", "slug": refusal.message} if isinstance(refusal, SlugTaken) else problems_of(refusal),
    )


@routes.post(CONSOLE, refuses=(SlugTaken, AddressNotVerified))
@in_browser
@shows_again(show_my_organizations, BadRequest, SlugTaken, AddressNotVerified)
async def create_my_organization(call: Call, form: NewOrganizationForm) -> PageOrRedirect:
    """Create an organization; programs use `POST /api/organizations`."""
    is_welcome = call.installation.settings.auto_approve
    created = await call.transact(
        management.create, form.slug.strip() or slug_of_name(form.name), form.name, is_welcome=is_welcome
    )
    if form.approve and not is_welcome and await call.read(console.decides):
        await call.transact(
            approvals.approve, created.organization.id, tier_id=None, seen_status=OrganizationStatus.PENDING.value
        )
    return after_in_console(page_of(created.organization.slug), "created")


@routes.get(f"{CONSOLE}/:org_slug")
@in_console(Operation.ORGANIZATION_READ)
async def show_overview(call: Call, org_slug: str, query: DoneQuery) -> Page:
    """Show what is set up in an organization, what needs attention, and its sign-ins of 30 days."""
    standing, found = await opened(
        call, org_slug, Operation.ORGANIZATION_READ, overview.show, sign_in_counts.of_organization
    )
    shown = None
    if found.sign_ins is not None:
        shown = plot_values(language_of(call), found.sign_ins, lists_of(standing))
    steps = _steps_of(standing, found)
    return console_page(
        call,
        "organizations/organizations_overview.html",
        standing,
        program=Program("organizations_read_organization", org_slug),
        done=query.done,
        is_development=call.installation.settings.dev,
        found=found,
        shown=shown,
        steps=steps,
        current_step=current_of(steps),
        # What needs a person comes first after the first sign-in to a service.
        is_new=found.is_new and not _has_sign_in(found),
        decides=standing.organization.status is OrganizationStatus.PENDING and await call.read(console.decides),
    )


def _has_sign_in(found: Overview[SignInAnalytics]) -> bool:
    """Return whether a user has signed in to a service, as far as the reader may know."""
    return found.sign_ins is not None and any(
        one.succeeded and one.service_id != NO_SERVICE for one in found.sign_ins.figures.services
    )


def _steps_of(standing: Standing, found: Overview[SignInAnalytics]) -> list[SetupStep]:
    """Return what an organization has to set up, as far as the reader may; none for a reader who sets up nothing."""
    done, page = found.steps, page_of(standing.organization.slug)
    if done is None:
        return []

    def step(is_done: bool, title: str, text: str, action: str, address: str, closed_by: Operation) -> SetupStep:  # noqa: FBT001 - the first of a table
        opens = not is_done and not standing.lacks(closed_by)
        return SetupStep(
            title=title, text="" if is_done else text, is_done=is_done, action=action, address=address if opens else ""
        )

    services = f"{page}/services"
    kinds = tuple((name, f"{services}/new?kind={word}") for word, name in _KINDS)
    return [
        replace(
            step(
                done.has_service,
                marked("Add a service"),
                marked("An application that your users sign in to."),
                marked("Create a service"),
                f"{services}/new",
                Operation.SERVICE_CREATE,
            ),
            choices=kinds,
        ),
        step(
            _has_sign_in(found),
            marked("See a first sign-in"),
            marked("A service has programs to copy, and “Try it”, which shows what is in the tokens."),
            marked("Services"),
            services if done.has_service else "",
            Operation.SERVICES_LIST,
        ),
        step(
            done.has_colleague,
            marked("Invite a colleague"),
            marked("So that one person on holiday does not stop you."),
            marked("People"),
            f"{page}/people",
            Operation.ORGANIZATION_READ,
        ),
        step(
            done.has_provider,
            marked("Connect your identity provider"),
            marked("Your people sign in with the account that they have at work."),
            marked("Connect"),
            f"{page}/sign-in/connections/new",
            Operation.CONNECTION_CONFIGURE,
        ),
        step(
            done.has_domain,
            marked("Use your own domain"),
            marked("The pages of the sign-in are at an address of yours."),
            marked("Own domain"),
            f"{page}/domain",
            Operation.DOMAIN_READ,
        ),
        step(
            done.has_webhook,
            marked("Receive events"),
            marked("A webhook tells your systems what happens here."),
            marked("Webhooks"),
            f"{page}/webhooks",
            Operation.ORGANIZATION_READ,
        ),
        step(
            done.has_second_factor,
            marked("Protect your own account"),
            marked("With a second factor or a passkey, a stolen password opens nothing."),
            marked("Second factor"),
            f"{ACCOUNT}/second-factor",
            Operation.ORGANIZATION_READ,
        ),
    ]

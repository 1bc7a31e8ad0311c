"""The page of the invitations of an organization: finding them, inviting many at once, sending again, withdrawing."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
import trio

from core.errors import BadRequest, Forbidden, NotFound, RateLimitExceeded, Refusal
from core.invitations import bulk_invitations, found_invitations, included, invitations, own_invitations
from core.invitations.bulk_invitations import TypedList
from core.invitations.found_invitations import InvitationNotWaiting, ListedInvitation
from core.invitations.invitations import InvitationStatus
from core.invitations.new_members import CANNOT_JOIN
from core.limits import LARGE_BODY_BYTES_MAX
from core.organizations import bulk_jobs, roles
from core.organizations.access import Capability, Operation
from core.organizations.bulk_jobs import ROWS_MAX, JobKind, TooManyJobs, too_many_rows
from core.organizations.organizations import MEMBER, OWNER
from core.text import MESSAGE_CHARACTERS_MAX
from entrypoints.pages.console.frame import (
    ConsoleListQuery,
    Program,
    after,
    console_page,
    opened,
    page_of,
)
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.console.person_records import people_tabs
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.refusals import problem_of, problems_of
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.organizations.bulk_jobs import page_of_jobs
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

INVITED: Final = "/app/organizations/:org_slug/people/invited"
# How many addresses are invited while the page waits, each with a result of its own; more become a job.
LINES_MAX: Final = 100
# How many repeated addresses, and texts without an address, a page names; the others are counted.
NAMED_MAX: Final = 50
# Reading a long list takes some milliseconds.
_THREADS: Final = trio.CapacityLimiter(1)
STATUSES: Final = {
    InvitationStatus.PENDING: ("info", marked("Waiting")),
    InvitationStatus.ACCEPTED: ("good", marked("Accepted")),
    InvitationStatus.REJECTED: ("warning", marked("Declined")),
    InvitationStatus.CANCELLED: ("warning", marked("Withdrawn")),
    InvitationStatus.EXPIRED: ("warning", marked("Expired")),
}


class InvitedQuery(ConsoleListQuery, kw_only=True):
    """Which invitations to show."""

    status: Annotated[str, msgspec.Meta(description="Only invitations with this status.", max_length=50)] = ""

    @property
    def filters(self) -> Mapping[str, Any]:
        """The filters, as the use case takes them by name; what is no status filters nothing."""
        status = InvitationStatus(self.status) if self.status in set(InvitationStatus) else None
        return {"search": self.search, "status": status}


FOUND: Final = ConsoleList[ListedInvitation](path=INVITED, found=found_invitations.found)


class InvitationsForm(ProtectedForm, kw_only=True):
    """The people to invite, their role, and what each invitation includes."""

    emails: str = ""
    role: str = MEMBER
    services: Annotated[list[str], msgspec.Meta(description="The slugs of services.")] = msgspec.field(
        default_factory=list[str]
    )
    message: str = ""


@routes.get(INVITED)
@in_console(Operation.INVITATIONS_LIST)
async def show_invited(
    call: Call,
    org_slug: str,
    *,
    query: InvitedQuery | None = None,
    form: InvitationsForm | None = None,
    results: list[tuple[str, str]] | None = None,
    typed: TypedList | None = None,
    refusal: Refusal | None = None,
) -> Page:
    """Show the invitations of an organization, by a part of their address and by status."""
    query = query or InvitedQuery()
    standing, found = await FOUND.opened(call, Operation.INVITATIONS_LIST, org_slug, query=query)
    lacks_roles = standing.lacks_lasting(Operation.INVITATIONS_CHANGE)
    offered = [(role.slug, role.slug) for role in await call.read(roles.list_all, org_slug) if role.slug != OWNER]
    services = await call.read(included.offered, org_slug)
    may_give_services = Capability.END_USERS_MANAGE in standing.capabilities
    return console_page(
        call,
        "invitations/found_invitations.html",
        standing,
        program=Program("invitations_list_invitations", org_slug, query={"status": query.status}),
        besides=[
            Program("invitations_invite", org_slug, body={"email": "ann@example.com", "role": MEMBER}),
            Program("invitations_revoke", org_slug, "$ID"),
        ],
        done=query.done,
        refusal=refusal,
        **FOUND.values(query, found, org_slug),
        form=form or InvitationsForm(),
        results=results or [],
        repeated=_shown(typed.repeated) if typed else [],
        names=_shown(typed.names) if typed else [],
        statuses=STATUSES,
        choices=[("", marked("Every status")), *((status.value, text) for status, (_, text) in STATUSES.items())],
        # A role above member needs another capability; the roles themselves decide which of them.
        roles=offered
        if Capability.ORG_ROLES_MANAGE in standing.capabilities and lacks_roles is None
        else [(MEMBER, MEMBER)],
        lacks_roles=lacks_roles,
        problems=problems_of(refusal),
        offered=[(slug, name, slug, None) for slug, name in services.items()],
        has_more=len(services) == included.OFFERED_MAX,
        services_max=included.SERVICES_MAX,
        message_max=MESSAGE_CHARACTERS_MAX,
        lacks_services=None if may_give_services else Capability.END_USERS_MANAGE,
        tabs=people_tabs(standing),
    )


@routes.post(INVITED, body_bytes_max=LARGE_BODY_BYTES_MAX, refuses=(BadRequest, TooManyJobs))
@in_console(Operation.INVITATIONS_CHANGE)
@shows_again(show_invited, BadRequest, TooManyJobs)
async def invite_many(call: Call, org_slug: str, form: InvitationsForm) -> PageOrRedirect:
    """Invite people, in any form of list; programs use `POST /api/organizations/:org_slug/invitations` for each."""
    # Each address is a transaction of its own: a refusal concerns that address alone.
    services, message = form.services, form.message
    await call.read(invitations.require_may_invite, org_slug, form.role, services=services, message=message)
    # Repeated lines count here, so that the list that is read is bounded.
    if form.emails.count("\n") > ROWS_MAX:
        raise too_many_rows()
    typed = await trio.to_thread.run_sync(bulk_invitations.read, form.emails, limiter=_THREADS)
    wanted = [*typed.lines, *typed.addresses]
    if not wanted:
        raise BadRequest.of_field("emails", "Enter at least one address.")
    if len(wanted) > LINES_MAX:
        rows = bulk_invitations.rows_of(typed)
        details = bulk_invitations.details_of(form.role, services, message)
        job_id = await call.transact(bulk_jobs.begin, org_slug, JobKind.INVITATIONS_SEND, rows, details)
        return after(f"{page_of_jobs(org_slug)}/{job_id}", "job-begun")
    results = [(one, await _invite(call, org_slug, one, form, typed.called.get(one))) for one in wanted]
    refused = [bulk_invitations.written(one, typed.called.get(one)) for one, problem in results if problem]
    if not refused and not typed.repeated and not typed.names:
        return after(f"{page_of(org_slug)}/people/invited", "invited")
    # What was refused is kept, to be corrected and sent again.
    kept = InvitationsForm(emails="\n".join(refused), role=form.role, services=services, message=message)
    return await show_invited(call, org_slug, form=kept, results=results, typed=typed)


@routes.post(f"{INVITED}/:invitation_id/send-again", refuses=(InvitationNotWaiting, BadRequest, RateLimitExceeded))
@in_console(Operation.INVITATIONS_CHANGE)
@shows_again(show_invited, NotFound, BadRequest, RateLimitExceeded)
async def send_again(call: Call, org_slug: str, invitation_id: UUID) -> PageOrRedirect:
    """Replace an invitation by a new one with a new link."""
    await call.transact(found_invitations.send_again, org_slug, invitation_id)
    return after(f"{page_of(org_slug)}/people/invited", "sent-again")


@routes.post(f"{INVITED}/:invitation_id/withdraw", refuses=(NotFound,))
@in_console(Operation.INVITATIONS_CHANGE)
@shows_again(show_invited, NotFound)
async def withdraw(call: Call, org_slug: str, invitation_id: UUID) -> PageOrRedirect:
    """Withdraw an invitation; programs use `POST /api/organizations/:org_slug/invitations/:invitation_id`."""
    await call.transact(invitations.revoke, org_slug, invitation_id)
    return after(f"{page_of(org_slug)}/people/invited", "withdrawn")


@routes.get(f"{INVITED}/:invitation_id/accept", refuses=(InvitationNotWaiting,))
@in_console(Operation.INVITATIONS_CHANGE)
async def ask_to_add_invited_person(
    call: Call, org_slug: str, invitation_id: UUID, *, refusal: Refusal | None = None
) -> Page:
    """Show what it means to add the invited person at once."""
    standing, invitation = await opened(
        call, org_slug, Operation.INVITATIONS_CHANGE, found_invitations.show_waiting, invitation_id
    )
    return console_page(
        call,
        "invitations/found_invitations_acceptance.html",
        standing,
        program=Program("invitations_accept_on_behalf", org_slug, invitation_id),
        refusal=refusal,
        email=invitation.email,
        role=invitation.role,
        services=invitation.services,
        page=f"{page_of(org_slug)}/people/invited",
        form_page=f"{page_of(org_slug)}/people/invited/{invitation_id}/accept",
    )


@routes.post(f"{INVITED}/:invitation_id/accept", refuses=(NotFound, RateLimitExceeded, *CANNOT_JOIN))
@in_console(Operation.INVITATIONS_CHANGE)
@shows_again(ask_to_add_invited_person, Forbidden, RateLimitExceeded, *CANNOT_JOIN)
async def add_invited_person(call: Call, org_slug: str, invitation_id: UUID) -> PageOrRedirect:
    """Make the invited person a member at once; programs use `POST …/invitations/:invitation_id/accept`."""
    await call.transact(own_invitations.accept_on_behalf, org_slug, invitation_id)
    return after(f"{page_of(org_slug)}/people/invited", "accepted-on-behalf")


def _shown(texts: Sequence[str]) -> list[str]:
    """Return the first of the texts, and a text that counts the others."""
    return [*texts[:NAMED_MAX], *([f"+ {len(texts) - NAMED_MAX}"] if len(texts) > NAMED_MAX else [])]


async def _invite(call: Call, slug: str, email: str, form: InvitationsForm, name: str | None) -> str:
    """Invite a person; return what was refused, in English, or nothing."""
    try:
        await call.transact(
            *(invitations.invite, slug, email, form.role),
            services=form.services,
            message=form.message,
            name=name,
        )
    except (BadRequest, Forbidden, RateLimitExceeded) as refusal:
        return problem_of(refusal)
    return ""

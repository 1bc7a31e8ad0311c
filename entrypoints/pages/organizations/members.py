"""The pages that change the roles of several members at once, or remove them: each by itself, with a result.

The list of members and the page of one are in `found_members.py`.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.errors import BadRequest, Refusal
from core.organizations import found_members, members, roles
from core.organizations.access import Operation
from core.organizations.bulk_jobs import ROWS_MAX, JobKind, ListChanged, TooManyJobs
from core.organizations.organizations import OWNER
from entrypoints.pages.console.frame import Program, after, console_page, opened, page_of, with_query
from entrypoints.pages.console.lists import CHOSEN_MAX, attempted, each_once
from entrypoints.pages.frame.languages import marked, translated
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, shows_again
from entrypoints.pages.organizations.bulk_jobs import page_of_jobs
from entrypoints.web.input.decoding import Query, number_of
from entrypoints.web.serving.admission.browsers import ProtectedForm
from entrypoints.web.serving.admission.credentials import in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

SELECTED: Final = "/app/organizations/:org_slug/people/selected"


class SelectedQuery(Query, kw_only=True):
    """The members that were chosen, by their ids, or the first that a search finds."""

    members: Annotated[list[UUID], msgspec.Meta(description="The ids of the chosen members.")] = msgspec.field(
        default_factory=list[UUID]
    )
    found: Annotated[str, msgspec.Meta(description="Any text: choose what the search finds, at most 100.")] = ""
    search: Annotated[str, msgspec.Meta(description="A part of the address.", max_length=254)] = ""
    role: Annotated[str, msgspec.Meta(description="Only members with this role, by its slug.", max_length=50)] = ""


class SelectedForm(ProtectedForm, kw_only=True):
    """The chosen members, each with the role that the page has shown, and what is to be done."""

    rows: Annotated[
        list[str], msgspec.Meta(description="For each member the id, a blank, and the role that the page has shown.")
    ] = msgspec.field(default_factory=list[str])
    role: str = ""
    note: str = ""
    all: Annotated[str, msgspec.Meta(description="Any text: all that the search finds, as a job.")] = ""
    search: Annotated[str, msgspec.Meta(description="What was searched for.", max_length=254)] = ""
    of_role: Annotated[str, msgspec.Meta(description="Of which role the members were searched.", max_length=50)] = ""
    seen_total: str = ""

    def chosen(self) -> dict[UUID, str]:
        """Return the ids with the roles that were shown; raise `BadRequest` for none, too many and damaged ones."""
        rows = each_once(
            self.rows,
            "rows",
            none=marked("Choose at least one member."),
            too_many=marked("Choose at most 100 members at once."),
        )
        try:
            return {UUID(user_id): role for user_id, _, role in (row.partition(" ") for row in rows)}
        except ValueError:
            raise BadRequest.of_field(
                "rows", "This form is damaged. Load the list again, and choose once more."
            ) from None


async def _page(
    call: Call,
    org_slug: str,
    *,
    operation: Operation,
    query: SelectedQuery | None = None,
    form: SelectedForm | None = None,
    results: Sequence[tuple[str, str]] = (),
    refusal: Refusal | None = None,
) -> Page:
    is_removal = operation is Operation.MEMBER_REMOVE
    if query is None and form is not None and form.all:
        query = SelectedQuery(found="all", search=form.search, role=form.of_role)
    query = query or SelectedQuery(members=_ids(form) if form is not None else [])
    standing, selection = await opened(
        call,
        org_slug,
        operation,
        found_members.select,
        operation,
        query.members[:CHOSEN_MAX],
        search=query.search if query.found else None,
        role=query.role,
        limit=CHOSEN_MAX,
    )
    page = f"{page_of(org_slug)}/people"
    assigned = [(role.slug, role.slug) for role in await call.read(roles.list_all, org_slug) if role.slug != OWNER]
    return console_page(
        call,
        "organizations/members.html",
        standing,
        program=Program("members_remove_member", org_slug, "$ID")
        if is_removal
        else Program("members_change_member", org_slug, "$ID", body={"role": "member"}),
        refusal=refusal,
        is_removal=is_removal,
        selection=selection,
        form=form or SelectedForm(),
        query=query,
        job_rows_max=ROWS_MAX,
        results=results,
        roles=assigned,
        page=page,
        action=f"{page}/selected/{'remove' if is_removal else 'change'}",
        found=with_query(page, search=query.search, role=query.role) if query.found else "",
    )


def _ids(form: SelectedForm) -> list[UUID]:
    """Return the members of a form that was refused; a damaged one has none."""
    try:
        return [*form.chosen()]
    except BadRequest:
        return []


_to_change: Final = partial(_page, operation=Operation.MEMBER_CHANGE)
_to_remove: Final = partial(_page, operation=Operation.MEMBER_REMOVE)


@routes.get(f"{SELECTED}/change")
@in_console(Operation.MEMBER_CHANGE)
async def ask_for_role_of_many(call: Call, org_slug: str, query: SelectedQuery) -> Page:
    """Show the chosen members, and ask for their new role."""
    return await _to_change(call, org_slug, query=query)


@routes.post(f"{SELECTED}/change", refuses=(BadRequest, ListChanged, TooManyJobs))
@in_console(Operation.MEMBER_CHANGE)
@shows_again(_to_change, BadRequest, ListChanged, TooManyJobs)
async def change_roles(call: Call, org_slug: str, form: SelectedForm) -> PageOrRedirect:
    """Change the roles of several members; programs use `PATCH /api/organizations/:slug/members/:user_id` for each."""
    if form.all:
        return await _begin_job(call, org_slug, JobKind.MEMBERS_CHANGE, form, {"role": form.role})

    async def change(user_id: UUID, seen_role: str) -> Any:
        await call.transact(members.change_role, org_slug, user_id, form.role, seen_role=seen_role)

    return await _each(call, org_slug, Operation.MEMBER_CHANGE, form, change)


@routes.get(f"{SELECTED}/remove")
@in_console(Operation.MEMBER_REMOVE)
async def ask_to_remove_many(call: Call, org_slug: str, query: SelectedQuery) -> Page:
    """Show what ends when the chosen members are removed, in numbers."""
    return await _to_remove(call, org_slug, query=query)


@routes.post(f"{SELECTED}/remove", refuses=(BadRequest, ListChanged, TooManyJobs))
@in_console(Operation.MEMBER_REMOVE)
@shows_again(_to_remove, BadRequest, ListChanged, TooManyJobs)
async def remove_many(call: Call, org_slug: str, form: SelectedForm) -> PageOrRedirect:
    """Remove several members; programs use `POST /api/organizations/:slug/members/:user_id` for each."""
    if form.all:
        return await _begin_job(call, org_slug, JobKind.MEMBERS_REMOVE, form, {"note": form.note})

    async def remove(user_id: UUID, seen_role: str) -> Any:
        await call.transact(members.remove, org_slug, user_id, seen_role=seen_role, note=form.note)

    return await _each(call, org_slug, Operation.MEMBER_REMOVE, form, remove)


async def _begin_job(
    call: Call, org_slug: str, kind: JobKind, form: SelectedForm, details: dict[str, str]
) -> PageOrRedirect:
    """Begin a job for all that the search finds, and lead to its page."""
    job_id = await call.transact(
        found_members.begin_job,
        org_slug,
        kind,
        search=form.search,
        role=form.of_role,
        seen_total=number_of(form.seen_total),
        details=details,
    )
    return after(f"{page_of_jobs(org_slug)}/{job_id}", "job-begun")


async def _each(
    call: Call,
    org_slug: str,
    operation: Operation,
    form: SelectedForm,
    change: Callable[[UUID, str], Awaitable[Any]],
) -> Page:
    """Change one member after the other; show the outcome for each, and the refused ones to choose again."""
    chosen = form.chosen()
    # Their addresses and names, which are gone from the organization after a removal.
    before = await call.read(
        found_members.select, org_slug, operation, [*chosen], search=None, role="", limit=CHOSEN_MAX
    )
    people_by_id = {one.user_id: f"{one.email} ({one.name})" if one.name else one.email for one in before.members}
    results: list[tuple[str, str]] = []
    refused: list[UUID] = []
    for user_id, seen_role in chosen.items():
        _, problem = await attempted(change(user_id, seen_role))
        results.append((people_by_id.get(user_id) or translated(call, "A person who is no member here"), problem))
        if problem:
            refused.append(user_id)
    # What was refused stays chosen, with the role that it has now.
    return await _page(
        call, org_slug, operation=operation, query=SelectedQuery(members=refused), form=form, results=results
    )

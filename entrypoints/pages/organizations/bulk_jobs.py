"""The pages of the jobs of an organization and of the platform: the list, one with each row, and stopping one."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec

from core.errors import Refusal
from core.organizations import bulk_jobs
from core.organizations.access import Operation
from core.organizations.bulk_jobs import (
    ROWS_MAX,
    Job,
    JobKind,
    JobOver,
    JobRow,
    JobState,
    JobUnknown,
    RowState,
    ShownJob,
)
from entrypoints.pages.console.csv_files import ROWS_AT_ONCE, CsvFile, csv_file
from entrypoints.pages.console.frame import (
    PLATFORM,
    ROWS_SHOWN,
    PagedQuery,
    Program,
    after,
    console_page,
    opened,
    opened_for_platform,
    page_of,
    with_query,
)
from entrypoints.pages.console.lists import ConsoleList, ways
from entrypoints.pages.frame.forms import DoneQuery
from entrypoints.pages.frame.languages import marked
from entrypoints.pages.frame.rendering import Page, PageOrRedirect
from entrypoints.pages.frame.routes import console_pages, platform_pages, shows_again
from entrypoints.web.input.decoding import number_of
from entrypoints.web.serving.admission.credentials import in_console, platform_owner_in_console
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.routes import Routes

# How often the page of an unfinished job reloads itself.
AGAIN_SECONDS: Final = 3
JOB_ROWS_SHOWN: Final = 50
KINDS: Final = {
    JobKind.MEMBERS_CHANGE: marked("Change the roles of members"),
    JobKind.MEMBERS_REMOVE: marked("Remove members"),
    JobKind.INVITATIONS_SEND: marked("Invite people"),
    JobKind.ORGANIZATIONS_APPROVE: marked("Approve organizations"),
    JobKind.ORGANIZATIONS_REJECT: marked("Reject organizations"),
}
STATES: Final = {
    JobState.RUNNING: ("info", marked("Running")),
    JobState.FINISHED: ("good", marked("Finished")),
    JobState.STOPPED: ("warning", marked("Stopped")),
    JobState.ENDED: ("bad", marked("Ended early")),
}
ROW_STATES: Final = {
    RowState.WAITING: ("info", marked("Waiting")),
    RowState.DONE: ("good", marked("Done")),
    RowState.REFUSED: ("bad", marked("Refused")),
}
_COLUMNS: Final = ("number", "row", "name", "state", "problem")


class JobQuery(DoneQuery, kw_only=True):
    """Which rows of a job to show."""

    state: Annotated[str, msgspec.Meta(description="Only rows in this state.", max_length=50)] = ""
    after: Annotated[str, msgspec.Meta(description="The number of a row: only those behind it.", max_length=10)] = ""

    @property
    def wanted(self) -> RowState | None:
        """The state; None for every state, also for an unknown word."""
        return RowState(self.state) if self.state in set(RowState) else None

    @property
    def number(self) -> int:
        """The number after which the rows begin; 0 where it is damaged."""
        return min(number_of(self.after), ROWS_MAX)

    @property
    def rows(self) -> dict[str, Any]:
        """The wanted rows, as the use case takes them by name."""
        return {"state": self.wanted, "after": self.number, "limit": JOB_ROWS_SHOWN}


def job_values(page: str, query: JobQuery, shown: ShownJob) -> dict[str, Any]:
    """Return the values of the template of a job; `again` is where it loads itself again, empty when it has ended."""
    return {
        "done": query.done,
        "job": shown.job,
        "rows": shown.listed,
        "query": query,
        "kinds": KINDS,
        "states": STATES,
        "row_states": ROW_STATES,
        "again": with_query(page, state=query.state, after=query.after) if shown.job.is_running else "",
        "again_seconds": AGAIN_SECONDS,
        "page": page,
        "file": with_query(f"{page}/rows.csv", state=query.state),
        **ways(page, {"state": query.state}, after=query.number, following=shown.next),
    }


async def rows_file(call: Call, org_slug: str | None, job_id: UUID, state: RowState | None) -> CsvFile:
    """Return the response that streams the rows of a job of an organization, or of the platform (None)."""

    async def read(number: int) -> ShownJob:
        return await call.read(bulk_jobs.show, org_slug, job_id, state=state, after=number, limit=ROWS_AT_ONCE)

    first = await read(0)

    async def parts() -> AsyncGenerator[Iterable[Sequence[Any]]]:
        shown = first
        yield [_row(one) for one in shown.listed]
        while shown.next is not None:
            shown = await read(shown.next)
            yield [_row(one) for one in shown.listed]

    return csv_file(f"job-{job_id}", _COLUMNS, parts())


def _row(one: JobRow) -> Sequence[Any]:
    return (one.number, one.label, one.name, one.state.value, one.problem)


routes: Routes = console_pages()

JOBS: Final = "/app/organizations/:org_slug/jobs"
JOB: Final = f"{JOBS}/:job_id"

FOUND: Final = ConsoleList[Job](path=JOBS, found=bulk_jobs.found)


@routes.get(JOBS)
@in_console(Operation.JOBS_READ)
async def show_jobs(call: Call, org_slug: str, query: PagedQuery) -> Page:
    """Show the jobs of an organization that the reader could have begun, newest first."""
    standing, found = await FOUND.opened(call, Operation.JOBS_READ, org_slug, query=query)
    return console_page(
        call,
        "organizations/bulk_jobs.html",
        standing,
        program=Program("members_list_members", org_slug),
        **FOUND.values(query, found, org_slug),
        kinds=KINDS,
        states=STATES,
    )


@routes.get(JOB, refuses=(JobUnknown,))
@in_console(Operation.JOBS_READ)
async def show_job(
    call: Call, org_slug: str, job_id: UUID, *, query: JobQuery | None = None, refusal: Refusal | None = None
) -> Page:
    """Show a job: its progress, and the outcome of each row."""
    query = query or JobQuery()
    standing, shown = await opened(call, org_slug, Operation.JOBS_READ, bulk_jobs.show, job_id, **query.rows)
    return console_page(
        call,
        "organizations/bulk_jobs_one.html",
        standing,
        program=Program("members_list_members", org_slug),
        refusal=refusal,
        **job_values(f"{page_of_jobs(org_slug)}/{job_id}", query, shown),
    )


@routes.get(f"{JOB}/rows.csv", refuses=(JobUnknown,))
@in_console(Operation.JOBS_READ)
async def download_rows(call: Call, org_slug: str, job_id: UUID, query: JobQuery) -> CsvFile:
    """Download the outcome of each row of a job, for a spreadsheet."""
    return await rows_file(call, org_slug, job_id, query.wanted)


@routes.post(f"{JOB}/stop", refuses=(JobUnknown, JobOver))
@in_console(Operation.JOBS_READ)
@shows_again(show_job, JobOver)
async def stop_job(call: Call, org_slug: str, job_id: UUID) -> PageOrRedirect:
    """Stop a job; what is done stays done."""
    await call.transact(bulk_jobs.stop, org_slug, job_id)
    return after(f"{page_of_jobs(org_slug)}/{job_id}", "job-stopped")


def page_of_jobs(slug: str) -> str:
    """Return the path of the jobs of an organization."""
    return f"{page_of(slug)}/jobs"


platform_routes: Routes = platform_pages()

PLATFORM_JOBS: Final = f"{PLATFORM}/jobs"
PLATFORM_JOB: Final = f"{PLATFORM_JOBS}/:job_id"
FOUND_ON_PLATFORM: Final = ConsoleList[Job](path=PLATFORM_JOBS)
_PROGRAM: Final = Program("platform_organizations_list_organizations")


@platform_routes.get(PLATFORM_JOBS)
@platform_owner_in_console
async def show_platform_jobs(call: Call, query: PagedQuery) -> Page:
    """Show the jobs of the platform, newest first."""
    standing, found = await opened_for_platform(call, bulk_jobs.of_platform, after=query.position, limit=ROWS_SHOWN)
    return console_page(
        call,
        "organizations/bulk_jobs_platform.html",
        standing,
        program=_PROGRAM,
        **FOUND_ON_PLATFORM.values(query, found),
        kinds=KINDS,
        states=STATES,
    )


@platform_routes.get(PLATFORM_JOB, refuses=(JobUnknown,))
@platform_owner_in_console
async def show_platform_job(
    call: Call, job_id: UUID, *, query: JobQuery | None = None, refusal: Refusal | None = None
) -> Page:
    """Show a job of the platform: its progress, and the outcome of each row."""
    query = query or JobQuery()
    standing, shown = await opened_for_platform(call, bulk_jobs.show, None, job_id, **query.rows)
    return console_page(
        call,
        "organizations/bulk_jobs_platform_one.html",
        standing,
        program=_PROGRAM,
        refusal=refusal,
        **job_values(f"{PLATFORM_JOBS}/{job_id}", query, shown),
    )


@platform_routes.get(f"{PLATFORM_JOB}/rows.csv", refuses=(JobUnknown,))
@platform_owner_in_console
async def download_platform_rows(call: Call, job_id: UUID, query: JobQuery) -> CsvFile:
    """Download the outcome of each row of a job of the platform, for a spreadsheet."""
    return await rows_file(call, None, job_id, query.wanted)


@platform_routes.post(f"{PLATFORM_JOB}/stop", refuses=(JobUnknown, JobOver))
@platform_owner_in_console
@shows_again(show_platform_job, JobOver)
async def stop_platform_job(call: Call, job_id: UUID) -> PageOrRedirect:
    """Stop a job of the platform; what is done stays done."""
    await call.transact(bulk_jobs.stop, None, job_id)
    return after(f"{PLATFORM_JOBS}/{job_id}", "job-stopped")

"""The pages of the jobs of an organization: the list, one with what became of each row, and stopping one."""

from typing import Final
from uuid import UUID

from core.errors import Refusal
from core.organizations import bulk_jobs
from core.organizations.access import Operation
from core.organizations.bulk_jobs import JobOver, JobUnknown, ShownJob
from entrypoints.pages import job_pages
from entrypoints.pages.console_pages import (
    ROWS_SHOWN,
    PagedQuery,
    Program,
    after,
    api,
    console_page,
    opened,
    page_of,
)
from entrypoints.pages.csv_files import CsvFile
from entrypoints.pages.declaring import console_pages, shows_again
from entrypoints.pages.job_pages import JobQuery
from entrypoints.pages.rendering import Page, PageOrRedirect
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import in_console
from entrypoints.web.serving.routes import Routes

routes: Routes = console_pages()

JOBS: Final = "/app/organizations/:org_slug/jobs"
JOB: Final = f"{JOBS}/:job_id"


@routes.get(JOBS)
@in_console(Operation.JOBS_READ)
async def show_jobs(call: Call, org_slug: str, query: PagedQuery) -> Page:
    """Show the jobs of an organization that the reader could have begun, newest first."""
    standing, found = await opened(
        call, org_slug, Operation.JOBS_READ, bulk_jobs.search, after=query.position, limit=ROWS_SHOWN
    )
    page = page_of_jobs(org_slug)
    return console_page(
        call,
        "console_jobs.html",
        standing,
        program=Program(path=f"{api(org_slug)}/members"),
        **job_pages.list_values(page, query, found),
    )


async def _page(
    call: Call, org_slug: str, job_id: UUID, *, query: JobQuery | None = None, refusal: Refusal | None = None
) -> Page:
    query = query or JobQuery()
    standing, shown = await opened(
        call,
        org_slug,
        Operation.JOBS_READ,
        bulk_jobs.show,
        job_id,
        state=query.wanted,
        after=query.number,
        limit=job_pages.ROWS_SHOWN,
    )
    return console_page(
        call,
        "console_job.html",
        standing,
        program=Program(path=f"{api(org_slug)}/members"),
        done=query.done,
        refusal=refusal,
        **job_pages.job_values(f"{page_of_jobs(org_slug)}/{job_id}", query, shown),
    )


@routes.get(JOB, refuses=(JobUnknown,))
@in_console(Operation.JOBS_READ)
async def show_job(call: Call, org_slug: str, job_id: UUID, query: JobQuery) -> Page:
    """Show a job: how far it is, and what became of each row."""
    return await _page(call, org_slug, job_id, query=query)


@routes.get(f"{JOB}/rows.csv", refuses=(JobUnknown,))
@in_console(Operation.JOBS_READ)
async def download_rows(call: Call, org_slug: str, job_id: UUID, query: JobQuery) -> CsvFile:
    """Download what became of each row of a job, for a spreadsheet."""

    async def read(number: int, limit: int) -> ShownJob:
        return await call.read(bulk_jobs.show, org_slug, job_id, state=query.wanted, after=number, limit=limit)

    return await job_pages.rows_file(job_id, read)


@routes.post(f"{JOB}/stop", refuses=(JobUnknown, JobOver))
@in_console(Operation.JOBS_READ)
@shows_again(_page, JobOver)
async def stop_job(call: Call, org_slug: str, job_id: UUID) -> PageOrRedirect:
    """Stop a job; what is done stays done."""
    await call.transact(bulk_jobs.stop, org_slug, job_id)
    return after(f"{page_of_jobs(org_slug)}/{job_id}", "job-stopped")


def page_of_jobs(slug: str) -> str:
    """Return the path of the jobs of an organization."""
    return f"{page_of(slug)}/jobs"

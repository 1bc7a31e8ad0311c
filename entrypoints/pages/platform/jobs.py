"""The pages of the jobs of the platform: the list, one with what became of each row, and stopping one."""

from typing import Final
from uuid import UUID

from core.errors import Refusal
from core.organizations import bulk_jobs
from core.organizations.bulk_jobs import JobOver, JobUnknown, ShownJob
from entrypoints.pages import job_pages
from entrypoints.pages.console_pages import (
    PLATFORM,
    ROWS_SHOWN,
    PagedQuery,
    Program,
    after,
    console_page,
    opened_for_platform,
)
from entrypoints.pages.csv_files import CsvFile
from entrypoints.pages.declaring import platform_pages, shows_again
from entrypoints.pages.job_pages import JobQuery
from entrypoints.pages.rendering import Page, PageOrRedirect
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import platform_owner_in_console
from entrypoints.web.serving.routes import Routes

routes: Routes = platform_pages()

JOBS: Final = f"{PLATFORM}/jobs"
JOB: Final = f"{JOBS}/:job_id"
_PROGRAM: Final = Program(path="/api/platform/organizations")


@routes.get(JOBS)
@platform_owner_in_console
async def show_platform_jobs(call: Call, query: PagedQuery) -> Page:
    """Show the jobs of the platform, newest first."""
    standing, found = await opened_for_platform(
        call, bulk_jobs.search_for_platform, after=query.position, limit=ROWS_SHOWN
    )
    return console_page(
        call,
        "platform_jobs.html",
        standing,
        program=_PROGRAM,
        **job_pages.list_values(JOBS, query, found),
    )


async def _page(call: Call, job_id: UUID, *, query: JobQuery | None = None, refusal: Refusal | None = None) -> Page:
    query = query or JobQuery()
    standing, shown = await opened_for_platform(
        call,
        bulk_jobs.show_for_platform,
        job_id,
        state=query.wanted,
        after=query.number,
        limit=job_pages.ROWS_SHOWN,
    )
    return console_page(
        call,
        "platform_job.html",
        standing,
        program=_PROGRAM,
        done=query.done,
        refusal=refusal,
        **job_pages.job_values(f"{JOBS}/{job_id}", query, shown),
    )


@routes.get(JOB, refuses=(JobUnknown,))
@platform_owner_in_console
async def show_platform_job(call: Call, job_id: UUID, query: JobQuery) -> Page:
    """Show a job of the platform: how far it is, and what became of each row."""
    return await _page(call, job_id, query=query)


@routes.get(f"{JOB}/rows.csv", refuses=(JobUnknown,))
@platform_owner_in_console
async def download_platform_rows(call: Call, job_id: UUID, query: JobQuery) -> CsvFile:
    """Download what became of each row of a job of the platform, for a spreadsheet."""

    async def read(number: int, limit: int) -> ShownJob:
        return await call.read(bulk_jobs.show_for_platform, job_id, state=query.wanted, after=number, limit=limit)

    return await job_pages.rows_file(job_id, read)


@routes.post(f"{JOB}/stop", refuses=(JobUnknown, JobOver))
@platform_owner_in_console
@shows_again(_page, JobOver)
async def stop_platform_job(call: Call, job_id: UUID) -> PageOrRedirect:
    """Stop a job of the platform; what is done stays done."""
    await call.transact(bulk_jobs.stop_for_platform, job_id)
    return after(f"{JOBS}/{job_id}", "job-stopped")

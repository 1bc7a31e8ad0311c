"""The pages of jobs with sample values: a part of `samples.py`."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

from core.organizations.bulk_jobs import Job, JobKind, JobRow, JobState, RowState, ShownJob
from core.positions import FoundRows
from entrypoints.pages.console.frame import PagedQuery
from entrypoints.pages.console.lists import ConsoleList
from entrypoints.pages.organizations.bulk_jobs import (
    FOUND,
    FOUND_ON_PLATFORM,
    KINDS,
    STATES,
    JobQuery,
    job_values,
)
from tests.pages.console_samples import CONSOLE, LONG_SLUG
from tests.pages.platform_samples import PLATFORM
from tests.pages.sample_values import EMAIL, ID, NAME, NOW, PROBLEM

_OWNING: Final[dict[str, Any]] = {**PLATFORM, "standing": SimpleNamespace(user_id=ID, is_owner=True)}


def _job(state: JobState, kind: JobKind = JobKind.MEMBERS_CHANGE) -> Job:
    is_running = state is JobState.RUNNING
    return Job(
        id=UUID(ID),
        organization_id=UUID(ID),
        kind=kind,
        details={"role": "member"},
        maker_email=EMAIL,
        state=state,
        problem=PROBLEM if state is JobState.ENDED else "",
        rows=10_000,
        done=4_321,
        refused=12,
        created_at=NOW,
        finished_at=None if is_running else NOW,
        waits_until=NOW + timedelta(hours=1) if is_running else None,
    )


_ROWS: Final = [
    JobRow(number=1, label=EMAIL, name=NAME, state=RowState.DONE, problem=""),
    JobRow(number=2, label=NAME, name=None, state=RowState.REFUSED, problem=PROBLEM),
    JobRow(number=3, label="x" * 255, name=None, state=RowState.WAITING, problem=""),
]


def _one(page: str, state: JobState, kind: JobKind = JobKind.MEMBERS_CHANGE) -> dict[str, Any]:
    return job_values(page, JobQuery(after="50"), ShownJob(job=_job(state, kind), listed=_ROWS, next=100))


def _list(of: ConsoleList[Job], *at: str) -> dict[str, Any]:
    jobs = [_job(state) for state in JobState]
    found = FoundRows(found=jobs, total=len(jobs), next=None)
    return {**of.values(PagedQuery(), found, *at), "kinds": KINDS, "states": STATES}


_OF_ORGANIZATION: Final = f"/app/organizations/{LONG_SLUG}/jobs"
_OF_PLATFORM: Final = "/app/platform/jobs"
JOB_SAMPLES: Final[dict[str, dict[str, Any]]] = {
    "organizations/bulk_jobs.html": {**CONSOLE, **_list(FOUND, LONG_SLUG)},
    "organizations/bulk_jobs_one.html": {**CONSOLE, **_one(f"{_OF_ORGANIZATION}/{ID}", JobState.RUNNING)},
    "organizations/bulk_jobs_platform.html": {**_OWNING, **_list(FOUND_ON_PLATFORM)},
    "organizations/bulk_jobs_platform_one.html": {
        **_OWNING,
        **_one(f"{_OF_PLATFORM}/{ID}", JobState.ENDED, JobKind.ORGANIZATIONS_APPROVE),
    },
}

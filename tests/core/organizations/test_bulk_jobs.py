"""How far a job is, and where the list of jobs goes on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from core.organizations.bulk_jobs import Job, JobKind, JobState
from core.positions import Position, found_rows

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
JOB = Job(
    id=UUID(int=2),
    organization_id=UUID(int=1),
    kind=JobKind.MEMBERS_CHANGE,
    details={"role": "member"},
    maker_email="ann@example.com",
    state=JobState.RUNNING,
    problem="",
    rows=10,
    done=0,
    refused=0,
    created_at=NOW,
    finished_at=None,
    waits_until=None,
)


def test_rows_wait_until_they_are_done_or_refused() -> None:
    assert JOB.waiting == 10
    assert replace(JOB, done=5, refused=2).waiting == 3
    assert replace(JOB, state=JobState.FINISHED, done=7, refused=3, finished_at=NOW).waiting == 0


def test_a_job_goes_on_until_it_has_finished() -> None:
    assert JOB.is_running
    assert not replace(JOB, state=JobState.FINISHED, finished_at=NOW).is_running


def test_the_list_goes_on_after_the_last_job_by_when_it_was_begun() -> None:
    shown = replace(JOB, finished_at=NOW + timedelta(hours=1), waits_until=NOW + timedelta(hours=2))
    older = replace(JOB, id=UUID(int=1), created_at=NOW - timedelta(days=1))

    found = found_rows([shown, older], after=None, limit=1, count=lambda **_: 2)

    assert (found.found, found.next) == ([shown], Position(at=NOW, id=shown.id))

"""Leases of jobs, and the outcomes of their rows, in the tables `bulk_jobs` and `bulk_job_rows`.

A row is recorded together with the number of its job, so that both agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from adapters.postgres.organizations.bulk_jobs import sentence_record
from adapters.postgres.transaction import Aggregate
from core.organizations.bulk_jobs import JobKind
from core.platform.bulk_work import LeasedJob, WaitingRow
from core.sessions.origins import Origin

# One of each organization, that which is due first, so that an organization with many jobs has one place.
LEASE: Final = """
    WITH first AS MATERIALIZED (
        SELECT DISTINCT ON (j.organization_id) j.id, j.due_at
        FROM     bulk_jobs j
        WHERE    j.state = 'running' AND j.due_at <= %(now)s
        AND      NOT EXISTS (SELECT
                             FROM   bulk_jobs o
                             WHERE  o.state = 'running' AND o.leased_until > %(now)s
                             AND    o.organization_id IS NOT DISTINCT FROM j.organization_id)
        ORDER BY j.organization_id, j.due_at, j.id),
    due AS MATERIALIZED (
        SELECT   j.id
        FROM     bulk_jobs j
        JOIN     first ON first.id = j.id
        WHERE    j.state = 'running' AND (j.leased_until IS NULL OR j.leased_until <= %(now)s)
        ORDER BY first.due_at
        LIMIT    %(jobs_max)s
        FOR      NO KEY UPDATE OF j SKIP LOCKED)
    UPDATE    bulk_jobs j
    SET       leased_until = %(until)s, is_waiting = false
    FROM      due
    WHERE     j.id = due.id
    RETURNING j.id, j.organization_id, j.kind, j.details, j.session_id, j.request_id, j.ip_address, j.user_agent,
              j.language, j.leased_until,
              coalesce((SELECT o.slug FROM organizations o WHERE o.id = j.organization_id), '') AS slug
"""
_ROWS: Final = """
    SELECT   number, label, subject_id, seen
    FROM     bulk_job_rows
    WHERE    job_id = (SELECT id FROM bulk_jobs WHERE id = %s AND organization_id IS NOT DISTINCT FROM %s)
      AND    state = 'waiting'
    ORDER BY number
    LIMIT    %s
"""
_TAKEN: Final = """
    WITH taken AS (
        UPDATE bulk_job_rows r
        SET    state = %(state)s, problem = %(problem)s
        FROM   bulk_jobs j
        WHERE  j.id = %(job_id)s AND j.organization_id IS NOT DISTINCT FROM %(organization_id)s
        AND    j.state = 'running' AND j.leased_until = %(leased_until)s
        AND    r.job_id = j.id AND r.number = %(number)s AND r.state = 'waiting'
        RETURNING r.job_id)
    UPDATE bulk_jobs j
"""
DONE: Final = f"""
    {_TAKEN}
    SET    done = j.done + 1
    FROM   taken
    WHERE  j.id = taken.job_id AND j.state = 'running' AND j.leased_until = %(leased_until)s
"""
REFUSED: Final = f"""
    {_TAKEN}
    SET    refused = j.refused + 1
    FROM   taken
    WHERE  j.id = taken.job_id AND j.state = 'running' AND j.leased_until = %(leased_until)s
"""
RELEASE: Final = """
    UPDATE bulk_jobs
    SET    leased_until = NULL, due_at = %(due_at)s, is_waiting = %(is_waiting)s
    WHERE  id = %(job_id)s AND organization_id IS NOT DISTINCT FROM %(organization_id)s
    AND    state = 'running' AND leased_until = %(leased_until)s AND done + refused < rows
"""
# What it was done for, and from where, the audit log has.
FINISH: Final = """
    UPDATE bulk_jobs
    SET    leased_until = NULL, is_waiting = false, state = 'finished', finished_at = %(now)s,
           details = details - '{note,reason,message}'::text[], ip_address = NULL, user_agent = NULL
    WHERE  id = %(job_id)s AND organization_id IS NOT DISTINCT FROM %(organization_id)s
    AND    state = 'running' AND leased_until = %(leased_until)s AND done + refused = rows
"""


class PostgresBulkWork(Aggregate):
    """The port `BulkWork`."""

    def lease(self, *, now: datetime, until: datetime, jobs_max: int, rows_max: int) -> Sequence[LeasedJob]:
        leased = self._rows(LEASE, {"now": now, "until": until, "jobs_max": jobs_max})
        return [self._leased(rows_max=rows_max, **row) for row in leased]

    def record_done(self, job: LeasedJob, number: int) -> bool:
        return self._changes_one(DONE, _values(job, number, "done", ""))

    def record_refused(self, job: LeasedJob, number: int, problem: str) -> bool:
        return self._changes_one(REFUSED, _values(job, number, "refused", problem))

    def release(self, job: LeasedJob, *, due_at: datetime, is_waiting: bool) -> None:
        values = {"job_id": job.id, "organization_id": job.organization_id, "leased_until": job.leased_until}
        if not self._changes_one(FINISH, {**values, "now": self._transaction.now}):
            self._connection.execute(RELEASE, {**values, "due_at": due_at, "is_waiting": is_waiting})

    def _leased(
        self,
        *,
        rows_max: int,
        kind: str,
        request_id: str | None,
        ip_address: str | None,
        user_agent: str | None,
        language: str | None,
        **row: Any,
    ) -> LeasedJob:
        return LeasedJob(
            kind=JobKind(kind),
            origin=Origin(request_id=request_id, ip_address=ip_address, user_agent=user_agent, language=language),
            rows=self._all(WaitingRow, _ROWS, (row["id"], row["organization_id"], rows_max)),
            **row,
        )


def _values(job: LeasedJob, number: int, state: str, problem: str) -> dict[str, object]:
    return {
        "job_id": job.id,
        "organization_id": job.organization_id,
        "leased_until": job.leased_until,
        "number": number,
        "state": state,
        "problem": sentence_record(problem),
    }

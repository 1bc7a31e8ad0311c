"""Jobs and their rows in the tables `bulk_jobs` and `bulk_job_rows`, as their pages use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.driver.columns import columns, placeholders, values
from adapters.postgres.organizations.members import MEMBER_NAME
from adapters.postgres.transaction import Aggregate
from core.organizations.bulk_jobs import Job, JobKind, JobRow, JobState, NewJob, RowState, WantedRow
from core.positions import Position
from core.sessions.origins import Origin
from core.wording import Wording
from ports.mailboxes import WorkKind

_SHOWN: Final = """
    SELECT j.id, j.organization_id, j.kind, j.details, u.email AS maker_email, j.state, j.problem, j.rows, j.done,
           j.refused, j.created_at, j.finished_at, CASE WHEN j.is_waiting THEN j.due_at END AS waits_until
    FROM   bulk_jobs j
    JOIN   users u ON u.id = j.maker_id
"""
# Of the request that began a job.
_NOT_KEPT: Final = ("custom_host", "proof_algorithm")
# Two statements, because no index finds what is not distinct from a value.
_OF_ORGANIZATION: Final = "j.organization_id = %(organization_id)s"
_OF_PLATFORM: Final = "j.organization_id IS NULL"


def _page(of: LiteralString) -> LiteralString:
    return f"""
        {_SHOWN}
        WHERE    {of} AND j.kind = ANY (%(kinds)s)
          AND    (%(at)s::timestamptz IS NULL OR (j.created_at, j.id) < (%(at)s, %(id)s))
        ORDER BY j.created_at DESC, j.id DESC
        LIMIT    %(limit)s
    """


def _count(of: LiteralString) -> LiteralString:
    return f"""
        SELECT count(*)
        FROM   (SELECT FROM bulk_jobs j WHERE {of} AND j.kind = ANY (%(kinds)s) LIMIT %(counted_max)s) AS counted
    """


def _unfinished(of: LiteralString) -> LiteralString:
    return f"SELECT count(*) FROM bulk_jobs j WHERE j.state = 'running' AND {of}"


PAGES: Final = (_page(_OF_PLATFORM), _page(_OF_ORGANIZATION))
COUNTS: Final = (_count(_OF_PLATFORM), _count(_OF_ORGANIZATION))
UNFINISHED: Final = (_unfinished(_OF_PLATFORM), _unfinished(_OF_ORGANIZATION))
FIND: Final = f"{_SHOWN} WHERE j.id = %(job_id)s AND j.organization_id IS NOT DISTINCT FROM %(organization_id)s"


class PostgresBulkJobs(Aggregate):
    """The port `BulkJobs`."""

    def count_unfinished(self, organization_id: UUID | None) -> int:
        return self._value(UNFINISHED[organization_id is not None], {"organization_id": organization_id})

    def add(self, job: NewJob, rows: Sequence[WantedRow]) -> None:
        self._connection.execute(
            f"""
            INSERT INTO bulk_jobs ({columns(NewJob)}, {columns(Origin, without=_NOT_KEPT)}, rows, due_at, created_at)
            VALUES ({placeholders(NewJob)}, {placeholders(Origin, without=_NOT_KEPT)}, %(rows)s, %(now)s, %(now)s)
            """,
            values(self._transaction.origin) | values(job) | {"rows": len(rows), "now": self._transaction.now},
        )
        self._connection.execute(
            """
            INSERT INTO bulk_job_rows (job_id, number, label, subject_id, seen)
            SELECT %s, given.number, given.label, given.subject_id, given.seen
            FROM   unnest(%s::text[], %s::uuid[], %s::text[])
                   WITH ORDINALITY AS given (label, subject_id, seen, number)
            """,
            (job.id, [one.label for one in rows], [one.subject_id for one in rows], [one.seen for one in rows]),
        )
        self._transaction.made_due.add(WorkKind.BULK_JOBS)

    def page(
        self, organization_id: UUID | None, kinds: Sequence[JobKind], *, after: Position | None, limit: int
    ) -> Sequence[Job]:
        return self._all(
            _job,
            PAGES[organization_id is not None],
            {
                "organization_id": organization_id,
                "kinds": [*kinds],
                "at": after.at if after is not None else None,
                "id": after.id if after is not None else None,
                "limit": limit,
            },
        )

    def count(self, organization_id: UUID | None, kinds: Sequence[JobKind], *, counted_max: int) -> int:
        return self._value(
            COUNTS[organization_id is not None],
            {"organization_id": organization_id, "kinds": [*kinds], "counted_max": counted_max},
        )

    def find(self, organization_id: UUID | None, job_id: UUID) -> Job | None:
        return self._one(
            _job,
            FIND,
            {"job_id": job_id, "organization_id": organization_id},
        )

    def rows(
        self, organization_id: UUID | None, job_id: UUID, state: RowState | None, *, after: int, limit: int
    ) -> Sequence[JobRow]:
        return self._all(
            _row,
            f"""
            SELECT    r.number, r.label, r.state, r.problem, {MEMBER_NAME}
            FROM      bulk_job_rows r
            LEFT JOIN memberships m ON m.organization_id = %(organization_id)s AND m.user_id = r.subject_id
            LEFT JOIN users u       ON u.id = m.user_id
            WHERE     r.job_id = %(job_id)s AND r.number > %(after)s
              AND     (%(state)s::text IS NULL OR r.state = %(state)s)
            ORDER BY  r.number
            LIMIT     %(limit)s
            """,
            {"organization_id": organization_id, "job_id": job_id, "state": state, "after": after, "limit": limit},
        )

    def end(self, organization_id: UUID | None, job_id: UUID, state: JobState, problem: str) -> bool:
        return self._changes_one(
            """
            UPDATE bulk_jobs
            SET    state = %s, problem = %s, finished_at = %s, leased_until = NULL, is_waiting = false,
                   details = details - '{note,reason,message}'::text[], ip_address = NULL, user_agent = NULL
            WHERE  id = %s AND organization_id IS NOT DISTINCT FROM %s AND state = 'running'
            """,
            (state, sentence_record(problem), self._transaction.now, job_id, organization_id),
        )


def sentence_record(text: str) -> Jsonb | None:
    """Return a sentence in the form in which it is stored, with the values that a page translates; None for none."""
    if not text:
        return None
    if not isinstance(text, Wording):
        return Jsonb({"text": text})
    values = {name: value if isinstance(value, int) else str(value) for name, value in text.values.items()}
    return Jsonb({"text": text.template, "values": values})


def _sentence(stored: Mapping[str, Any] | None) -> str:
    if stored is None:
        return ""
    return Wording(stored["text"], **stored["values"]) if "values" in stored else stored["text"]


def _job(*, kind: str, state: str, problem: Mapping[str, Any] | None, **row: Any) -> Job:
    return Job(kind=JobKind(kind), state=JobState(state), problem=_sentence(problem), **row)


def _row(*, state: str, problem: Mapping[str, Any] | None, **row: Any) -> JobRow:
    return JobRow(state=RowState(state), problem=_sentence(problem), **row)

"""Why sign-ins by connections failed, in the table `upstream_failures`; what checks found is beside the connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from adapters.postgres.driver.columns import columns
from adapters.postgres.transaction import Aggregate
from core.sign_in.upstream.connections.failures import ConnectionProgress, UpstreamFailure
from core.sign_in.upstream.provider_problems import ProviderProblem, problem_of

_OF_ONE_SIGN_IN: Final = [problem.value for problem in ProviderProblem if problem.is_of_one_sign_in]


class PostgresUpstreamFailures(Aggregate):
    """The port `UpstreamFailures`."""

    def add(
        self,
        organization_id: UUID,
        connection_id: UUID,
        problem: ProviderProblem,
        *,
        at: datetime,
        request_id: str,
        series: timedelta,
    ) -> None:
        # The lock on the connection waits for one that is being deleted.
        self._connection.execute_later(
            """
            INSERT INTO upstream_failures AS known (organization_id, connection_id, problem, first_at, last_at,
                                                    occurrences, last_request_id)
            SELECT organization_id, id, %(problem)s, %(at)s, %(at)s, 1, %(request_id)s
            FROM   upstream_connections
            WHERE  organization_id = %(organization_id)s AND id = %(connection_id)s
            FOR KEY SHARE
            ON CONFLICT (connection_id, problem) DO UPDATE
            SET    first_at = CASE WHEN known.last_at < %(at)s - %(series)s::interval
                                   THEN excluded.first_at ELSE known.first_at END,
                   occurrences = CASE WHEN known.last_at < %(at)s - %(series)s::interval
                                      THEN 1 ELSE least(known.occurrences, 999999) + 1 END,
                   last_at = greatest(known.last_at, excluded.last_at),
                   last_request_id = excluded.last_request_id
            """,
            {
                "organization_id": organization_id,
                "connection_id": connection_id,
                "problem": problem.value,
                "at": at,
                "request_id": request_id,
                "series": series,
            },
        )

    def of_connection(self, organization_id: UUID, connection_id: UUID, *, limit: int) -> Sequence[UpstreamFailure]:
        return self._all(
            _failure,
            f"""
            SELECT   {columns(UpstreamFailure)}
            FROM     upstream_failures
            WHERE    organization_id = %s AND connection_id = %s
            ORDER BY last_at DESC, problem
            LIMIT    %s
            """,
            (organization_id, connection_id, limit),
        )

    def last_of_each(self, organization_id: UUID) -> Mapping[UUID, UpstreamFailure]:
        rows = self._rows(
            f"""
            SELECT   DISTINCT ON (connection_id) connection_id, {columns(UpstreamFailure)}
            FROM     upstream_failures
            WHERE    organization_id = %s
            ORDER BY connection_id, last_at DESC, problem
            """,
            (organization_id,),
        )
        return {row.pop("connection_id"): _failure(**row) for row in rows}

    def save_check(
        self, organization_id: UUID, connection_id: UUID, problem: ProviderProblem | None, *, at: datetime
    ) -> None:
        self._connection.execute_later(
            """
            UPDATE upstream_connections
            SET    checked_at = %s, check_problem = %s
            WHERE  organization_id = %s AND id = %s
            """,
            (at, problem.value if problem is not None else None, organization_id, connection_id),
        )

    def progress(self, organization_id: UUID) -> Sequence[ConnectionProgress]:
        return self._all(
            _progress,
            """
            SELECT c.id AS connection_id, c.checked_at, c.off_reason,
                   CASE WHEN c.checked_at IS NOT NULL THEN c.check_problem END AS problem,
                   i.last_sign_in_at,
                   CASE WHEN f.failing_since IS NOT NULL
                        THEN greatest(f.failing_since, i.last_sign_in_at) END AS failing_since
            FROM   upstream_connections c
            LEFT   JOIN LATERAL (
                SELECT max(used_at) AS last_sign_in_at
                FROM   identities
                WHERE  organization_id = c.organization_id AND connection_id = c.id) i ON true
            LEFT   JOIN LATERAL (
                SELECT min(first_at) AS failing_since
                FROM   upstream_failures
                WHERE  organization_id = c.organization_id AND connection_id = c.id
                  AND  (i.last_sign_in_at IS NULL
                        OR (last_at > i.last_sign_in_at AND problem <> ALL (%(of_one_sign_in)s)))) f ON true
            WHERE  c.organization_id = %(organization_id)s
            """,
            {"organization_id": organization_id, "of_one_sign_in": _OF_ONE_SIGN_IN},
        )


def _failure(*, problem: str, **columns: Any) -> UpstreamFailure:
    # A version after this one may have words that this one does not know.
    return UpstreamFailure(problem=problem_of(problem), **columns)


def _progress(*, problem: str | None, **columns: Any) -> ConnectionProgress:
    return ConnectionProgress(problem=problem_of(problem) if problem is not None else None, **columns)

"""Trial sign-ins, in the table `trial_sign_ins`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.driver.columns import assignments, values
from adapters.postgres.transaction import Aggregate
from core.deletions import AgedRows
from core.sign_in.upstream.provider_problems import problem_of
from core.sign_in.upstream.trials.trials import TrialAnswer, TrialGroups, TrialResult, TrialSignIn

_TRIAL: Final = """
    t.id, t.organization_id, o.slug AS organization_slug, t.connection_id, t.user_id, t.session_id,
    t.visit_hash, t.client_id, t.tested_as, t.expires_at
"""
_RESULT: Final = """
    SELECT t.connection_id, t.concluded_at, u.email AS begun_by, t.tested_as, t.problem, t.reason, t.subject,
           t.email, t.claims, t.groups
    FROM   trial_sign_ins t
    LEFT   JOIN users u ON u.id = t.user_id
    WHERE  t.organization_id = %(organization_id)s AND t.concluded_at IS NOT NULL
"""


class PostgresTrialSignIns(Aggregate):
    """The port `TrialSignIns`."""

    def add(self, trial: TrialSignIn, state_hash: bytes) -> None:
        if self._transaction.may_delete(AgedRows.EXPIRED_TRIALS):
            self._connection.execute_later(
                """
                DELETE FROM trial_sign_ins
                WHERE  organization_id = %s AND connection_id = %s AND concluded_at IS NULL AND expires_at <= %s
                """,
                (trial.organization_id, trial.connection_id, self._transaction.now),
            )
        # The lock on the connection waits for one that is being deleted.
        self._connection.execute_later(
            """
            INSERT INTO trial_sign_ins (organization_id, id, connection_id, user_id, session_id, visit_hash, state_hash,
                                        client_id, tested_as, expires_at)
            SELECT organization_id, %(id)s, id, %(user_id)s, %(session_id)s, %(visit_hash)s, %(state_hash)s,
                   %(client_id)s, %(tested_as)s, %(expires_at)s
            FROM   upstream_connections
            WHERE  organization_id = %(organization_id)s AND id = %(connection_id)s
            FOR KEY SHARE
            """,
            {**values(trial), "state_hash": state_hash},
        )

    def use(self, state_hash: bytes, *, session_id: UUID | None, visit_hash: bytes | None) -> TrialSignIn | None:
        return self._one(
            TrialSignIn,
            f"""
            UPDATE trial_sign_ins t
            SET    used_at = %(now)s
            FROM   organizations o
            WHERE  t.state_hash = %(state_hash)s
              AND  (t.session_id = %(session_id)s OR t.visit_hash = %(visit_hash)s)
              AND  t.used_at IS NULL AND t.expires_at > %(now)s AND o.id = t.organization_id AND o.status = 'active'
            RETURNING {_TRIAL}
            """,
            {
                "state_hash": state_hash,
                "session_id": session_id,
                "visit_hash": visit_hash,
                "now": self._transaction.now,
            },
        )

    def find_open(self, state_hash: bytes, connection_id: UUID) -> TrialSignIn | None:
        return self._one(
            TrialSignIn,
            f"""
            SELECT {_TRIAL}
            FROM   trial_sign_ins t
            JOIN   organizations o ON o.id = t.organization_id AND o.status = 'active'
            WHERE  t.state_hash = %s AND t.connection_id = %s AND t.used_at IS NULL AND t.expires_at > %s
            """,
            (state_hash, connection_id, self._transaction.now),
        )

    def keep_answer(self, state_hash: bytes, connection_id: UUID, answer: TrialAnswer, *, continue_hash: bytes) -> bool:
        kept = self._value_or_none(
            f"""
            UPDATE trial_sign_ins
            SET    used_at = %(now)s, state_hash = %(continue_hash)s, {assignments(TrialAnswer)}
            WHERE  state_hash = %(state_hash)s AND connection_id = %(connection_id)s AND used_at IS NULL
              AND  expires_at > %(now)s
            RETURNING id
            """,
            {
                **_values(answer),
                "now": self._transaction.now,
                "state_hash": state_hash,
                "connection_id": connection_id,
                "continue_hash": continue_hash,
            },
        )
        return kept is not None

    def use_answered(
        self, state_hash: bytes, connection_id: UUID, *, session_id: UUID | None, visit_hash: bytes | None
    ) -> TrialSignIn | None:
        trial = self._one(
            TrialSignIn,
            f"""
            UPDATE trial_sign_ins t
            SET    concluded_at = %(now)s
            FROM   organizations o
            WHERE  t.state_hash = %(state_hash)s AND t.connection_id = %(connection_id)s
              AND  (t.session_id = %(session_id)s OR t.visit_hash = %(visit_hash)s)
              AND  t.used_at IS NOT NULL AND t.concluded_at IS NULL
              AND  t.expires_at > %(now)s AND o.id = t.organization_id AND o.status = 'active'
            RETURNING {_TRIAL}
            """,
            {
                "state_hash": state_hash,
                "connection_id": connection_id,
                "session_id": session_id,
                "visit_hash": visit_hash,
                "now": self._transaction.now,
            },
        )
        if trial is not None:
            self._remove_earlier(trial.organization_id, trial.id)
        return trial

    def conclude(self, organization_id: UUID, trial_id: UUID, answer: TrialAnswer) -> None:
        self._connection.execute_later(
            f"""
            UPDATE trial_sign_ins
            SET    used_at = %(now)s, concluded_at = %(now)s, {assignments(TrialAnswer)}
            WHERE  organization_id = %(organization_id)s AND id = %(id)s AND concluded_at IS NULL
            """,
            {
                **_values(answer),
                "now": self._transaction.now,
                "organization_id": organization_id,
                "id": trial_id,
            },
        )
        self._remove_earlier(organization_id, trial_id)

    def last(self, organization_id: UUID, connection_id: UUID) -> TrialResult | None:
        return self._one(
            _result,
            f"{_RESULT} AND t.connection_id = %(connection_id)s ORDER BY t.concluded_at DESC, t.id DESC LIMIT 1",
            {"organization_id": organization_id, "connection_id": connection_id},
        )

    def last_of_each(self, organization_id: UUID) -> Sequence[TrialResult]:
        return self._all(_result, f"{_RESULT} ORDER BY t.concluded_at", {"organization_id": organization_id})

    def _remove_earlier(self, organization_id: UUID, trial_id: UUID) -> None:
        """Delete what was concluded of the same connection before."""
        self._connection.execute_later(
            """
            DELETE FROM trial_sign_ins t
            USING  trial_sign_ins present
            WHERE  present.organization_id = %(organization_id)s AND present.id = %(id)s
              AND  t.organization_id = present.organization_id AND t.connection_id = present.connection_id
              AND  t.id <> present.id AND t.concluded_at IS NOT NULL
            """,
            {"organization_id": organization_id, "id": trial_id},
        )


def _values(answer: TrialAnswer) -> dict[str, Any]:
    return values(answer) | {"claims": Jsonb(answer.claims)}


def _result(
    *,
    problem: str | None,
    reason: str,
    subject: str | None,
    email: str | None,
    claims: list[list[str]],
    groups: str | None,
    **columns: Any,
) -> TrialResult:
    answer = TrialAnswer(
        # A version after this one may have words that this one does not know.
        problem=problem_of(problem) if problem is not None else None,
        reason=reason,
        subject=subject,
        email=email,
        claims=tuple((name, value) for name, value in claims),
        groups=TrialGroups(groups) if groups in set(TrialGroups) else None,
    )
    return TrialResult(answer=answer, **columns)

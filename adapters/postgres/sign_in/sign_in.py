"""Attempts, login events, one-time tokens and the security log in their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from psycopg.types.json import Jsonb

from adapters.postgres.driver.rows import kwargs_row
from core.accounts.one_time_tokens import OneTimeToken, TokenPurpose
from core.accounts.sign_in_failures import SignInFailure
from core.sign_in.risk import Habits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from adapters.postgres.driver.connection import Connection
    from core.deferred import Deferred
    from core.sessions.callers import Origin
    from core.sign_in.login_events import LoginEvent
    from ports.clock import Randomness

_LOCK_KEY_BYTES: Final = 8


class PostgresSignInFailures:
    """The port `SignInFailures`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, attempt_id: UUID, email_hash: bytes, network: str, *, at: datetime) -> None:
        """Count an attempt, one after the other for each address."""
        self._connection.execute_later(
            """
            INSERT INTO sign_in_failures (id, email_hash, network, created_at)
            SELECT %s, %s, %s, %s
            FROM   (SELECT pg_advisory_xact_lock(%s)) AS turn
            """,
            (attempt_id, email_hash, network, at, int.from_bytes(email_hash[:_LOCK_KEY_BYTES], signed=True)),
        )

    def since(self, email_hash: bytes, moment: datetime) -> Sequence[SignInFailure]:
        """List the attempts since then, the newest first."""
        return (
            self._connection.cursor(row_factory=kwargs_row(SignInFailure))
            .execute(
                """
                SELECT   network, created_at AS at
                FROM     sign_in_failures
                WHERE    email_hash = %s AND created_at > %s
                ORDER BY created_at DESC
                """,
                (email_hash, moment),
            )
            .fetchall()
        )

    def remove(self, attempt_id: UUID) -> None:
        """Take an attempt back."""
        self._connection.execute_later("DELETE FROM sign_in_failures WHERE id = %s", (attempt_id,))


class PostgresLoginEvents:
    """The port `LoginEvents`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, event: LoginEvent) -> None:
        """Write an attempt down, if there is such an account."""
        self._connection.execute_later(
            """
            INSERT INTO login_events (id, user_id, organization_id, service_id, device_id, provider, success,
                                      ip_address, user_agent, risk_score, risk_factors, geo_country, geo_city,
                                      created_at)
            SELECT %s, id, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s
            FROM   users
            WHERE  id = %s
            """,
            (
                event.id,
                event.organization_id,
                event.service_id,
                event.device_id,
                event.provider,
                event.success,
                event.ip_address,
                event.user_agent,
                event.risk_score,
                event.risk_factors,
                event.geo_country,
                event.geo_city,
                event.created_at,
                event.user_id,
            ),
        )

    def defer_habits(
        self, user_id: UUID, *, since: datetime, sign_ins_max: int, failures_since: datetime, failures_max: int
    ) -> Deferred[Habits]:
        """Ask to look back at the newest of a person's sign-ins since then, and count the refused attempts of late."""
        habits = self._connection.cursor(row_factory=kwargs_row(Habits)).ask(
            """
            SELECT count(*) AS sign_ins,
                   coalesce(array_agg(DISTINCT geo_country) FILTER (WHERE geo_country IS NOT NULL), '{}')
                       AS countries,
                   coalesce(array_agg(DISTINCT extract(hour FROM created_at AT TIME ZONE 'UTC')::integer), '{}')
                       AS hours,
                   (SELECT count(*)
                    FROM   (SELECT
                            FROM     login_events
                            WHERE    user_id = %(user_id)s AND NOT success AND created_at > %(failures_since)s
                            ORDER BY created_at DESC
                            LIMIT    %(failures_max)s) AS refused)
                       AS failures
            FROM   (SELECT   created_at, geo_country
                    FROM     login_events
                    WHERE    user_id = %(user_id)s AND success AND created_at > %(since)s
                    ORDER BY created_at DESC
                    LIMIT    %(sign_ins_max)s) AS newest
            """,
            {
                "user_id": user_id,
                "since": since,
                "sign_ins_max": sign_ins_max,
                "failures_since": failures_since,
                "failures_max": failures_max,
            },
        )
        # An aggregate has one row.
        return lambda: habits.fetchall()[0]


class PostgresOneTimeTokens:
    """The port `OneTimeTokens`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, token: OneTimeToken, token_hash: bytes) -> None:
        """Store a token."""
        self._connection.execute_later(
            """
            INSERT INTO one_time_tokens (token_hash, purpose, user_id, email, data, created_at, expires_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s)
            """,
            (
                token_hash,
                token.purpose,
                token.user_id,
                token.email,
                Jsonb(token.data),
                token.created_at,
                token.expires_at,
            ),
        )

    def find(self, token_hash: bytes, purpose: TokenPurpose) -> OneTimeToken | None:
        """Find a token of that purpose, used and expired ones included."""
        return (
            self._connection.cursor(row_factory=kwargs_row(_one_time_token))
            .execute(
                """
                SELECT purpose, user_id, email, data, created_at, expires_at, used_at
                FROM   one_time_tokens
                WHERE  token_hash = %s AND purpose = %s
                """,
                (token_hash, purpose),
            )
            .fetchone()
        )

    def use(self, token_hash: bytes, purpose: TokenPurpose, *, at: datetime) -> OneTimeToken | None:
        """Use a token up: of two racers one gets it."""
        return (
            self._connection.cursor(row_factory=kwargs_row(_one_time_token))
            .execute(
                """
                UPDATE one_time_tokens
                SET    used_at = %s
                WHERE  token_hash = %s AND purpose = %s AND used_at IS NULL AND expires_at > %s
                RETURNING purpose, user_id, email, data, created_at, expires_at, used_at
                """,
                (at, token_hash, purpose, at),
            )
            .fetchone()
        )

    def withdraw(
        self, user_id: UUID, purpose: TokenPurpose, *, at: datetime, issued_since: datetime | None = None
    ) -> None:
        """Use up every token of a person and purpose, or those that were issued since a moment."""
        self._connection.execute_later(
            """
            UPDATE one_time_tokens
            SET    used_at = %s
            WHERE  user_id = %s
              AND  purpose = %s
              AND  used_at IS NULL
              AND  created_at >= coalesce(%s::timestamptz, '-infinity')
            """,
            (at, user_id, purpose, issued_since),
        )

    def is_waiting_at(self, email: str, purpose: TokenPurpose, *, besides_user_id: UUID, at: datetime) -> bool:
        """Say whether an address has a token of that purpose that another account's person may yet use."""
        row = self._connection.execute(
            """
            SELECT FROM one_time_tokens
            WHERE  email = %s AND purpose = %s AND user_id <> %s AND used_at IS NULL AND expires_at > %s
            LIMIT  1
            """,
            (email, purpose, besides_user_id, at),
        )
        return row.fetchone() is not None


class PostgresMfaEvents:
    """The port `MfaEvents`."""

    def __init__(self, connection: Connection, origin: Origin, randomness: Randomness, now: datetime) -> None:
        self._connection = connection
        self._origin = origin
        self._randomness = randomness
        self._now = now

    def add(self, user_id: UUID, event_type: str, *, is_success: bool, details: dict[str, Any]) -> None:
        """Write an event down."""
        self._connection.execute_later(
            """
            INSERT INTO mfa_events (id, user_id, event_type, success, ip_address, user_agent, details, created_at)
            VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
            """,
            (
                self._randomness.new_id(),
                user_id,
                event_type,
                is_success,
                self._origin.ip_address,
                self._origin.user_agent,
                Jsonb(details),
                self._now,
            ),
        )


def _one_time_token(*, purpose: str, **columns: Any) -> OneTimeToken:
    return OneTimeToken(purpose=TokenPurpose(purpose), **columns)

"""Counts for the gauges. Twice a minute, so a scan of an index is fine and a scan of the audit log would not be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.postgres.driver.rows import kwargs_row
from core.platform.health_figures import PlatformFigures

if TYPE_CHECKING:
    from datetime import datetime

    from adapters.postgres.driver.connection import Connection


class PostgresFigures:
    """The port `Figures`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def platform(self) -> PlatformFigures:
        """Count users, organizations, multi-factor users and waiting work."""
        figures = (
            self._connection.cursor(row_factory=kwargs_row(PlatformFigures))
            .execute(
                """
                SELECT (SELECT count(*) FROM users WHERE deactivated_at IS NULL)   AS active_users,
                       (SELECT count(*) FROM users WHERE deactivated_at IS NULL
                                                     AND mfa_enabled_at IS NOT NULL) AS mfa_users,
                       (SELECT count(*) FROM organizations)                        AS organizations,
                       (SELECT count(*) FROM mails WHERE state = 'queued')         AS queued_mails
                """
            )
            .fetchone()
        )
        assert figures is not None, "a SELECT without FROM has one row"
        return figures

    def probe(self) -> None:
        """Run one trivial statement."""
        self._connection.execute("SELECT 1")

    def database_time(self) -> datetime:
        """Ask the database what time it is there."""
        row = self._connection.execute("SELECT clock_timestamp()").fetchone()
        assert row is not None, "a SELECT without FROM has one row"
        return row[0]

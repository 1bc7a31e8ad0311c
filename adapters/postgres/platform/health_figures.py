"""Counts for the gauges. They run twice a minute, so they may scan an index, but not the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg.errors import ReadOnlySqlTransaction

from adapters.postgres.driver.rows import kwargs_row
from adapters.postgres.transaction import Aggregate
from core.platform.health_figures import PlatformFigures

if TYPE_CHECKING:
    from datetime import datetime


class PostgresFigures(Aggregate):
    """The port `Figures`."""

    def platform(self) -> PlatformFigures:
        figures = (
            self._connection.cursor(row_factory=kwargs_row(PlatformFigures))
            .execute(
                """
                SELECT (SELECT count(*) FROM users WHERE deactivated_at IS NULL)   AS active_users,
                       (SELECT count(*) FROM users WHERE deactivated_at IS NULL
                                                     AND mfa_enabled_at IS NOT NULL) AS mfa_users,
                       (SELECT count(*) FROM organizations)                        AS organizations,
                       (SELECT count(*) FROM mails WHERE state = 'queued')         AS queued_mails,
                       (SELECT count(*) FROM webhook_deliveries
                        WHERE  next_retry_at IS NOT NULL)                          AS queued_deliveries
                """
            )
            .fetchone()
        )
        assert figures is not None, "a SELECT without FROM has one row"
        return figures

    def probe(self) -> None:
        row = self._connection.execute("SELECT current_setting('transaction_read_only')").fetchone()
        if row != ("off",):
            raise ReadOnlySqlTransaction

    def database_time(self) -> datetime:
        row = self._connection.execute("SELECT clock_timestamp()").fetchone()
        assert row is not None, "a SELECT without FROM has one row"
        return row[0]

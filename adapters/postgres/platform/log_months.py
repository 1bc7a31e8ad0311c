"""The partitions of logs, made and dropped by functions with the rights of their owner (migrations 0059 and 0126)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, LiteralString
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.deletions import AgedRows
from core.platform.log_months import Log, LogPartition

_HAS_STRAYS: Final[Mapping[Log, LiteralString]] = {
    Log.AUDIT_ENTRIES: "SELECT EXISTS (SELECT 1 FROM audit_entries_after)",
    Log.MAILS: "SELECT EXISTS (SELECT 1 FROM mails_after)",
    Log.SCIM_LOG_ENTRIES: "SELECT EXISTS (SELECT 1 FROM scim_log_entries_after)",
    Log.LOGIN_EVENTS: "SELECT EXISTS (SELECT 1 FROM login_events_after)",
    Log.EVENTS: "SELECT EXISTS (SELECT 1 FROM events_after)",
    Log.WEBHOOK_DELIVERIES: "SELECT EXISTS (SELECT 1 FROM webhook_deliveries_after)",
    Log.WEBHOOK_ATTEMPTS: "SELECT EXISTS (SELECT 1 FROM webhook_attempts_after)",
}


class PostgresLogMonths(Aggregate):
    """The port `LogMonths`."""

    def add(self, log: Log, month: date) -> bool:
        return self._value("SELECT add_log_month(%s, %s)", (log.value, month))

    def drop(self, log: Log, before: UUID, *, only_empty: bool) -> str | None:
        if not self._transaction.may_delete(AgedRows.LOG_MONTHS):
            return None
        return self._value("SELECT drop_log_month(%s, %s, %s)", (log.value, before, only_empty))

    def has_strays(self, log: Log) -> bool:
        return self._value(_HAS_STRAYS[log])

    def partitions(self) -> Sequence[LogPartition]:
        rows = self._rows("SELECT log, first_id, end_id FROM log_partitions WHERE NOT is_last ORDER BY log, end_id")
        return [LogPartition(log=Log(row["log"]), first_id=row["first_id"], end_id=row["end_id"]) for row in rows]

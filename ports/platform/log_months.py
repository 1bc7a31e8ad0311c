"""Making and dropping the monthly partitions of logs."""

from collections.abc import Sequence
from datetime import date
from typing import Protocol
from uuid import UUID

from core.platform.log_months import Log, LogPartition


class LogMonths(Protocol):
    """The partitions of logs. `add` and `drop` lock the log for a moment, and give up after waiting for it too long."""

    def add(self, log: Log, month: date) -> bool:
        """Make the partition of a month; return False when it is there already."""
        ...

    def drop(self, log: Log, before: UUID, *, only_empty: bool) -> str | None:
        """Drop the oldest partition whose ids are all before that one, and return its name; None when there is none."""
        ...

    def has_strays(self, log: Log) -> bool:
        """Return whether a log has rows for which no month was made."""
        ...

    def partitions(self) -> Sequence[LogPartition]:
        """List the partitions of all logs, by the log and by their ids, without the one of strays."""
        ...

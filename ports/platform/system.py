"""The state of the installation, as the database knows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.platform.late_work import RecentMails, WaitingWork
from core.platform.system import PublishedKey, SchemaState


class SystemReadings(Protocol):
    """Reads the state of the database, its keys and its queues, each at a bounded cost."""

    def schema(self) -> SchemaState:
        """Return the migrations of the database, its version and its time."""
        ...

    def keys(self) -> Sequence[PublishedKey]:
        """List the signing keys that are published now, the active ones first, without decrypting them."""
        ...

    def work(self, counted_max: int) -> WaitingWork:
        """Return how much waits, each count up to `counted_max`."""
        ...

    def recent_mails(self, since: datetime, mails_max: int) -> RecentMails:
        """Return the outcomes of the newest mails since then that were offered to the platform's mail server."""
        ...

    def tables_without_statistics(self, bytes_min: int) -> Sequence[str]:
        """List the tables and partitions of that size or more without planner statistics, the largest first."""
        ...

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
        """List the signing keys that are published now, those that sign first, without decrypting them."""
        ...

    def work(self, counted_max: int) -> WaitingWork:
        """Return what waits, counted no further than that."""
        ...

    def recent_mails(self, since: datetime, mails_max: int) -> RecentMails:
        """Return what became of the newest mails since then that the mail server of the platform was asked to take."""
        ...

    def tables_without_statistics(self, bytes_min: int) -> Sequence[str]:
        """List the tables and partitions of that size or more of which the planner knows nothing, the largest first."""
        ...

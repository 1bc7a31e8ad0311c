"""How an installation runs: its database, cluster and replicas, periodic and overlooked work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Protocol
from uuid import UUID

from core.billing.provider import BillingMode
from core.platform.bulk_work import LeasedJob
from core.platform.doctor import KeptCredential, PublicName
from core.platform.health_figures import Backlog, PlatformFigures
from core.platform.housekeeping import Leftover
from core.platform.late_work import RecentMails, WaitingWork
from core.platform.log_months import Log, LogPartition
from core.platform.overlooked import LongWaiting, Turn
from core.platform.system import Cluster, PrimaryPlace, PublishedKey, SchemaState


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


class Figures(Protocol):
    """Figures that are kept in one row, and counted at a bounded cost."""

    def platform(self) -> PlatformFigures | None:
        """Return the kept figures; None when there are none."""
        ...

    def count(self, waiting: Backlog, *, certificates_before: datetime) -> PlatformFigures | None:
        """Renew the kept figures by one statement and return them; None when there are none yet.

        The certificates that end before that time are counted.
        """
        ...

    def count_accounts(self) -> None:
        """Make the kept figures from a count of all accounts, unless there are some."""
        ...

    def backlog(self) -> Backlog:
        """Return how much waits now, at a bounded cost; long queues are estimated."""
        ...

    def probe(self) -> None:
        """Run trivial statements; fail when the server takes no writes.

        Raise `SchemaTooNew` when a newer version has migrated the database and this one does not work with that.
        If the writes of this process failed last, try to write, and raise `WritesFailing` when that fails as well.
        """
        ...

    def database_time(self) -> datetime:
        """Return the time of the database's clock."""
        ...


class Clusters(Protocol):
    """The nodes that store the logs."""

    def measure(self) -> Cluster | None:
        """Ask every node; None where the database is one server. A node that does not answer in time is down."""
        ...


class Primary(Protocol):
    """The server that takes the writes."""

    def place(self) -> PrimaryPlace:
        """Return which server it is, and its position in the write-ahead log."""
        ...


class ReplicaSet(Protocol):
    """The replicas that the settings name."""

    async def look(self, primary: PrimaryPlace) -> None:
        """Check each replica against the primary's place: stop using those that lag, use again those that do not.

        It takes a few seconds at most, and never raises because of a replica.
        """
        ...


class DueWork(Protocol):
    """The work that waits in the tables."""

    def next(
        self, *, now: datetime, events_since: datetime, mode: BillingMode, finds_seals: bool = True
    ) -> Mapping[str, datetime]:
        """Return from when on work is due, by the name of its kind, leaving out what is leased.

        Events that occurred before `events_since` are no longer delivered, and left out. Without `finds_seals`, so are
        audit entries that wait for their seal.
        """
        ...


class BulkWork(Protocol):
    """Unfinished jobs, and the outcomes of their rows."""

    def lease(self, *, now: datetime, until: datetime, jobs_max: int, rows_max: int) -> Sequence[LeasedJob]:
        """Lease jobs that are due, at most one of each organization, each with its next rows."""
        ...

    def record_done(self, job: LeasedJob, number: int) -> bool:
        """Record a row as done; return False when it no longer waits, or the lease of the job is over."""
        ...

    def record_refused(self, job: LeasedJob, number: int, problem: str) -> bool:
        """Record a row as refused; return False as `record_done` does."""
        ...

    def release(self, job: LeasedJob, *, due_at: datetime, is_waiting: bool) -> None:
        """End a lease: the job is finished when no row waits, else due at that time."""
        ...


class OverlookedWork(Protocol):
    """The work that waits in the logs of all organizations."""

    def long_waiting(
        self, turn: Turn, *, before: datetime, entries_since: datetime, kept_since: datetime, limit: int
    ) -> Sequence[LongWaiting]:
        """Return the work that has waited since before a time, at most `limit` rows of each kind, in turn.

        Entries are read since `entries_since`, events and deliveries since `kept_since`. It is one statement.
        """
        ...


class Housekeeping(Protocol):
    """Deletes leftovers. Concurrent transactions share the work and never wait for each other or for other locks."""

    def delete(self, leftover: Leftover, ended_until: datetime, limit: int) -> int:
        """Delete at most `limit` rows that had expired by that moment, the oldest first; return how many."""
        ...

    def overdue(self, ended_until: Mapping[Leftover, datetime]) -> Sequence[Leftover]:
        """Return the kinds of which rows exist that had expired by the moment given for the kind."""
        ...


class LeftCredentials(Protocol):
    """The credentials whose maker is neither owner nor admin of their organization now."""

    def candidates(self) -> Sequence[KeptCredential]:
        """List the valid ones with a recorded maker, by organization."""
        ...


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


class PublicNames(Protocol):
    """Names of all organizations, for operators."""

    def dotted(self) -> Sequence[PublicName]:
        """List the names of services, plans and connections with a dot or `://`, in any Unicode form of these."""
        ...

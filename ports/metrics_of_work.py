"""The measurements of what Gatehouse sends, refuses and uses; `ports/metrics.py` adds requests and actors.

The vocabularies here are the values of labels, so they are bounded and name no organization, id or address.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from core.lazy_dataclasses import dataclass
from core.platform.health_figures import Backlog
from core.platform.system import Cluster


class MailServerKind(StrEnum):
    """Whose mail server a mail leaves by."""

    PLATFORM = "platform"
    ORGANIZATION = "organization"


class MailOutcome(StrEnum):
    """The outcome of an attempt to send a mail."""

    SENT = "sent"
    DEFERRED = "deferred"
    FAILED = "failed"
    KEPT = "kept"


class AttemptOutcome(StrEnum):
    """The outcome of an attempt to deliver something to a receiver."""

    DELIVERED = "delivered"
    # The receiver answered, and refused with a status of 4xx, or failed with another one.
    REFUSED = "refused"
    FAILED = "failed"
    # No answer: no connection, no name, or too late.
    UNREACHABLE = "unreachable"

    @classmethod
    def of(cls, status_code: int | None, *, is_success: bool) -> AttemptOutcome:
        """Return the outcome of an attempt whose answer had this status; None when there was none."""
        if is_success:
            return cls.DELIVERED
        if status_code is None:
            return cls.UNREACHABLE
        return cls.REFUSED if status_code // 100 == 4 else cls.FAILED


class PasswordCheckOutcome(StrEnum):
    """The outcome of looking for a password among breached ones."""

    CLEAN = "clean"
    BREACHED = "breached"
    # There was no answer in time, and the password counts as clean.
    FAILED = "failed"


class ReconciliationOutcome(StrEnum):
    """The outcome of reading a subscription from the payment provider."""

    APPLIED = "applied"
    PARKED = "parked"
    CONFLICT = "conflict"
    # The provider does not know it.
    UNKNOWN = "unknown"
    FAILED = "failed"
    RATE_LIMITED = "rate_limited"


class ConnectionRefusal(StrEnum):
    """Why a connection of a client was refused or had to wait."""

    # The client has as many connections as it may have.
    SHARE = "share"
    # All connections are in use.
    FULL = "full"
    # The process has no file descriptors or memory left.
    EXHAUSTED = "exhausted"


class SpanLoss(StrEnum):
    """Why spans of traces were dropped."""

    QUEUE_FULL = "queue_full"
    COLLECTOR = "collector"


class StatementLimit(StrEnum):
    """The limit for which PostgreSQL has cancelled a statement."""

    STATEMENT_TIMEOUT = "statement_timeout"
    # It waited for a lock.
    LOCK_TIMEOUT = "lock_timeout"


class ConnectFailure(StrEnum):
    """Why no connection to the database could be made."""

    # It answers, and has no connection left, or none for this role or database.
    LIMIT = "limit"
    # It answers, and refuses the role or its password.
    PASSWORD = "password"  # noqa: S105 - a reason
    UNREACHABLE = "unreachable"
    # It answers, and takes no connections yet, or none any more.
    STARTING = "starting"
    OTHER = "other"


class RequestKind(StrEnum):
    """The objective that a request counts towards."""

    SIGN_IN = "sign_in"
    CALL = "call"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSpace:
    """The space of the file system of a folder: what a user may still write, and its size."""

    free_bytes: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessUsage:
    """The resources that a process has used: processor seconds since its start, and memory.

    `proportional_bytes` divides each page among the processes that share it; None where the system cannot tell.
    """

    cpu_seconds: float
    resident_bytes: int
    proportional_bytes: int | None


@dataclass(frozen=True, slots=True)
class MailboxLoad:
    """The messages that wait for an actor, and for how long the oldest of them has."""

    messages: int
    oldest_seconds: float


class WorkMetrics(Protocol):
    """Records measurements. Every method is fast and never fails."""

    def mail_attempted(self, server: MailServerKind, outcome: MailOutcome) -> None:
        """Record an attempt to send a mail."""
        ...

    def webhook_attempted(self, outcome: AttemptOutcome) -> None:
        """Record an attempt to deliver to a webhook."""
        ...

    def siem_attempted(self, outcome: AttemptOutcome, *, lag_seconds: float | None) -> None:
        """Record an attempt to send a batch to a SIEM.

        The lag is the age of the oldest entry that was received, None when none was.
        """
        ...

    def subscription_reconciled(self, outcome: ReconciliationOutcome) -> None:
        """Record the reading of a subscription from the payment provider."""
        ...

    def limit_refused(self, limit: str, reason: str) -> None:
        """Record a request that a limit refused; both texts are of the vocabulary of the limits."""
        ...

    def connection_refused(self, reason: ConnectionRefusal) -> None:
        """Record a connection that was refused, or had to wait for long."""
        ...

    def connection_opened(self) -> None:
        """Record that a client has connected."""
        ...

    def connection_closed(self) -> None:
        """Record that the connection of a client is closed."""
        ...

    def usage_measured(self, usage: ProcessUsage) -> None:
        """Expose the resources that this process has used."""
        ...

    def data_folder_measured(self, space: FolderSpace) -> None:
        """Expose how much space the file system of the data folder has."""
        ...

    def work_overdue(self, seconds: Mapping[str, float]) -> None:
        """Expose for how long each kind of background work has been due; a kind that is not named is not late."""
        ...

    def mailboxes_measured(self, loads: Mapping[str, MailboxLoad]) -> None:
        """Expose the messages that wait for each actor of this process, by its name."""
        ...

    def backlog_measured(self, backlog: Backlog) -> None:
        """Expose the backlog of the installation."""
        ...

    def cluster_measured(self, cluster: Cluster) -> None:
        """Expose the nodes of the database's cluster; called only where there is one."""
        ...

    def statement_cancelled(self, use_case: str, limit: StatementLimit) -> None:
        """Record a statement that PostgreSQL has cancelled because it took longer than a limit."""
        ...

    def connect_failed(self, reason: ConnectFailure) -> None:
        """Record an attempt to connect to the database that has failed."""
        ...

    def spans_exported(self, spans: int) -> None:
        """Record spans of traces that the collector has taken."""
        ...

    def spans_dropped(self, spans: int, reason: SpanLoss) -> None:
        """Record spans of traces that were dropped."""
        ...

"""Messages to actors: hints that work waits or that something has changed. One may be lost; the tables are the truth.

Requests, other actors and the poller send them, and wait for no answer. An actor reads what is due whenever it hears
something, so a message says what happened, and orders nothing.

What has to happen later is a row that the transaction writes (`uow.publish`, `uow.mail.add`). A new kind of such work
is a `WorkKind` here, and a part of the statement in `adapters/postgres/platform/polling.py` with the condition of its
lease (ops/decisions/0032-one-process-polls.md, ops/decisions/0094-mailboxes.md). A run, and each batch of it, begins by
reading what is due.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

from core.lazy_dataclasses import dataclass


class WorkKind(StrEnum):
    """A kind of work; in each process one actor receives its messages."""

    MAIL = "mail"
    ROUTED_MAIL = "routed_mail"
    EVENTS = "events"
    BILLING = "billing"
    SANDBOX = "sandbox"
    DELIVERIES = "deliveries"
    LOGOUTS = "logouts"
    STREAMS = "streams"
    SEALING = "sealing"
    SERVICE_USERS = "service_users"
    CUSTOMER_SESSIONS = "customer_sessions"
    BULK_JOBS = "bulk_jobs"
    INVITATIONS = "invitations"
    # Only actors and readers of this process send messages about these.
    AUDIT_TAILS = "audit_tails"
    FIGURES = "figures"
    SALES = "sales"


# The kinds of work that the poll looks for.
POLLED_WORK: Final = frozenset(WorkKind) - {WorkKind.AUDIT_TAILS, WorkKind.FIGURES, WorkKind.SALES}


class Figure(StrEnum):
    """A figure that has changed."""

    PLATFORM = "platform"  # The numbers of users, organizations and the like.
    BACKLOG = "backlog"  # The numbers of what waits to be sent.
    SALES = "sales"  # The sales of organizations.


@dataclass(frozen=True, slots=True)
class Due:
    """Work is or may be due since then; None where the time is unknown."""

    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A figure has changed since it was last measured."""

    figure: Figure


@dataclass(frozen=True, slots=True)
class Drain:
    """Finish what is in flight, begin nothing more, and return. It is never dropped, and stays in the box."""


Message: TypeAlias = Due | Changed | Drain


class Mailboxes(Protocol):
    """The boxes of the actors of this process; the process that polls tells the actors of other processes."""

    def send(self, work: WorkKind, message: Message) -> None:
        """Put a message into the box of the actor that does this work; without such an actor it is dropped.

        It is dropped too when its slot is taken: then an equal message waits already. Call it on Trio's thread only.
        """
        ...

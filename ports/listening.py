"""Polling together: one process polls for due work, and announces what is due to all others over a connection."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from core.lazy_dataclasses import dataclass
from ports.mailboxes import WorkKind


class PollingRole(StrEnum):
    """What a process does about polling."""

    POLLING = "polling"  # It polls for all processes.
    LISTENING = "listening"  # It hears announcements of the process that polls.
    ALONE = "alone"  # It polls for itself, because it hears of no process that polls.


class Word(StrEnum):
    """What an announcement says besides the names of kinds of work."""

    POLLED = "polled"  # The sender polls for all processes, and the kinds of work are those that are due.
    LEFT = "left"  # The sender polls no more.
    FEED = "feed"  # New events are in the feed.


# Begins the word of a poll that says how many processes live.
LIVE: Final = "live:"


class ListeningFailed(Exception):
    """The connection for announcements could not be opened, or is lost; the message says why."""


@dataclass(frozen=True, slots=True)
class Polled:
    """The result of a poll: from when on work is due, by its kind, and how many processes live."""

    due: Mapping[str, datetime]
    processes: int


class ListeningConnection(Protocol):
    """A connection that receives announcements. Every method raises `ListeningFailed` when it is lost."""

    async def try_to_lead(self) -> bool:
        """Become the one process that polls, until the connection ends; return False when there is another one."""
        ...

    async def poll(self, now: datetime) -> Polled:
        """Return what is due, as `DueWork.next` does, with the number of processes, and announce both to all of them.

        A process lives while such a connection of it is open.
        """
        ...

    async def hear(self, seconds: float) -> Sequence[frozenset[str]]:
        """Wait for announcements, and return the words of each since the last call; nothing after these seconds.

        Announcements of polls are included unless this process polls.
        """
        ...

    async def leave(self) -> None:
        """Let another process poll, and announce that; the connection is not used any more."""
        ...


class Listening(Protocol):
    """Opens connections for announcements."""

    def open(self) -> AbstractAsyncContextManager[ListeningConnection]:
        """Open a connection that listens; raise `ListeningFailed`."""
        ...


class PeriodKeeping(Protocol):
    """Wakes the actors of this process, on behalf of the poller."""

    def enter(self, role: PollingRole | None) -> None:
        """Set the role of the process; None while it neither polls nor hears announcements.

        With a role, actors whose work is polled hear of all that is due. Without one, they look for it every period.
        """
        ...

    def tell_due(self, work: WorkKind, since: datetime) -> None:
        """Tell the actor that does this work since when some of it is due, unless another process does it for all."""
        ...


class LiveProcesses(Protocol):
    """Says how many processes serve on the database, this one included."""

    @property
    def number(self) -> int:
        """The number that this process has heard last; 1 until it hears of others."""
        ...

    def hear(self, number: int) -> None:
        """Set the number that an announcement gives."""
        ...

    def hold(self) -> None:
        """Accept no lower number for a while: other processes may have lost their connections when this one did."""
        ...

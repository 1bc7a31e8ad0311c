"""Tells actors what is due: one process asks the database for all processes, once in a while, by one statement.

That process holds a lock over its listening connection and announces what it finds, even if that is nothing. The others
listen, and take over when they hear nothing. A process that cannot listen, or hears nothing and cannot take over, polls
for itself. An actor hears of what this process has committed without any of this.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Final, NoReturn, TypedDict, Unpack

import structlog
import trio

from core.billing.provider import BillingMode
from core.errors import ServiceUnavailable
from core.platform import polling
from ports.clock import Clock
from ports.listening import (
    LIVE,
    Listening,
    ListeningConnection,
    ListeningFailed,
    LiveProcesses,
    PeriodKeeping,
    PollingRole,
    Word,
)
from ports.mailboxes import POLLED_WORK, WorkKind
from ports.metrics import Metrics

if TYPE_CHECKING:
    from ports.database import Database
    from ports.webhooks.deliveries import FeedWaiters

# An idle process sends less than a statement a second, other periodic work included. What is due at a time that is
# known is looked for at that time, so this is only for work whose process died before it told of it.
IDLE_SECONDS: Final = 2.4
# While something is due, for instance more than one process can do, and for a while after: what is leased is due again.
BUSY_SECONDS: Final = 1.0
BUSY_FOR_SECONDS: Final = 10.0
PAUSE_SECONDS_MIN: Final = 0.1
# Without an announcement for this long, the process that polls may be gone.
SILENCE_SECONDS_MAX: Final = 3.5
# How long a process polls alone before it tries again to listen.
REOPEN_SECONDS_MIN: Final = 1.0
REOPEN_SECONDS_MAX: Final = 30.0
LEAVE_SECONDS_MAX: Final = 1.0

log = structlog.get_logger(__name__)


class PollerParts(TypedDict):
    """What the poller tells what is due, and the database that it asks."""

    database: Database
    keeper: PeriodKeeping
    processes: LiveProcesses
    waiters: FeedWaiters
    metrics: Metrics


class Poller:
    """An actor; while it does not run, the other actors look for their work themselves."""

    def __init__(self, *, listening: Listening, mode: BillingMode, clock: Clock, **parts: Unpack[PollerParts]) -> None:
        self._listening = listening
        self._mode: BillingMode = mode
        self._clock = clock
        self._database = parts["database"]
        self._keeper = parts["keeper"]
        self._processes = parts["processes"]
        self._waiters = parts["waiters"]
        self._metrics = parts["metrics"]
        self._role: PollingRole | None = None
        self._reopen_seconds = REOPEN_SECONDS_MIN
        self._is_reported = False
        self._has_listened = False
        self._busy_until = 0.0

    async def run(self) -> NoReturn:
        """Poll or listen, until cancelled."""
        try:
            while True:
                try:
                    async with self._listening.open() as connection:
                        if self._has_listened:
                            self._processes.hold()
                        self._has_listened = True
                        await self._listen(connection)
                except ListeningFailed as failed:
                    self._report(failed)
                await self._poll_alone(self._reopen_seconds)
                self._reopen_seconds = min(2 * self._reopen_seconds, REOPEN_SECONDS_MAX)
        finally:
            self._keeper.enter(None)

    async def _listen(self, connection: ListeningConnection) -> NoReturn:
        is_silent = False
        while not await connection.try_to_lead():
            # In silence another process holds the lock and hangs, or its machine is gone.
            listen_seconds = await self._poll_once_alone() if is_silent else SILENCE_SECONDS_MAX
            is_silent = await self._hear_others(connection, listen_seconds)
        await self._lead(connection)

    async def _hear_others(self, connection: ListeningConnection, seconds_max: float) -> bool:
        """Tell what the process that polls announces; return when it is silent, or False when it has left."""
        hears_until = trio.current_time() + seconds_max
        while (seconds := hears_until - trio.current_time()) > 0:
            for words in await connection.hear(seconds):
                self._react(words)
                if Word.LEFT in words:
                    return False
                if Word.POLLED in words:
                    self._enter(PollingRole.LISTENING)
                    hears_until = trio.current_time() + SILENCE_SECONDS_MAX
        return True

    async def _lead(self, connection: ListeningConnection) -> NoReturn:
        self._enter(PollingRole.POLLING)
        try:
            while True:
                polled = await connection.poll(self._clock())
                self._hear_of_processes(polled.processes)
                polls_at = trio.current_time() + self._tell_due(polled.due)
                while (seconds := polls_at - trio.current_time()) > 0:
                    for words in await connection.hear(seconds):
                        self._react(words)
        finally:
            with trio.move_on_after(LEAVE_SECONDS_MAX, shield=True), suppress(ListeningFailed):
                # Without it, the others take over a little later.
                await connection.leave()

    async def _poll_alone(self, seconds: float) -> None:
        with trio.move_on_after(seconds):
            while True:
                pause_seconds = await self._poll_once_alone()
                await trio.sleep(pause_seconds)

    async def _poll_once_alone(self) -> float:
        """Tell what is due in this process; return the pause until the next poll."""
        try:
            due = await self._database.read(polling.due, self._mode)
        except ServiceUnavailable:
            self._keeper.enter(None)
            return BUSY_SECONDS
        self._enter(PollingRole.ALONE)
        return self._tell_due(due)

    def _tell_due(self, due: Mapping[str, datetime]) -> float:
        """Tell what is due; return the pause until something else is, or until the next poll."""
        now = self._clock()
        self._metrics.work_overdue({work: (now - due_at).total_seconds() for work, due_at in due.items()})
        self._tell({work: due_at for work, due_at in due.items() if due_at <= now})
        later = [(due_at - now).total_seconds() for due_at in due.values() if due_at > now]
        if len(later) < len(due):
            self._busy_until = trio.current_time() + BUSY_FOR_SECONDS
        usual = BUSY_SECONDS if trio.current_time() < self._busy_until else IDLE_SECONDS
        return max(PAUSE_SECONDS_MIN, min([usual, *later]))

    def _react(self, words: frozenset[str]) -> None:
        if Word.FEED in words:
            self._waiters.wake()
        if Word.POLLED in words:
            for word in words:
                if word.startswith(LIVE):
                    self._hear_of_processes(int(word.removeprefix(LIVE)))
        self._tell(dict.fromkeys(words, self._clock()))

    def _hear_of_processes(self, number: int) -> None:
        self._processes.hear(number)
        self._metrics.processes_counted(self._processes.number)

    def _tell(self, due: Mapping[str, datetime]) -> None:
        # During an upgrade another process may name work that this one does not know.
        for work in POLLED_WORK & due.keys():
            self._keeper.tell_due(WorkKind(work), due[work])

    def _enter(self, role: PollingRole) -> None:
        self._keeper.enter(role)
        if role is self._role:
            return
        if role is not PollingRole.ALONE:
            self._reopen_seconds, self._is_reported = REOPEN_SECONDS_MIN, False
        if self._role is not None:
            log.debug("polling.changed", role=role.value, before=self._role.value)
        self._role = role
        self._metrics.polling_changed(role)
        if role is PollingRole.LISTENING:
            # The process that polls tells it.
            self._metrics.work_overdue({})

    def _report(self, failed: ListeningFailed) -> None:
        if not self._is_reported:
            log.warning("polling.alone", reason=str(failed))
        self._is_reported = True

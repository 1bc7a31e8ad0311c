"""Tells actors that their periods are over: the only clock of background work beside the poller.

An actor whose work is polled waits for the poller, and looks for itself only while there is no poll. For work that one
process does for all, the timekeeper sends only in the process whose turn it is.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, NoReturn

import trio

from actors.mailboxes import Mailbox
from ports.listening import PollingRole
from ports.mailboxes import Due, Message, WorkKind
from ports.metrics import Metrics
from ports.metrics_of_work import MailboxLoad

# So often the metrics of the boxes are measured, if nothing else is to do.
MEASURED_SECONDS: Final = 5.0


class Timekeeper:
    """An actor, and the ports `Mailboxes` and `PeriodKeeping`."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._boxes: dict[str, Mailbox] = {}
        self._boxes_of: dict[WorkKind, Mailbox] = {}
        self._is_answered = False
        self._is_our_turn = False
        self._looks_at = 0.0
        self._is_woken = trio.Event()

    def add(self, actor: str, box: Mailbox) -> None:
        """Keep the box of an actor."""
        self._boxes[actor] = box
        if box.work is not None:
            self._boxes_of[box.work] = box
        box.is_our_turn = self._is_our_turn
        box.kept_by(self._begin_to_wait, actor)

    def send(self, work: WorkKind, message: Message) -> None:
        """Put a message into the box of the actor that does this work; it is dropped without one."""
        box = self._boxes_of.get(work)
        if box is not None:
            box.send(message)

    def tell_due(self, work: WorkKind, since: datetime) -> None:
        """Tell an actor what a poll has found, unless another process does that work for all."""
        box = self._boxes_of.get(work)
        if box is not None and (self._is_our_turn or not box.in_turn):
            box.send(Due(since))

    def enter(self, role: PollingRole | None) -> None:
        """Set the present role of the process; None while it neither polls nor hears announcements."""
        before = (self._is_answered, self._is_our_turn)
        self._is_answered = role is not None
        if role is not None:
            self._is_our_turn = role is not PollingRole.LISTENING
            for box in self._boxes.values():
                box.is_our_turn = self._is_our_turn
        if before != (self._is_answered, self._is_our_turn):
            self._is_woken.set()

    async def run(self) -> NoReturn:
        """Send `Due` to each box whose period is over, until cancelled."""
        while True:
            self._is_woken = trio.Event()
            self._measure()
            for box in self._boxes.values():
                if self._due_at(box) <= trio.current_time():
                    box.remind(Due())
            due_at = [self._due_at(box) for box in self._boxes.values()]
            self._looks_at = min([trio.current_time() + MEASURED_SECONDS, *due_at])
            with trio.move_on_at(self._looks_at):
                await self._is_woken.wait()

    def _begin_to_wait(self, box: Mailbox) -> None:
        if self._due_at(box) < self._looks_at:
            self._is_woken.set()

    def _due_at(self, box: Mailbox) -> float:
        return box.due_at(is_answered=self._is_answered)

    def _measure(self) -> None:
        self._metrics.mailboxes_measured(
            {actor: MailboxLoad(box.waiting, box.oldest_seconds) for actor, box in self._boxes.items()}
        )

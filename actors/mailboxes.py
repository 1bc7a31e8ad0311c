"""The box of an actor: a memory channel with one slot for each message, so that a flood of them is one."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Final

import structlog
import trio

from ports.mailboxes import POLLED_WORK, Changed, Drain, Due, Figure, Message, WorkKind

# In place of its period, an actor waits so long while the poller tells it what is due, and at least half of it.
ANSWERED_SECONDS: Final = 1200.0
# `Due`, `Drain`, each figure that may have changed, and the reminder at the end of a rest.
SLOTS: Final = 3 + len(Figure)

log = structlog.get_logger(__name__)


class Mailbox:
    """The messages that wait for one actor, and until when the actor waits for them.

    With `in_turn`, the timekeeper sends to it only in the process that works for all, and the message to drain always.
    """

    def __init__(self, work: WorkKind | None = None, *, in_turn: bool = False, drains: bool = False) -> None:
        self.work, self.in_turn, self.drains = work, in_turn, drains
        # The name of its actor.
        self.actor = ""
        self.is_draining = False
        # Whether this process does what one does for all, as the timekeeper says.
        self.is_our_turn = False
        self._send, self._receive = trio.open_memory_channel[Message](SLOTS)
        # When each message was sent that waits, by its slot.
        self._sent_at: dict[Hashable, float] = {}
        # When its actor began to wait, for how long it does, and the end of its rest if that is what it waits for.
        self._waits_since: float | None = None
        self._period_seconds = self._answered_seconds = 0.0
        self._rests_until: float | None = None
        self._waits: Callable[[Mailbox], None] | None = None

    def kept_by(self, waits: Callable[[Mailbox], None], actor: str) -> None:
        """Call `waits` from now on when this actor begins to wait, so that the timekeeper can end its period."""
        self._waits, self.actor = waits, actor

    def send(self, message: Message) -> None:
        """Put a message into its slot; it is dropped when the slot is taken."""
        slot = _slot(message)
        if slot in self._sent_at:
            return
        self.is_draining |= isinstance(message, Drain)
        self._sent_at[slot] = trio.current_time()
        self._send.send_nowait(message)
        if self._waits is not None:
            log.debug("actor.told", actor=self.actor, **_described(message))

    def take(self) -> set[Message]:
        """Take what waits, for a batch that begins to read what is due: it finds all that was sent before."""
        taken = self._received()
        self._free(taken)
        return taken

    async def receive(self, period_seconds: float, *, rest_seconds: float = 0.0) -> set[Message]:
        """Return what waits, once something does; after the period that is `Due`, from the timekeeper.

        What comes in a rest is returned after it, only `Drain` at once. Until then its slot stays taken.
        """
        self._waits_since = trio.current_time()
        self._period_seconds = period_seconds
        self._answered_seconds = random.uniform(ANSWERED_SECONDS / 2, ANSWERED_SECONDS)  # noqa: S311 - jitter
        rests_until = self._waits_since + rest_seconds
        heard = set[Message]()
        try:
            while not heard or (trio.current_time() < rests_until and not self.is_draining):
                self._rests_until = rests_until if heard else None
                if self._waits is not None:
                    self._waits(self)
                heard.add(await self._receive.receive())
                heard |= self._received()
        finally:
            self._waits_since = self._rests_until = None
            self._free(heard)
        return heard

    def remind(self, message: Due) -> None:
        """Send the message that ends a period, or a rest."""
        if self._rests_until is None:
            self.send(message)
        else:
            # The slot may be taken by a message that its actor has heard already.
            self._rests_until = math.inf
            self._send.send_nowait(message)

    def due_at(self, *, is_answered: bool) -> float:
        """Return when the timekeeper has to remind the actor, by the clock of the event loop."""
        if self._rests_until is not None:
            return self._rests_until
        if self._waits_since is None or self._sent_at or (self.in_turn and not self.is_our_turn):
            return math.inf
        if is_answered and self.work in POLLED_WORK and self._period_seconds:
            return self._waits_since + self._answered_seconds
        return self._waits_since + self._period_seconds

    @property
    def is_listening(self) -> bool:
        """Whether its actor waits for a message."""
        return self._waits_since is not None

    @property
    def waiting(self) -> int:
        """How many messages wait; what an actor keeps while it rests does not."""
        return len(self._sent_at) if self._rests_until is None else 0

    @property
    def oldest_seconds(self) -> float:
        """For how long the oldest of them has waited; 0 without any."""
        return trio.current_time() - min(self._sent_at.values()) if self.waiting else 0.0

    def _received(self) -> set[Message]:
        received = set[Message]()
        with suppress(trio.WouldBlock):
            while True:
                received.add(self._receive.receive_nowait())
        return received

    def _free(self, messages: set[Message]) -> None:
        for message in messages:
            self._sent_at.pop(_slot(message), None)


def _slot(message: Message) -> Hashable:
    return message if isinstance(message, Changed) else type(message)


def _described(message: Message) -> dict[str, object]:
    """Return the fields of the log that say what a message is."""
    match message:
        case Due(since=since):
            return {"message": "due", "since": since.isoformat() if since is not None else None}
        case Changed(figure=figure):
            return {"message": "changed", "figure": figure.value}
        case Drain():
            return {"message": "drain"}

"""The box of an actor: a memory channel with one slot for each message, so that a flood of them is one."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Final

import structlog
import trio

from ports.mailboxes import POLLED_WORK, Changed, Drain, Figure, Message, WorkKind

# In place of its period, an actor waits so long while the poller tells it what is due, and at least half of it.
ANSWERED_SECONDS: Final = 1200.0
# `Due`, `Drain`, and each figure that may have changed.
SLOTS: Final = 2 + len(Figure)

log = structlog.get_logger(__name__)


class Mailbox:
    """What waits for one actor, and until when that waits for it.

    With `in_turn`, the timekeeper sends to it only in the process that works for all; one that drains is told to.
    """

    def __init__(self, work: WorkKind | None = None, *, in_turn: bool = False, drains: bool = False) -> None:
        self.work, self.in_turn, self.drains = work, in_turn, drains
        # The name of its actor.
        self.actor = ""
        self.is_draining = False
        self._send, self._receive = trio.open_memory_channel[Message](SLOTS)
        # When each message was sent that waits, by its slot.
        self._sent_at: dict[Hashable, float] = {}
        # When its actor began to wait, for how long it does, and the end of its rest if that is what it waits for.
        self._waits_since: float | None = None
        self._period_seconds = self._answered_seconds = 0.0
        self._rests_until: float | None = None
        self._waits: Callable[[Mailbox], None] | None = None

    def kept_by(self, waits: Callable[[Mailbox], None], actor: str) -> None:
        """Call `waits` from now on when this actor begins to wait, so that it is told when its period is over."""
        self._waits, self.actor = waits, actor

    def send(self, message: Message) -> None:
        """Put a message into its slot; it is dropped when the slot is taken."""
        slot = message if isinstance(message, Changed) else type(message)
        if slot in self._sent_at:
            return
        self.is_draining |= isinstance(message, Drain)
        self._sent_at[slot] = trio.current_time()
        self._send.send_nowait(message)
        if self._waits is not None:
            log.debug("actor.told", actor=self.actor, message=message)

    def take(self) -> frozenset[Message]:
        """Take what waits, for a batch that begins to read what is due: it finds all that was sent before."""
        taken = set[Message]()
        with suppress(trio.WouldBlock):
            while True:
                taken.add(self._receive.receive_nowait())
        self._sent_at.clear()
        return frozenset(taken)

    async def receive(self, period_seconds: float, *, rest_seconds: float = 0.0) -> frozenset[Message]:
        """Return what waits, once something does; after the period that is `Due`, from the timekeeper.

        What comes in a rest is returned after it, only `Drain` at once.
        """
        self._waits_since = trio.current_time()
        self._period_seconds = period_seconds
        self._answered_seconds = random.uniform(ANSWERED_SECONDS / 2, ANSWERED_SECONDS)  # noqa: S311 - jitter
        rests_until = self._waits_since + rest_seconds
        heard = frozenset[Message]()
        try:
            while not heard or (trio.current_time() < rests_until and not self.is_draining):
                self._rests_until = rests_until if heard else None
                if self._waits is not None:
                    self._waits(self)
                heard |= {await self._receive.receive()}
                heard |= self.take()
        finally:
            self._waits_since = None
        return heard

    def due_at(self, *, is_answered: bool, is_our_turn: bool) -> float:
        """Return when the timekeeper has to send `Due`, by the clock of the event loop."""
        if self._waits_since is None or self._sent_at:
            return math.inf
        if self._rests_until is not None:
            return self._rests_until
        if self.in_turn and not is_our_turn:
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
        """How many messages wait."""
        return len(self._sent_at)

    @property
    def oldest_seconds(self) -> float:
        """For how long the oldest of them has waited; 0 without any."""
        return trio.current_time() - min(self._sent_at.values(), default=trio.current_time())

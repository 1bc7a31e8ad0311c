"""Doorbells as memory channels that hold one ring: further rings while one is pending are dropped."""

import random
from contextlib import suppress

import trio

from ports.doorbells import Bell

# In place of the period of an actor while the poller rings what is due: at most so long, and at least half of it.
ANSWERED_SECONDS = 1200.0
# One pending ring is enough: it means that there is work. More would wake an actor for work it has already done.
RINGS_PENDING_MAX = 1


class MemoryDoorbells:
    """The ports `AwaitableDoorbells` and `AnsweredDoorbells`, for one waiting actor per bell."""

    def __init__(self) -> None:
        self._channels = {bell: trio.open_memory_channel[None](RINGS_PENDING_MAX) for bell in Bell}
        # The present or the last wait of each actor.
        self._waits: dict[Bell, trio.CancelScope] = {}
        self._is_answered = False

    def ring(self, bell: Bell) -> None:
        """Wake the actor that waits at this bell, now or next time; call it on Trio's thread only."""
        send, _ = self._channels[bell]
        with suppress(trio.WouldBlock):
            send.send_nowait(None)

    async def wait(self, bell: Bell, period_seconds: float) -> None:
        """Return at a ring, also one that came before, and after the period at the latest."""
        _, receive = self._channels[bell]
        with trio.move_on_after(_answered_seconds() if self._is_answered else period_seconds) as scope:
            self._waits[bell] = scope
            await receive.receive()

    def answer_for(self, *, is_answered: bool) -> None:
        """Say whether the poller rings what is due; when it no longer does, every actor looks for itself at once."""
        if self._is_answered == is_answered:
            return
        self._is_answered = is_answered
        for bell, scope in self._waits.items():
            if is_answered:
                scope.deadline = trio.current_time() + _answered_seconds()
            else:
                self.ring(bell)


def _answered_seconds() -> float:
    # Not all actors at the same moment.
    return random.uniform(ANSWERED_SECONDS / 2, ANSWERED_SECONDS)  # noqa: S311 - jitter, not a secret

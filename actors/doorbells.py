"""Doorbells as memory channels that hold one ring: the second one finds the first still pending, and that is enough."""

from contextlib import suppress

import trio

from ports.doorbells import Bell

# One ring says everything: there is work. More would only wake an actor for work that it has already done.
RINGS_PENDING_MAX = 1


class MemoryDoorbells:
    """The ports `Doorbells` and `AnsweredDoorbells`, for one waiting actor at each bell."""

    def __init__(self) -> None:
        self._channels = {bell: trio.open_memory_channel[None](RINGS_PENDING_MAX) for bell in Bell}

    def ring(self, bell: Bell) -> None:
        """Wake whoever waits at this bell, or will; to be called on Trio's thread."""
        ringer, _ = self._channels[bell]
        with suppress(trio.WouldBlock):
            ringer.send_nowait(None)

    async def wait(self, bell: Bell, period_seconds: float) -> None:
        """Return at a ring, one that came before included, and after the period at the latest."""
        _, hearer = self._channels[bell]
        with trio.move_on_after(period_seconds):
            await hearer.receive()

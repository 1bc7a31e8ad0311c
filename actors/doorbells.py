"""Doorbells as memory channels that hold one ring: further rings while one is pending are dropped."""

from contextlib import suppress

import trio

from ports.doorbells import Bell

# One pending ring is enough: it means that there is work. More would wake an actor for work it has already done.
RINGS_PENDING_MAX = 1


class MemoryDoorbells:
    """The ports `Doorbells` and `AnsweredDoorbells`, for one waiting actor per bell."""

    def __init__(self) -> None:
        self._channels = {bell: trio.open_memory_channel[None](RINGS_PENDING_MAX) for bell in Bell}

    def ring(self, bell: Bell) -> None:
        """Wake the actor that waits at this bell, now or next time; call it on Trio's thread only."""
        send, _ = self._channels[bell]
        with suppress(trio.WouldBlock):
            send.send_nowait(None)

    async def wait(self, bell: Bell, period_seconds: float) -> None:
        """Return at a ring, also one that came before, and after the period at the latest."""
        _, receive = self._channels[bell]
        with trio.move_on_after(period_seconds):
            await receive.receive()

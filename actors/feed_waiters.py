"""Requests that wait for events: the sequencer of this process wakes them, or the poller for events of others."""

import trio


class MemoryFeedWaiters:
    """The port `FeedWaiters`."""

    def __init__(self) -> None:
        self._waiting = trio.lowlevel.ParkingLot()

    async def wait(self, seconds: float) -> None:
        """Return when events were added to the feed, or after these seconds."""
        with trio.move_on_after(seconds):
            await self._waiting.park()

    def wake(self) -> None:
        """Wake all requests that wait."""
        self._waiting.unpark_all()

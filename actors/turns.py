"""Whose turn the periodic work of the installation is: that of the process that polls, or of each that polls alone."""

import trio


class MemoryTurns:
    """The port `Turns`; the poller of this process sets it."""

    def __init__(self) -> None:
        self._begun = trio.Event()

    @property
    def is_ours(self) -> bool:
        """Whether it is the turn of this process."""
        return self._begun.is_set()

    async def wait(self) -> None:
        """Return when it is the turn of this process."""
        await self._begun.wait()

    def give(self, *, is_ours: bool) -> None:
        """Begin or end the turn of this process; work that has begun goes on."""
        if is_ours:
            self._begun.set()
        elif self._begun.is_set():
            self._begun = trio.Event()

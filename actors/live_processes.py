"""How many processes serve on the database, as this one hears it: the divisor of the limits of mere load."""

import math
from typing import Final

import trio

# Longer than a process waits until it listens again (`REOPEN_SECONDS_MAX` of the poller), with the time that takes.
HELD_SECONDS: Final = 45.0


class MemoryLiveProcesses:
    """The port `LiveProcesses`; the poller of this process tells it."""

    def __init__(self) -> None:
        self._number = 1
        self._held_until = -math.inf

    @property
    def number(self) -> int:
        """How many there are, this process included; without announcements, the last number holds."""
        return self._number

    def hear(self, number: int) -> None:
        """Take a number; a lower one is passed over while the present one is held."""
        if number > self._number or trio.current_time() >= self._held_until:
            self._number = max(number, 1)

    def hold(self) -> None:
        """Hold the present number for as long as other processes may take to listen again."""
        self._held_until = trio.current_time() + HELD_SECONDS

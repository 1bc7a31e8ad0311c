"""Heartbeats: each worker tells its parent every second that its event loop runs; the parent judges its silence.

A process that is stopped, or whose event loop hangs, keeps its connections open and answers none of them. Only the
monotonic clock counts. While the parent itself has not run (it was stopped, or the whole machine was), it has heard of
no worker, which says nothing about them, so each of them gets a new period.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

import trio

from core.lazy_dataclasses import dataclass

BEAT_SECONDS: Final = 1.0
_BEAT: Final = b"."
_BYTES_READ_MAX: Final = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class HangLimits:
    """How long the parent waits; only tests are less patient."""

    # Without a beat, once there was one.
    silence_seconds: float = 10.0
    # From the start of a worker to its first beat, which comes when it is ready.
    start_seconds: float = 120.0
    # From SIGTERM to SIGKILL, for a worker that is still silent.
    kill_seconds: float = 2.0
    # The parent looks every half second. After more than this, it did not run itself.
    absence_seconds: float = 3.0


class Heartbeat:
    """A pipe from a worker to its parent, who makes it before the fork; then each closes the end of the other."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        for end in (self._reader, self.writer):
            os.set_blocking(end, False)

    def close_reader(self) -> None:
        """Close the end of the parent."""
        os.close(self._reader)

    def close_writer(self) -> None:
        """Close the end of the worker."""
        os.close(self.writer)

    def has_beaten(self) -> bool:
        """Return whether there was a beat since the last call."""
        with suppress(BlockingIOError):
            return bool(os.read(self._reader, _BYTES_READ_MAX))
        return False


async def beat(writer: int) -> None:
    """Send a beat every second, from the event loop, until cancelled."""
    while True:
        # The pipe is full when the parent was stopped for hours, and broken when it has ended.
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(writer, _BEAT)
        await trio.sleep(BEAT_SECONDS)


@dataclass(slots=True, kw_only=True)
class Pulse:
    """What the parent knows of a worker by its heartbeat; all times are of the monotonic clock."""

    heartbeat: Heartbeat
    heard_at: float
    has_beaten: bool = False
    # When it was told to end, because it was silent.
    told_at: float | None = None
    is_killed: bool = False

    def listen(self, now: float) -> None:
        """Note whether it has beaten."""
        if self.heartbeat.has_beaten():
            self.heard_at, self.has_beaten = now, True

    def renew(self, now: float) -> None:
        """Begin a new period, whatever was heard."""
        self.heard_at = now
        if self.told_at is not None:
            self.told_at = now

    def is_silent(self, now: float, hang_limits: HangLimits) -> bool:
        """Return whether it has been silent for too long and was not told to end yet."""
        seconds_max = hang_limits.silence_seconds if self.has_beaten else hang_limits.start_seconds
        return self.told_at is None and now - self.heard_at > seconds_max

    def is_overdue(self, now: float, hang_limits: HangLimits, stop_seconds_max: float) -> bool:
        """Return whether it was told to end and has not; one that beats again stops in order, which takes longer."""
        if self.told_at is None or self.is_killed:
            return False
        is_back = self.heard_at > self.told_at
        return now - self.told_at > (stop_seconds_max if is_back else hang_limits.kill_seconds)

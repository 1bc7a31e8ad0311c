"""How far a long command is: how much of the total, the percent, the speed, and how long it will still take.

On a terminal it is one line that changes; in a pipe or a file a new line every few seconds, without control characters.
"""

from __future__ import annotations

import io
import os
import shutil
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Final, TextIO

REPORT_SECONDS: Final = 5.0
REPORT_SECONDS_ON_A_TERMINAL: Final = 0.5
# Below that, the speed says nothing.
SPEED_SHOWN_MIN: Final = 1.0
_ERASE_LINE: Final = "\r\x1b[K"
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
# From this many minutes on, hours are shown, and from this many seconds on, minutes.
_MINUTES_MAX: Final = 120
_SECONDS_MAX: Final = 120


@dataclass
class Progress:
    """The progress of one command, written to an output beside its result; as a context, it leaves no line behind."""

    out: TextIO
    seconds: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._is_on_terminal = self.out.isatty()
        self._is_shown = False
        self._began_at = self._shown_at = self.seconds()

    def show(
        self, done: int, unit: str, *, total: int | None = None, share: float | None = None, context: str = ""
    ) -> None:
        """Show how much is done, unless the last time was just before.

        `share` is the part of the work that is done, from 0 to 1; by default it is that of the total. With neither,
        neither a percent nor the time that is left is shown. `context` says what is being worked on.
        """
        now = self.seconds()
        if now - self._shown_at < (REPORT_SECONDS_ON_A_TERMINAL if self._is_on_terminal else REPORT_SECONDS):
            return
        self._shown_at = now
        if share is None:
            share = share_of(done, total)
        text = context + _described(done, unit, total=total, share=share, elapsed=now - self._began_at)
        if self._is_on_terminal:
            # A longer one would begin another line, which is not erased.
            columns = shutil.get_terminal_size().columns - 1
            self.out.write(f"{_ERASE_LINE}{text[:columns]}")
            self._is_shown = True
        else:
            self.out.write(f"{text}\n")
        self.out.flush()

    def erase(self) -> None:
        """Remove the line from a terminal, before something else is written there, or at the end."""
        if self._is_shown:
            self.out.write(_ERASE_LINE)
            self.out.flush()
            self._is_shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.erase()

    def around(self, report: Callable[[str], None]) -> Callable[[str], None]:
        """Return what `report` does, with the line out of its way."""

        def reporting(text: str) -> None:
            self.erase()
            report(text)

        return reporting


def size_of(file: BinaryIO) -> int | None:
    """Return how many bytes a regular file has; None for a pipe."""
    try:
        status = os.fstat(file.fileno())
    except io.UnsupportedOperation:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def share_of(done: int, total: int | None) -> float | None:
    """Return the part of a total that is done, from 0 to 1; None when no total is known."""
    return min(1.0, done / total) if total else None


def _described(done: int, unit: str, *, total: int | None, share: float | None, elapsed: float) -> str:
    parts = [f"{done:,} of {total:,} {unit}" if total is not None else f"{done:,} {unit}"]
    if share is not None:
        # Rounded down: 100 is only said when everything is done.
        parts.append(f"{int(share * 100)} %")
    speed = done / elapsed if elapsed else 0.0
    if speed >= SPEED_SHOWN_MIN:
        parts.append(f"{speed:,.0f} per second")
    if share:
        parts.append(f"about {_duration(elapsed * (1 - share) / share)} left")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < _SECONDS_MAX:
        return f"{seconds:,.0f} s"
    if seconds < _MINUTES_MAX * _MINUTE:
        return f"{seconds / _MINUTE:,.0f} min"
    return f"{seconds / _HOUR:,.1f} h"

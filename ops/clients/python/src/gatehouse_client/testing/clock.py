"""The clock of the instance, which tests move, and which a product of the same process may have."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Final

from gatehouse_client.testing.instance import Instance

DAY: Final = timedelta(days=1)


class Clock:
    """The clock of the instance, which the test moves; the machine's clock stays.

    It is what `clock=` of this package takes: a verifier or a sign-in that has it moves with the instance.
    """

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._ahead = timedelta()

    def __call__(self) -> float:
        """Return the time of the instance in seconds since 1970, without asking it."""
        return time.time() + self._ahead.total_seconds()

    @property
    def now(self) -> datetime:
        """The time of the instance."""
        return self._instance.advance(timedelta())

    def advance(self, by: timedelta | None = None, **parts: float) -> datetime:
        """Put it forward by a duration, or by `days=…` or `minutes=…`, and back by less than 0; return its time."""
        duration = by or timedelta(**parts)
        now = self._instance.advance(duration)
        self._ahead += duration
        return now

    @contextmanager
    def a_day_ago(self) -> Generator[None]:
        """Put it back to a day before the time of the machine, and return it to where it was at the end."""
        back = self._ahead + DAY
        self.advance(-back)
        try:
            yield
        finally:
            self.advance(back)

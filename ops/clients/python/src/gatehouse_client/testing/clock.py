"""The clock of the instance, which tests move."""

from __future__ import annotations

from datetime import datetime, timedelta

from gatehouse_client.testing.instance import Instance


class Clock:
    """The clock of the instance, which the test moves; the machine's clock, and the one of the product, stay."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance

    @property
    def now(self) -> datetime:
        """The time of the instance."""
        return self._instance.advance(timedelta())

    def advance(self, by: timedelta | None = None, **parts: float) -> datetime:
        """Put it forward by a duration, or by `days=…`, `hours=…`, `minutes=…`, and return its time."""
        return self._instance.advance(by or timedelta(**parts))

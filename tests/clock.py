"""A clock that stands still until a test moves it."""

from datetime import UTC, datetime, timedelta


class SettableClock:
    """The port `Clock` for tests; every transaction made with it happens at `now`."""

    def __init__(self, now: datetime = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Return the time that the test has set."""
        return self.now

    def advance(self, by: timedelta) -> None:
        """Move the time forward."""
        self.now += by

"""The clock watcher: it asks the database soon after a jump and seldom otherwise, and reports a wrong clock loudly."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
import trio
from structlog.testing import capture_logs

from actors.clock_watcher import (
    AGREEING_LOOKS,
    LOGGED_LOOKS,
    LOOK_SECONDS,
    ClockWatcher,
)
from actors.periods import PeriodicActor
from adapters.clock import SETTLING_SECONDS
from core.errors import ServiceUnavailable
from core.platform import health_figures
from ports.clock import Comparison
from ports.database import Database
from ports.metrics import Metrics
from tests.mailboxes import RecordedMailboxes, keep_time

TRUE_TIME = datetime(2026, 3, 4, tzinfo=UTC)
DAY_SECONDS = 86_400.0


class StoredTime:
    """A fake database that records when it was asked for its time."""

    def __init__(self) -> None:
        self.is_away = False
        self.asked_at: list[float] = []

    async def read(self, use_case: object) -> datetime:
        assert use_case is health_figures.database_time
        self.asked_at.append(trio.current_time())
        await trio.lowlevel.checkpoint()
        if self.is_away:
            raise ServiceUnavailable(retry_after_seconds=1)
        return TRUE_TIME + timedelta(seconds=trio.current_time())


class Clock:
    """A clock of which the test sets by how much the machine's is ahead; a comparison moves it when told to."""

    def __init__(self) -> None:
        self.error = 0.0
        self.moves = self.database_error = 0.0
        self.settled_at = 0.0
        self.shared_at: list[float] = []

    def __call__(self) -> datetime:
        return TRUE_TIME

    def error_seconds(self) -> float:
        return self.error

    def reading(self) -> int:
        return int(trio.current_time())

    def is_settled(self) -> bool:
        return trio.current_time() >= self.settled_at

    def share(self) -> None:
        self.shared_at.append(trio.current_time())

    def compare(self, reading: int, database_time: datetime) -> Comparison:
        assert database_time - TRUE_TIME >= timedelta(seconds=reading)
        return Comparison(moved_seconds=self.moves, database_error_seconds=self.database_error)


class Gauge:
    """Records what is exposed."""

    error_seconds = 0.0

    def clock_compared(self, error_seconds: float) -> None:
        self.error_seconds = error_seconds


class Watched:
    """A watcher and what it is connected with."""

    def __init__(self) -> None:
        self.clock, self.stored, self.gauge = Clock(), StoredTime(), Gauge()
        self.watcher = ClockWatcher(
            clock=self.clock, database=cast("Database", self.stored), metrics=cast("Metrics", self.gauge)
        )


@pytest.fixture
async def watched(nursery: trio.Nursery, autojump_clock: object) -> AsyncGenerator[Watched]:
    watched = Watched()
    await watched.watcher.begin()
    watched.stored.asked_at.clear()
    keep_time(nursery, watched.watcher)
    yield watched
    nursery.cancel_scope.cancel()


def events(captured: list[Any]) -> list[str]:
    return [line["event"] for line in captured if line["event"] != "actor.told"]


@pytest.mark.parametrize("seconds_away", [0.0, 3 * LOOK_SECONDS + 1])
async def test_a_process_asks_at_every_look_until_it_has_compared_once(
    nursery: trio.Nursery, autojump_clock: object, seconds_away: float
) -> None:
    watched = Watched()
    watched.stored.is_away = seconds_away > 0

    await watched.watcher.begin()
    keep_time(nursery, watched.watcher)
    await trio.sleep(seconds_away)
    watched.stored.is_away = False
    await trio.sleep(10 * LOOK_SECONDS)
    nursery.cancel_scope.cancel()

    looks = [number * LOOK_SECONDS for number in (1, 2, 3, 4)]
    assert watched.stored.asked_at == ([0.0, 0.0, *looks] if seconds_away else [0.0])


async def test_clocks_that_agree_are_compared_once_a_minute(watched: Watched, autojump_clock: object) -> None:
    with capture_logs() as logged:
        await trio.sleep(3 * AGREEING_LOOKS * LOOK_SECONDS + 1)

    assert watched.stored.asked_at == [AGREEING_LOOKS * LOOK_SECONDS * number for number in (1, 2, 3)]
    assert events(logged) == []


async def test_a_clock_that_jumped_is_compared_at_once_reported_and_exposed_until_it_is_right(
    watched: Watched, autojump_clock: object
) -> None:
    with capture_logs() as logged:
        await trio.sleep(1)
        watched.clock.error = DAY_SECONDS
        await trio.sleep(LOGGED_LOOKS * LOOK_SECONDS)
        wrong = events(logged)
        asked, exposed = len(watched.stored.asked_at), watched.gauge.error_seconds
        await trio.sleep(LOOK_SECONDS)
        watched.clock.error = 0.0
        await trio.sleep(3 * LOOK_SECONDS)

    assert wrong == ["clock.wrong"]
    assert asked == LOGGED_LOOKS
    assert exposed == DAY_SECONDS
    assert events(logged) == ["clock.wrong", "clock.wrong", "clock.right_again"]
    assert next(line for line in logged if "seconds" in line)["seconds"] == DAY_SECONDS
    assert "ops/runbooks/clock.md" in next(line for line in logged if "advice" in line)["advice"]
    assert watched.gauge.error_seconds == 0
    assert watched.stored.asked_at[-1] == (LOGGED_LOOKS + 2) * LOOK_SECONDS


async def test_what_is_known_of_the_time_is_left_at_every_look_and_before_the_first_request(
    nursery: trio.Nursery, autojump_clock: object
) -> None:
    watched = Watched()

    await watched.watcher.begin()
    keep_time(nursery, watched.watcher)
    await trio.sleep(2 * LOOK_SECONDS + 1)
    nursery.cancel_scope.cancel()

    assert watched.clock.shared_at == [0, LOOK_SECONDS, 2 * LOOK_SECONDS]


async def test_a_jump_that_is_followed_is_reported(watched: Watched) -> None:
    watched.clock.moves = -DAY_SECONDS

    with capture_logs() as logged:
        await watched.watcher.check()

    [line] = logged
    assert (line["event"], line["seconds"]) == ("clock.moved", -DAY_SECONDS)


async def test_a_jump_of_the_clock_of_the_database_is_reported_until_it_is_right(
    watched: Watched, autojump_clock: object
) -> None:
    watched.clock.database_error = DAY_SECONDS

    with capture_logs() as logged:
        await trio.sleep((AGREEING_LOOKS + 3) * LOOK_SECONDS + 1)
        exposed = watched.gauge.error_seconds
        watched.clock.database_error = 0.0
        await trio.sleep(LOOK_SECONDS)

    assert exposed == DAY_SECONDS
    assert watched.gauge.error_seconds == 0
    assert events(logged) == ["clock.database_wrong", "clock.right_again"]
    assert next(line for line in logged if "seconds" in line)["seconds"] == DAY_SECONDS


class Sweeper(PeriodicActor):
    """Records when it works."""

    job_type = "sweeping"
    period_seconds = SETTLING_SECONDS / 2

    def __init__(self, is_settled: Callable[[], bool]) -> None:
        super().__init__(
            database=cast("Database", None),
            metrics=cast("Metrics", Finished()),
            mailboxes=RecordedMailboxes(),
            is_settled=is_settled,
        )
        self.worked_at: list[float] = []

    async def work(self) -> None:
        self.worked_at.append(trio.current_time())


class Finished:
    """Takes what is measured."""

    def job_finished(self, job_type: str, seconds: float) -> None:
        assert (job_type, seconds) == ("sweeping", 0)


async def test_what_deletes_waits_until_the_time_is_settled(nursery: trio.Nursery, autojump_clock: object) -> None:
    watched = Watched()
    sweeper = Sweeper(watched.clock.is_settled)
    watched.clock.settled_at = trio.current_time() + SETTLING_SECONDS

    with capture_logs() as logged:
        keep_time(nursery, sweeper)
        await trio.sleep(SETTLING_SECONDS + 1)
    nursery.cancel_scope.cancel()

    assert events(logged) == ["job.waits_for_clock", "job.waits_for_clock"]
    assert sweeper.worked_at == [SETTLING_SECONDS]


async def test_while_the_database_is_away_the_last_good_time_goes_on_and_is_exposed(
    watched: Watched, autojump_clock: object
) -> None:
    watched.stored.is_away, watched.clock.error = True, DAY_SECONDS

    with capture_logs() as logged:
        await trio.sleep(5 * LOOK_SECONDS + 1)
        exposed = watched.gauge.error_seconds
        watched.stored.is_away = False
        await trio.sleep(LOOK_SECONDS)

    assert exposed == DAY_SECONDS
    assert len(watched.stored.asked_at) == 6
    assert events(logged) == ["clock.wrong"]

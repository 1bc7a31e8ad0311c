"""The pool: it closes connections that were idle, and those that are established after their event loop has ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NoReturn

import psycopg
import pytest
import trio
from outcome import Outcome

from adapters.postgres.driver.greenlets import run_in_greenlet
from adapters.postgres.driver.places import Share
from adapters.postgres.driver.pool import IDLE_SECONDS_MAX, NoConnection, Pool, PostgresPoolStatistics
from adapters.postgres.driver.timed_connection import TimedConnection
from tests.meeting import Meeting
from tests.postgres import CONNECTIONS_MAX, lent

LONG_SECONDS = 60.0
SHORT_SECONDS = 0.01


@pytest.fixture
def pool(database_url: str) -> Iterator[Pool]:
    """A pool of at most one connection."""
    pool = Pool(database_url, connections_max=1)
    yield pool
    pool.close()


class HeldConnection:
    """A connection attempt that waits until the test lets it continue, with its outcome."""

    def __init__(self, pool: Pool, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch
        self.connect: Callable[[], TimedConnection] = pool._connect
        self._may_connect = threading.Event()
        self._was_delivered = threading.Event()
        self.connection: TimedConnection | None = None
        self.failures: list[BaseException] = []
        start_thread = trio.lowlevel.start_thread_soon

        def start_watched_thread(connect: Callable[[], Any], deliver: Callable[[Outcome[Any]], object]) -> None:
            def deliver_watched(connected: Outcome[Any]) -> None:
                try:
                    deliver(connected)
                except BaseException as error:
                    self.failures.append(error)
                    raise
                finally:
                    self._was_delivered.set()

            start_thread(connect, deliver_watched)

        patch.setattr(pool, "_connect", self._connect_later)
        patch.setattr(trio.lowlevel, "start_thread_soon", start_watched_thread)

    def _connect_later(self) -> TimedConnection:
        assert self._may_connect.wait(LONG_SECONDS), "the test did not let the connection attempt continue"
        self.connection = self.connect()
        return self.connection

    def stop_holding(self) -> None:
        """Hold no further attempt."""
        self._patch.undo()

    def establish(self) -> None:
        """Let the attempt continue, and return when its outcome was delivered."""
        self._may_connect.set()
        assert self._was_delivered.wait(LONG_SECONDS), "the connection was not delivered"


@pytest.fixture
def held(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldConnection]:
    """The pool's first connection attempt, held back."""
    with monkeypatch.context() as patch:
        yield HeldConnection(pool, patch)


def run_statement(pool: Pool, seconds_max: float) -> tuple[Any, ...] | None:
    """Run a statement in an event loop of its own."""

    def run() -> tuple[Any, ...] | None:
        with lent(pool, seconds_max) as connection:
            return connection.execute("SELECT 1").fetchone()

    async def run_in_event_loop() -> tuple[Any, ...] | None:
        return await run_in_greenlet(run, places=pool.places.claim(Share("test")), wait_seconds_max=LONG_SECONDS)

    return trio.run(run_in_event_loop)


@pytest.mark.parametrize("is_established_first", [True, False], ids=["before the next", "after the next"])
def test_a_connection_that_is_established_after_its_event_loop_has_ended_is_closed(
    pool: Pool, held: HeldConnection, *, is_established_first: bool
) -> None:
    with pytest.raises(NoConnection):
        run_statement(pool, SHORT_SECONDS)
    held.stop_holding()

    if is_established_first:
        held.establish()
    answer = run_statement(pool, LONG_SECONDS)
    if not is_established_first:
        held.establish()

    assert held.failures == []
    assert held.connection is not None
    assert held.connection.closed
    assert answer == (1,)
    assert pool.statistics() == PostgresPoolStatistics(total=1, idle=1, maximum=1)


def test_an_attempt_that_fails_after_its_event_loop_has_ended_has_no_effect(pool: Pool, held: HeldConnection) -> None:
    held.connect = refuse
    with pytest.raises(NoConnection):
        run_statement(pool, SHORT_SECONDS)
    held.stop_holding()

    held.establish()

    assert held.failures == []
    assert run_statement(pool, LONG_SECONDS) == (1,)
    assert pool.statistics() == PostgresPoolStatistics(total=1, idle=1, maximum=1)


def refuse() -> NoReturn:
    """Fail to connect."""
    raise psycopg.OperationalError


async def test_connections_that_were_idle_for_long_are_closed_and_those_in_use_stay(database_url: str) -> None:
    pool, all_connected = Pool(database_url, connections_max=CONNECTIONS_MAX), Meeting(CONNECTIONS_MAX)

    def connect() -> None:
        with lent(pool, LONG_SECONDS):
            all_connected.wait()

    async with trio.open_nursery() as nursery:
        for number in range(CONNECTIONS_MAX):
            place = pool.places.claim(Share(number, is_sign_in=True))
            nursery.start_soon(partial(run_in_greenlet, connect, places=place, wait_seconds_max=LONG_SECONDS))
    pool.shrink()
    before = pool.statistics().total
    for pooled in pool._idle[:-1]:
        pooled.idle_since -= IDLE_SECONDS_MAX

    pool.shrink()

    after = pool.statistics().total
    pool.close()
    assert (before, after) == (CONNECTIONS_MAX, 1)

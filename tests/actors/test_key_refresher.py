"""The refresher: every replica knows the keys of a rotation in time, and strangers cannot make it ask more often."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.key_refresher import CATCH_UP_SECONDS_MAX, PAUSE_SECONDS, PERIOD_SECONDS, KeyRefresher
from core.errors import DatabaseFailed, ServiceUnavailable
from core.secrets import Secret
from core.sessions.signing_keys import KeyState, SigningKey, published

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ports.database import Database


def key(kid: str) -> SigningKey:
    return SigningKey(
        kid=kid,
        state=KeyState.ACTIVE,
        public_pem="",
        private_pem=Secret(""),
        created_at=datetime(2026, 2, 3, tzinfo=UTC),
    )


class StoredKeys:
    """A database that holds only keys, and remembers when it was asked for them."""

    def __init__(self) -> None:
        self.keys: tuple[SigningKey, ...] = (key("first"),)
        self.failure: Exception | None = None
        self.answer_seconds = 0.0
        self.asked_at: list[float] = []

    async def read(self, use_case: object) -> tuple[SigningKey, ...]:
        assert use_case is published
        self.asked_at.append(trio.current_time())
        # What it answers is what was there when the question came.
        answer, failure = self.keys, self.failure
        await trio.sleep(self.answer_seconds)
        if failure is not None:
            raise failure
        return answer


class Ring:
    """A key ring that remembers what it was loaded with."""

    def __init__(self) -> None:
        self.kids: list[str] = []
        self.loads = 0

    def load(self, keys: Sequence[SigningKey]) -> None:
        self.kids = [key.kid for key in keys]
        self.loads += 1


# Every test names the clock itself, because pytest-trio looks for one among the arguments of the test alone.


@pytest.fixture
def stored() -> StoredKeys:
    return StoredKeys()


@pytest.fixture
def ring() -> Ring:
    return Ring()


@pytest.fixture
def refresher(stored: StoredKeys, ring: Ring) -> KeyRefresher:
    return KeyRefresher(cast("Database", cast("Any", stored)), ring)


@pytest.fixture
async def running(refresher: KeyRefresher, nursery: trio.Nursery) -> KeyRefresher:
    """A refresher that has looked once and is in its pause."""
    nursery.start_soon(refresher.run)
    await wait_all_tasks_blocked()
    return refresher


async def test_a_start_that_must_have_keys_gets_them_or_fails(
    refresher: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    await refresher.refresh()

    assert ring.kids == ["first"]
    stored.failure = ServiceUnavailable(retry_after_seconds=1)
    with pytest.raises(ServiceUnavailable):
        await refresher.refresh()


async def test_it_looks_at_once_and_then_every_period(
    running: KeyRefresher, stored: StoredKeys, autojump_clock: MockClock
) -> None:
    started_at = stored.asked_at[0]

    await trio.sleep(3 * PERIOD_SECONDS + 1)

    assert [moment - started_at for moment in stored.asked_at] == pytest.approx(
        [0, PERIOD_SECONDS, 2 * PERIOD_SECONDS, 3 * PERIOD_SECONDS]
    )


async def test_keys_that_another_replica_rotated_in_are_known_after_a_period(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    stored.keys = (key("first"), key("second"))

    await trio.sleep(PERIOD_SECONDS + 1)

    assert ring.kids == ["first", "second"]


async def test_a_request_is_answered_sooner_than_the_period(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    await trio.sleep(PERIOD_SECONDS / 2)
    stored.keys = (key("second"),)

    running.request_refresh()
    await trio.sleep(0.1)

    assert ring.kids == ["second"]


async def test_however_often_strangers_ask_it_looks_once_in_each_pause(
    running: KeyRefresher, stored: StoredKeys, autojump_clock: MockClock
) -> None:
    looks_before = len(stored.asked_at)

    for _ in range(40):
        running.request_refresh()
        await trio.sleep(PAUSE_SECONDS / 10)

    assert len(stored.asked_at) - looks_before == pytest.approx(4, abs=1)


async def test_requests_of_long_ago_are_not_answered_twice(
    running: KeyRefresher, stored: StoredKeys, autojump_clock: MockClock
) -> None:
    running.request_refresh()
    running.request_refresh()
    await trio.sleep(PERIOD_SECONDS - 1)

    assert len(stored.asked_at) == 2


async def test_who_catches_up_knows_what_was_stored_before_they_asked(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    await trio.sleep(PAUSE_SECONDS / 2)
    stored.keys = (key("second"),)
    asked_at = trio.current_time()

    await running.catch_up()

    assert ring.kids == ["second"]
    assert trio.current_time() - asked_at <= PAUSE_SECONDS


async def test_who_catches_up_while_a_look_is_under_way_waits_for_the_next_one(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    await trio.sleep(2 * PAUSE_SECONDS)
    stored.answer_seconds = 0.5
    running.request_refresh()
    await trio.sleep(0.25)
    stored.keys = (key("second"),)

    await running.catch_up()

    assert ring.kids == ["second"]


async def test_many_who_catch_up_share_one_look(
    running: KeyRefresher, stored: StoredKeys, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await trio.sleep(2 * PAUSE_SECONDS)
    looks_before = len(stored.asked_at)

    async with trio.open_nursery() as together:
        for _ in range(50):
            together.start_soon(running.catch_up)

    assert len(stored.asked_at) - looks_before == 1


async def test_who_catches_up_gives_up_in_time_when_nobody_looks(
    refresher: KeyRefresher, autojump_clock: MockClock
) -> None:
    asked_at = trio.current_time()

    await refresher.catch_up()

    assert trio.current_time() - asked_at == pytest.approx(CATCH_UP_SECONDS_MAX)


async def test_while_the_database_is_away_the_keys_stay_and_one_line_says_so(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    stored.failure = ServiceUnavailable(retry_after_seconds=1)

    with capture_logs() as lines:
        await trio.sleep(5 * PERIOD_SECONDS)

    assert ring.kids == ["first"]
    assert ring.loads == 1
    assert [(line["event"], line["log_level"]) for line in lines] == [("signing_keys.not_refreshed", "warning")]


async def test_when_the_database_is_back_the_keys_are_known_after_a_period(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    stored.failure = ServiceUnavailable(retry_after_seconds=1)
    await trio.sleep(5 * PERIOD_SECONDS)
    stored.failure = None
    stored.keys = (key("second"),)

    await trio.sleep(PERIOD_SECONDS + 1)

    assert ring.kids == ["second"]


async def test_any_other_failure_is_left_to_the_supervisor_and_a_restart_goes_on(
    refresher: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    stored.failure = DatabaseFailed()
    with pytest.raises(DatabaseFailed):
        await refresher.run()
    stored.failure = None

    nursery.start_soon(refresher.run)
    await refresher.catch_up()

    assert ring.kids == ["first"]

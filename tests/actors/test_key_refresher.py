"""The key refresher: each replica loads rotated keys in time, and frequent requests cause no additional reads."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.key_refresher import CATCH_UP_SECONDS_MAX, PAUSE_SECONDS, PERIOD_SECONDS, KeyRefresher
from core.errors import DatabaseFailed, ServiceUnavailable
from core.secrets import Secret
from core.sessions.signing_keys import KeyState, SigningKey, published
from ports.database import Database
from tests.mailboxes import keep_time


def key(kid: str) -> SigningKey:
    return SigningKey(
        kid=kid,
        state=KeyState.ACTIVE,
        public_pem="",
        private_pem=Secret(""),
        created_at=datetime(2026, 2, 3, tzinfo=UTC),
    )


class StoredKeys:
    """A fake database of signing keys that records when they were read."""

    def __init__(self) -> None:
        self.keys: tuple[SigningKey, ...] = (key("first"),)
        self.failure: Exception | None = None
        self.read_seconds = 0.0
        self.read_at: list[float] = []

    async def read(self, use_case: object) -> tuple[SigningKey, ...]:
        assert use_case is published
        self.read_at.append(trio.current_time())
        # The result is what was stored when the read began.
        answer, failure = self.keys, self.failure
        await trio.sleep(self.read_seconds)
        if failure is not None:
            raise failure
        return answer


class Ring:
    """A key ring that records what was loaded into it."""

    def __init__(self) -> None:
        self.kids: list[str] = []
        self.loads = 0

    def load(self, keys: Sequence[SigningKey]) -> None:
        self.kids = [key.kid for key in keys]
        self.loads += 1


# Every test takes the clock as an argument, because pytest-trio finds a clock only among a test's own arguments.


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
    """A refresher that has read once and is pausing."""
    keep_time(nursery, refresher)
    await wait_all_tasks_blocked()
    return refresher


async def test_refresh_loads_the_keys_or_raises(
    refresher: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    await refresher.refresh()

    assert ring.kids == ["first"]
    stored.failure = ServiceUnavailable(retry_after_seconds=1)
    with pytest.raises(ServiceUnavailable):
        await refresher.refresh()


async def test_it_reads_at_the_start_and_then_every_period(
    running: KeyRefresher, stored: StoredKeys, autojump_clock: MockClock
) -> None:
    started_at = stored.read_at[0]

    await trio.sleep(3 * PERIOD_SECONDS + 1)

    assert [moment - started_at for moment in stored.read_at] == pytest.approx(
        [0, PERIOD_SECONDS, 2 * PERIOD_SECONDS, 3 * PERIOD_SECONDS]
    )


async def test_keys_rotated_by_another_replica_are_loaded_after_a_period(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    stored.keys = (key("first"), key("second"))

    await trio.sleep(PERIOD_SECONDS + 1)

    assert ring.kids == ["first", "second"]


async def test_a_requested_refresh_happens_before_the_period_ends(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    await trio.sleep(PERIOD_SECONDS / 2)
    stored.keys = (key("second"),)

    running.request_refresh()
    await trio.sleep(0.1)

    assert ring.kids == ["second"]


async def test_frequent_requests_cause_one_read_per_pause(
    running: KeyRefresher, stored: StoredKeys, autojump_clock: MockClock
) -> None:
    reads_before = len(stored.read_at)

    for _ in range(40):
        running.request_refresh()
        await trio.sleep(PAUSE_SECONDS / 10)

    assert len(stored.read_at) - reads_before == pytest.approx(4, abs=1)


async def test_several_requests_cause_one_read(
    running: KeyRefresher, stored: StoredKeys, autojump_clock: MockClock
) -> None:
    running.request_refresh()
    running.request_refresh()
    await trio.sleep(PERIOD_SECONDS - 1)

    assert len(stored.read_at) == 2


async def test_catching_up_loads_what_was_stored_before_the_call(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    await trio.sleep(PAUSE_SECONDS / 2)
    stored.keys = (key("second"),)
    began_at = trio.current_time()

    await running.catch_up()

    assert ring.kids == ["second"]
    assert trio.current_time() - began_at <= PAUSE_SECONDS


async def test_catching_up_during_a_read_waits_for_the_next_read(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    await trio.sleep(2 * PAUSE_SECONDS)
    stored.read_seconds = 0.5
    running.request_refresh()
    await trio.sleep(0.25)
    stored.keys = (key("second"),)

    await running.catch_up()

    assert ring.kids == ["second"]


async def test_concurrent_calls_to_catch_up_share_one_read(
    running: KeyRefresher, stored: StoredKeys, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    await trio.sleep(2 * PAUSE_SECONDS)
    reads_before = len(stored.read_at)

    async with trio.open_nursery() as together:
        for _ in range(50):
            together.start_soon(running.catch_up)

    assert len(stored.read_at) - reads_before == 1


async def test_catching_up_returns_at_its_deadline_when_no_refresher_runs(
    refresher: KeyRefresher, autojump_clock: MockClock
) -> None:
    began_at = trio.current_time()

    await refresher.catch_up()

    assert trio.current_time() - began_at == pytest.approx(CATCH_UP_SECONDS_MAX)


async def test_while_the_database_is_unavailable_the_keys_stay_and_one_warning_is_logged(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    stored.failure = ServiceUnavailable(retry_after_seconds=1)

    with capture_logs() as lines:
        await trio.sleep(5 * PERIOD_SECONDS)

    assert ring.kids == ["first"]
    assert ring.loads == 1
    told = [(line["event"], line["log_level"]) for line in lines if line["event"] != "actor.told"]
    assert told == [("signing_keys.not_refreshed", "warning")]


async def test_when_the_database_is_back_the_keys_are_loaded_after_a_period(
    running: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock
) -> None:
    stored.failure = ServiceUnavailable(retry_after_seconds=1)
    await trio.sleep(5 * PERIOD_SECONDS)
    stored.failure = None
    stored.keys = (key("second"),)

    await trio.sleep(PERIOD_SECONDS + 1)

    assert ring.kids == ["second"]


async def test_any_other_failure_propagates_and_a_restarted_refresher_works(
    refresher: KeyRefresher, stored: StoredKeys, ring: Ring, autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    stored.failure = DatabaseFailed()
    with pytest.raises(DatabaseFailed):
        await refresher.run()
    stored.failure = None

    keep_time(nursery, refresher)
    await refresher.catch_up()

    assert ring.kids == ["first"]

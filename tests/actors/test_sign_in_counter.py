"""The sign-in counter: it counts sign-ins in advance, in batches, and forgets who was active when."""

from __future__ import annotations

from typing import Any, cast

import pytest
import trio
from trio.testing import MockClock

from actors.batch_sizes import TRANSACTION_SECONDS_AIM
from actors.counters import BATCH_SIGN_INS_MAX, FORGETTING_SECONDS, PAUSE_SECONDS, SignInCounter
from adapters.prometheus import PrometheusMetrics
from core.audit.sign_in_counts import count_next, forget_days
from ports.database import Database
from tests.mailboxes import RecordedMailboxes, let_work


class FakeDatabase:
    """A fake database of sign-ins that records when they were counted, and when days were forgotten."""

    def __init__(self, sign_ins: int, *, seconds: float = 0.0) -> None:
        self.sign_ins = sign_ins
        self.limits: list[int] = []
        self._seconds = seconds
        self.counted_at: list[float] = []
        self.forgotten_at: list[float] = []

    async def transact(self, use_case: object, limit: int) -> int:
        await trio.lowlevel.checkpoint()
        if use_case is forget_days:
            self.forgotten_at.append(trio.current_time())
            return 0
        assert use_case is count_next
        self.counted_at.append(trio.current_time())
        self.limits.append(limit)
        await trio.sleep(self._seconds)
        counted = min(self.sign_ins, limit)
        self.sign_ins -= counted
        return counted


async def test_it_counts_in_batches_with_pauses_and_again_at_the_next_message(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, began_at = FakeDatabase(BATCH_SIGN_INS_MAX + 7), trio.current_time()
    metrics = PrometheusMetrics(version="1.2.3")
    counter = SignInCounter(
        database=cast("Database", cast("Any", database)), metrics=metrics, mailboxes=RecordedMailboxes()
    )
    nursery.start_soon(counter.run)

    await let_work(counter)
    await let_work(counter)

    counted = [moment - began_at for moment in database.counted_at]
    assert counted[:2] == pytest.approx([0, PAUSE_SECONDS])
    assert len(counted) == 3
    assert database.sign_ins == 0


async def test_days_are_forgotten_at_the_start_and_then_once_an_hour(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database = FakeDatabase(0)
    metrics = PrometheusMetrics(version="1.2.3")
    counter = SignInCounter(
        database=cast("Database", cast("Any", database)), metrics=metrics, mailboxes=RecordedMailboxes()
    )
    nursery.start_soon(counter.run)

    for _ in range(3):
        await let_work(counter)
    within = len(database.forgotten_at)
    autojump_clock.jump(FORGETTING_SECONDS)
    await let_work(counter)

    assert (within, len(database.forgotten_at), len(database.counted_at)) == (1, 2, 4)


async def test_a_batch_that_takes_long_is_followed_by_a_smaller_one(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database = FakeDatabase(3 * BATCH_SIGN_INS_MAX, seconds=2 * TRANSACTION_SECONDS_AIM)
    metrics = PrometheusMetrics(version="1.2.3")
    counter = SignInCounter(
        database=cast("Database", cast("Any", database)), metrics=metrics, mailboxes=RecordedMailboxes()
    )
    nursery.start_soon(counter.run)

    await let_work(counter)

    assert database.limits[:3] == [BATCH_SIGN_INS_MAX, BATCH_SIGN_INS_MAX // 2, BATCH_SIGN_INS_MAX // 4]
    assert database.sign_ins == 0

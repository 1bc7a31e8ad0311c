"""The sweeper of customers works off all that waits when a message tells it to."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

import trio
from trio.testing import MockClock

from actors.customer_sweeper import CustomerSweeper
from adapters.prometheus import PrometheusMetrics
from core.customers.people_events import BATCH_PEOPLE_MAX, PublishedBatch, publish_batch
from core.sessions.customer_endings import BATCH_SESSIONS_MAX, recheck
from ports.database import Database
from tests.mailboxes import RecordedMailboxes, let_work


class FakeDatabase:
    """A fake database in which so many batches of sessions and of events about people wait."""

    def __init__(self, waiting: int, news: int = 0) -> None:
        self.waiting = waiting
        self.news = news
        self.taken: list[float] = []
        self.turns: list[UUID | None] = []

    async def transact(self, use_case: object, *arguments: Any) -> int | PublishedBatch:
        await trio.lowlevel.checkpoint()
        if use_case is publish_batch:
            people_max, last_turn = arguments
            assert people_max == BATCH_PEOPLE_MAX
            self.turns.append(last_turn)
            self.news -= 1
            return PublishedBatch(has_more=self.news >= 0, last_turn=UUID(int=len(self.turns)))
        assert (use_case, arguments) == (recheck, (BATCH_SESSIONS_MAX,))
        self.taken.append(trio.current_time())
        self.waiting -= 1
        return int(self.waiting >= 0)


async def test_all_that_waits_is_worked_off_at_every_message_and_measured(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, metrics = FakeDatabase(3), PrometheusMetrics(version="1.2.3")
    sweeper = _sweeper(database, metrics)
    nursery.start_soon(sweeper.run)

    await let_work(sweeper)
    at_once = len(database.taken)
    await let_work(sweeper)

    assert (at_once, len(database.taken), len(database.turns)) == (4, 5, 2)
    assert f'{{job_type="{CustomerSweeper.job_type}"}} 2.0' in metrics.exposition().decode()


async def test_the_news_of_organizations_go_on_after_the_last_turn(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database = FakeDatabase(0, news=2)
    sweeper = _sweeper(database, PrometheusMetrics(version="1.2.3"))
    nursery.start_soon(sweeper.run)

    await let_work(sweeper)
    at_once = list(database.turns)
    await let_work(sweeper)

    assert at_once == [None, UUID(int=1), UUID(int=2)]
    assert database.turns == [*at_once, UUID(int=3)]


def _sweeper(database: FakeDatabase, metrics: PrometheusMetrics) -> CustomerSweeper:
    return CustomerSweeper(
        database=cast("Database", cast("Any", database)), metrics=metrics, mailboxes=RecordedMailboxes()
    )

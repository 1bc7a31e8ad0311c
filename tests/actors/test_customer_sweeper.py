"""The sweeper of customers: it works off all that waits, when it is rung for and every period."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

import trio
from trio.testing import MockClock

from actors.customer_sweeper import JOB_TYPE, PERIOD_SECONDS, CustomerSweeper
from actors.doorbells import MemoryDoorbells
from adapters.prometheus import PrometheusMetrics
from core.customers.people_news import BATCH_PEOPLE_MAX, Told, tell
from core.sessions.customer_endings import BATCH_SESSIONS_MAX, recheck
from ports.database import Database
from ports.doorbells import Bell


class FakeDatabase:
    """A fake database in which so many batches of sessions and of news wait."""

    def __init__(self, waiting: int, news: int = 0) -> None:
        self.waiting = waiting
        self.news = news
        self.taken: list[float] = []
        self.turns: list[UUID | None] = []

    async def transact(self, use_case: object, *arguments: Any) -> int | Told:
        await trio.lowlevel.checkpoint()
        if use_case is tell:
            people_max, last_turn = arguments
            assert people_max == BATCH_PEOPLE_MAX
            self.turns.append(last_turn)
            self.news -= 1
            return Told(has_more=self.news >= 0, last_turn=UUID(int=len(self.turns)))
        assert (use_case, arguments) == (recheck, (BATCH_SESSIONS_MAX,))
        self.taken.append(trio.current_time())
        self.waiting -= 1
        return int(self.waiting >= 0)


async def test_all_that_waits_is_worked_off_every_period_and_measured(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, metrics = FakeDatabase(3), PrometheusMetrics(version="1.2.3")
    nursery.start_soon(_sweeper(database, MemoryDoorbells(), metrics).run)

    await trio.sleep(PERIOD_SECONDS / 2)
    at_once = len(database.taken)
    await trio.sleep(PERIOD_SECONDS)

    assert (at_once, len(database.taken), len(database.turns)) == (4, 5, 2)
    assert f'{{job_type="{JOB_TYPE}"}} 2.0' in metrics.exposition().decode()


async def test_the_news_of_organizations_go_on_after_the_last_turn(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database = FakeDatabase(0, news=2)
    nursery.start_soon(_sweeper(database, MemoryDoorbells(), PrometheusMetrics(version="1.2.3")).run)

    await trio.sleep(PERIOD_SECONDS / 2)
    at_once = list(database.turns)
    await trio.sleep(PERIOD_SECONDS)

    assert at_once == [None, UUID(int=1), UUID(int=2)]
    assert database.turns == [*at_once, UUID(int=3)]


async def test_while_the_bells_are_answered_for_it_works_when_it_is_rung_for_alone(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    database, doorbells = FakeDatabase(0), MemoryDoorbells()
    nursery.start_soon(_sweeper(database, doorbells, PrometheusMetrics(version="1.2.3")).run)
    doorbells.answer_for(is_answered=True)

    await trio.sleep(3 * PERIOD_SECONDS)
    unrung = len(database.taken)
    database.waiting = 2
    doorbells.ring(Bell.CUSTOMER_SESSIONS)
    await trio.sleep(PERIOD_SECONDS / 2)

    assert (unrung, len(database.taken)) == (1, 4)


def _sweeper(database: FakeDatabase, doorbells: MemoryDoorbells, metrics: PrometheusMetrics) -> CustomerSweeper:
    return CustomerSweeper(database=cast("Database", cast("Any", database)), metrics=metrics, doorbells=doorbells)

"""The sequencer and the dispatcher: outages, stopping, metrics, and waiting readers of the feed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import structlog
import trio

from actors import event_sequencer, webhook_dispatcher
from actors.dispatching import DELIVERIES_AT_ONCE_MAX, RECORD_SECONDS_MAX
from actors.doorbells import MemoryDoorbells
from actors.event_sequencer import EventSequencer
from actors.feed_waiters import MemoryFeedWaiters
from actors.webhook_dispatcher import WebhookDispatcher
from adapters.gateways.attempts import ATTEMPT_SECONDS_MAX
from core.attempts import LEASE, ORGANIZATION_TARGETS_MAX
from core.errors import ServiceUnavailable
from tests.actors.webhooks.simulation import EPOCH, PERIOD_SECONDS, Simulation
from tests.postgres import connected

if TYPE_CHECKING:
    from collections.abc import Callable

    from trio.testing import MockClock

    from adapters.postgres.database import PostgresDatabase


class FailingDatabase:
    """A database that is away for some calls of a use case."""

    def __init__(self, simulation: Simulation, database: PostgresDatabase) -> None:
        self.outages: dict[str, int] = {}
        self.calls: list[str] = []
        self._simulation = simulation
        self._database = database

    async def transact(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        name: str = getattr(use_case, "func", use_case).__name__
        self.calls.append(name)
        if self.outages.get(name, 0) > 0:
            self.outages[name] -= 1
            raise ServiceUnavailable(retry_after_seconds=1)
        async with self._simulation.standing_still:
            return await self._database.transact(use_case, *args, **kwargs)


class Process:
    """The actors of one process, on a database that can be away."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.doorbells = MemoryDoorbells()
        self.waiters = MemoryFeedWaiters()
        self.database = FailingDatabase(simulation, replace(simulation.database, doorbells=self.doorbells))
        database: Any = self.database
        self.sequencer = EventSequencer(
            database=database, doorbells=self.doorbells, waiters=self.waiters, metrics=simulation.metrics
        )
        self.dispatcher = WebhookDispatcher(
            database=database,
            doorbells=self.doorbells,
            sender=simulation,
            metrics=simulation.metrics,
            clock=lambda: EPOCH + timedelta(seconds=simulation.now),
        )

    async def start(self, nursery: trio.Nursery) -> None:
        """Start both actors."""
        nursery.start_soon(self.sequencer.run)
        nursery.start_soon(self.dispatcher.run)

    @property
    def metrics(self) -> str:
        """The exposition of the metrics."""
        return self.simulation.metrics.exposition().decode()


def statuses(simulation: Simulation) -> list[tuple[bool, int]]:
    """Return whether each delivery has arrived, and the number of its recorded attempts."""
    rows = simulation.connection.execute("SELECT delivered, attempt_count FROM webhook_deliveries ORDER BY id")
    return [(delivered, attempts) for delivered, attempts in rows.fetchall()]


async def test_an_outage_while_an_outcome_is_recorded_does_not_send_again(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    simulation.organization("acme", only="good")
    process = Process(simulation)
    process.database.outages["record"] = 5
    await simulation.publish("acme", "a")

    await process.start(nursery)
    await trio.sleep(2 * LEASE.total_seconds())

    assert (len(simulation.sent), statuses(simulation)) == (1, [(True, 1)])


async def test_an_outcome_that_cannot_be_recorded_is_followed_by_the_same_attempt_after_the_lease(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    simulation.organization("acme", only="good")
    process = Process(simulation)
    process.database.outages |= {"record": 30, "release": 30}
    await simulation.publish("acme", "a")

    with structlog.testing.capture_logs() as lines:
        await process.start(nursery)
        await trio.sleep(LEASE.total_seconds() - 1)
        process.database.outages.clear()
        await trio.sleep(LEASE.total_seconds())

    assert [(sent.attempt, sent.message_id) for sent in simulation.sent] == [
        (1, simulation.sent[0].message_id),
        (1, simulation.sent[0].message_id),
    ]
    assert statuses(simulation) == [(True, 1)]
    assert "dispatcher.not_recorded" in [line["event"] for line in lines]


async def test_the_actors_wait_for_a_database_that_is_away_and_log_it_once_each(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    simulation.organization("acme", only="good")
    process = Process(simulation)
    process.database.outages |= {"lease": 4, "hand_on": 1}
    await simulation.publish("acme", "a")

    with structlog.testing.capture_logs() as lines:
        await process.start(nursery)
        await trio.sleep(10 * PERIOD_SECONDS)

    assert statuses(simulation) == [(True, 1)]
    logged = [line["event"] for line in lines]
    assert (logged.count("dispatcher.database_away"), logged.count("job.postponed")) == (1, 1)


def test_a_lease_is_longer_than_an_attempt_and_both_records() -> None:
    assert LEASE.total_seconds() > ATTEMPT_SECONDS_MAX + 2 * RECORD_SECONDS_MAX


async def test_draining_finishes_the_attempts_in_flight_and_leases_no_more(
    simulation: Simulation, autojump_clock: MockClock
) -> None:
    simulation.organization("acme", only="cutting")
    process = Process(simulation)
    await simulation.publish("acme", *"abcdefghijkl")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(process.sequencer.run)
        await trio.sleep(1)
        with trio.fail_after(ATTEMPT_SECONDS_MAX + 1):
            async with trio.open_nursery() as dispatching:
                dispatching.start_soon(process.dispatcher.run)
                await trio.sleep(0.05)
                process.dispatcher.drain()
        nursery.cancel_scope.cancel()

    assert len(simulation.sent) == DELIVERIES_AT_ONCE_MAX
    assert sorted(statuses(simulation)) == [(False, 0)] * 4 + [(True, 1)] * 8


async def test_at_most_eight_deliveries_go_to_one_receiver_and_64_webhooks_are_served_at_once(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    for number in range(12):
        simulation.organization(f"org-{number}", **{f"r{number}-{n}": "dead" for n in range(10)})
        await simulation.publish(f"org-{number}", *(f"{number} {n}" for n in range(10)))
    process = Process(simulation)
    await process.start(nursery)
    await trio.sleep(10)

    rows = simulation.connection.execute(
        "SELECT organization_id, count(*) FROM webhook_queues WHERE leased_until IS NOT NULL GROUP BY 1"
    ).fetchall()

    assert sum(count for _, count in rows) == webhook_dispatcher.WEBHOOKS_AT_ONCE_MAX
    assert max(count for _, count in rows) <= ORGANIZATION_TARGETS_MAX
    await trio.sleep(ATTEMPT_SECONDS_MAX - 5)
    assert len(simulation.sent) == 64 * DELIVERIES_AT_ONCE_MAX


async def test_latency_and_durations_are_measured(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    simulation.organization("acme", good="good", bad="failing")
    process = Process(simulation)
    await trio.sleep(1)
    await simulation.publish("acme", "a")

    await process.start(nursery)
    await trio.sleep(5)

    assert "sso_webhook_delivery_latency_seconds_count 1.0" in process.metrics
    assert (
        f'sso_job_processing_duration_seconds_count{{job_type="{webhook_dispatcher.JOB_TYPE}"}} 2.0' in process.metrics
    )
    assert f'job_type="{event_sequencer.JOB_TYPE}"' in process.metrics


async def test_the_sequencer_wakes_the_readers_who_wait(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    simulation.organization("acme")
    process = Process(simulation)
    nursery.start_soon(process.sequencer.run)
    woken_at: list[float] = []

    async def wait() -> None:
        await process.waiters.wait(100)
        woken_at.append(trio.current_time())

    await trio.sleep(1)
    nursery.start_soon(wait)
    await trio.sleep(1)
    assert woken_at == []
    await simulation.publish("acme", "a")
    await trio.sleep(PERIOD_SECONDS)

    assert len(woken_at) == 1


async def test_a_sequencer_beside_a_busy_one_hands_on_what_came_too_late_for_it(
    simulation: Simulation, nursery: trio.Nursery, database_url: str, autojump_clock: MockClock
) -> None:
    simulation.organization("acme")
    process = Process(simulation)
    await simulation.publish("acme", "a")
    with connected(database_url) as other, other.transaction():
        other.execute("SELECT FROM event_sequencing FOR UPDATE")
        nursery.start_soon(process.sequencer.run)
        await trio.sleep(1)
        assert process.database.calls.count("hand_on") > 1
    await trio.sleep(1)

    assert simulation.connection.execute("SELECT position FROM events").fetchall() == [(1,)]


async def test_a_reader_who_waits_too_long_gives_up(autojump_clock: MockClock) -> None:
    began_at = trio.current_time()

    await MemoryFeedWaiters().wait(3)

    assert trio.current_time() - began_at == 3

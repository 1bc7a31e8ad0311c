"""The sequencer and the dispatcher: outages, stopping, metrics, and waiting readers of the feed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import structlog
import trio
from trio.testing import MockClock

from actors import event_sequencer, webhook_dispatcher
from actors.dispatching import DELIVERIES_AT_ONCE_MAX, RECORD_SECONDS_MAX
from actors.event_sequencer import EventSequencer, MemoryFeedWaiters
from actors.webhook_dispatcher import WebhookDispatcher
from adapters.gateways.attempts import ATTEMPT_SECONDS_MAX
from adapters.postgres.database import PostgresDatabase
from core.attempts import LEASE, ORGANIZATION_TARGETS_MAX
from core.errors import ServiceUnavailable
from core.webhooks import sequencing
from ports.mailboxes import Drain, Due
from tests.actors.webhooks.simulation import EPOCH, PERIOD_SECONDS, Simulation
from tests.mailboxes import LocalMailboxes, keep_time, let_work, start
from tests.postgres import connected


class FailingDatabase:
    """A database that is away for some calls of a use case."""

    def __init__(self, database: PostgresDatabase) -> None:
        self.outages: dict[str, int] = {}
        self.calls: list[str] = []
        self.arguments: list[tuple[str, tuple[Any, ...]]] = []
        self._database = database

    async def transact(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        name: str = getattr(use_case, "func", use_case).__name__
        self.calls.append(name)
        self.arguments.append((name, args))
        if self.outages.get(name, 0) > 0:
            self.outages[name] -= 1
            raise ServiceUnavailable(retry_after_seconds=1)
        return await self._database.transact(use_case, *args, **kwargs)


class Process:
    """The actors of one process, on a database that can be away."""

    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.mailboxes = LocalMailboxes()
        self.waiters = MemoryFeedWaiters()
        self.database = FailingDatabase(replace(simulation.database, mailboxes=self.mailboxes))
        database: Any = self.database
        self.sequencer = EventSequencer(
            database=database, mailboxes=self.mailboxes, waiters=self.waiters, metrics=simulation.metrics
        )
        self.dispatcher = WebhookDispatcher(
            database=database,
            mailboxes=self.mailboxes,
            sender=simulation,
            metrics=simulation.metrics,
            clock=lambda: EPOCH + timedelta(seconds=simulation.now),
        )

        self.mailboxes.boxes |= {box.work: box for box in (self.sequencer.box, self.dispatcher.box)}

    def start(self, nursery: trio.Nursery) -> None:
        """Start both actors."""
        start(nursery, self.sequencer, self.dispatcher)

    async def work_for(self, seconds: float) -> None:
        """Tell both actors ten times in this time that something may be due, as the poller does while something is."""
        for _ in range(10):
            self.sequencer.box.send(Due())
            self.dispatcher.box.send(Due())
            await trio.sleep(seconds / 10)

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

    process.start(nursery)
    await process.work_for(2 * LEASE.total_seconds())

    assert (len(simulation.sent), statuses(simulation)) == (1, [(True, 1)])


async def test_an_outcome_that_cannot_be_recorded_is_followed_by_the_same_attempt_after_the_lease(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    simulation.organization("acme", only="good")
    process = Process(simulation)
    process.database.outages |= {"record": 30, "release": 30}
    await simulation.publish("acme", "a")

    with structlog.testing.capture_logs() as lines:
        process.start(nursery)
        await process.work_for(LEASE.total_seconds() - 1)
        process.database.outages.clear()
        await process.work_for(LEASE.total_seconds())

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
    process.database.outages |= {"lease": 4, "assign_positions": 1}
    await simulation.publish("acme", "a")

    with structlog.testing.capture_logs() as lines:
        process.start(nursery)
        await process.work_for(10)

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
        start(nursery, process.sequencer)
        await trio.sleep(1)
        with trio.fail_after(ATTEMPT_SECONDS_MAX + 1):
            async with trio.open_nursery() as dispatching:
                dispatching.start_soon(process.dispatcher.run)
                await trio.sleep(0.05)
                process.dispatcher.box.send(Drain())
        nursery.cancel_scope.cancel()

    assert len(simulation.sent) == 1
    assert sorted(statuses(simulation)) == [(False, 0)] * 11 + [(True, 1)]


async def test_receivers_that_hang_get_one_delivery_at_a_time_and_so_many_webhooks_are_served_at_once(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    at_once_max = webhook_dispatcher.WEBHOOKS_AT_ONCE_MAX + webhook_dispatcher.SLOW_WEBHOOKS_AT_ONCE_MAX
    for number in range(at_once_max // ORGANIZATION_TARGETS_MAX + 2):
        simulation.organization(f"org-{number}", **{f"r{number}-{n}": "dead" for n in range(10)})
        await simulation.publish(f"org-{number}", *(f"{number} {n}" for n in range(10)))
    process = Process(simulation)
    start(nursery, process.sequencer)
    await trio.sleep(PERIOD_SECONDS)
    began_at = simulation.now
    nursery.start_soon(process.dispatcher.run)
    await trio.sleep(10)

    rows = simulation.connection.execute(
        "SELECT organization_id, count(*) FROM webhook_queues WHERE leased_until IS NOT NULL GROUP BY 1"
    ).fetchall()

    assert sum(count for _, count in rows) == at_once_max
    assert max(count for _, count in rows) <= ORGANIZATION_TARGETS_MAX
    await trio.sleep(ATTEMPT_SECONDS_MAX - 1)
    first = [sent for sent in simulation.sent if sent.at < began_at + ATTEMPT_SECONDS_MAX]
    assert len(first) == at_once_max


async def test_160_receivers_that_hang_delay_the_delivery_of_another_organization_by_less_than_two_seconds(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    for number in range(20):
        simulation.organization(f"org-{number}", **{f"r{number}-{n}": "dead" for n in range(8)})
        await simulation.publish(f"org-{number}", *(f"{number} {n}" for n in range(20)))
    simulation.organization("acme", only="good")
    process = Process(simulation)
    process.start(nursery)

    delays: list[float] = []
    # At the beginning, and when all of them have just failed and are leased again.
    for at in (0.1, ATTEMPT_SECONDS_MAX + 0.01, 2 * ATTEMPT_SECONDS_MAX + 0.01):
        await trio.sleep(at - simulation.now)
        await simulation.publish("acme", str(at))
        process.sequencer.box.send(Due())
        await process.work_for(3)
        delays += [sent.at - at for sent in simulation.sent if sent.body["data"]["name"] == str(at)]

    assert len(delays) == 3
    assert max(delays) < 2


async def test_a_batch_that_fails_is_halved_until_it_succeeds_and_grows_again(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    simulation.organization("acme", only="good")
    process = Process(simulation)
    process.database.outages["assign_positions"] = 3
    await simulation.publish("acme", *(str(number) for number in range(2 * event_sequencer.BATCH_ROWS_MAX)))

    process.start(nursery)
    await process.work_for(100)

    sizes = [args[0] for name, args in process.database.arguments if name == "assign_positions"]
    halves = [event_sequencer.BATCH_ROWS_MAX >> failures for failures in range(4)]
    assert sizes[:4] == halves
    assert halves[-1] < sizes[4] <= sizes[5] <= event_sequencer.BATCH_ROWS_MAX
    assert simulation.open_deliveries() == 0


async def test_a_webhook_with_more_deliveries_than_go_at_once_gets_all_of_them_within_a_period(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    simulation.organization("acme", only="good")
    process = Process(simulation)
    await simulation.publish("acme", *(str(number) for number in range(5 * DELIVERIES_AT_ONCE_MAX)))

    process.start(nursery)
    await trio.sleep(PERIOD_SECONDS / 2)

    assert statuses(simulation) == [(True, 1)] * (5 * DELIVERIES_AT_ONCE_MAX)


async def test_an_event_of_the_same_process_is_handed_on_and_delivered_without_waiting_for_a_period(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    simulation.organization("acme", only="good")
    process = Process(simulation)
    process.start(nursery)
    await trio.sleep(PERIOD_SECONDS / 4)

    await simulation.publish("acme", "a")
    process.sequencer.box.send(Due())
    await trio.sleep(PERIOD_SECONDS / 4)

    assert statuses(simulation) == [(True, 1)]


async def test_latency_and_durations_are_measured(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    simulation.organization("acme", good="good", bad="failing")
    process = Process(simulation)
    await trio.sleep(1)
    await simulation.publish("acme", "a")

    process.start(nursery)
    await process.work_for(5)

    assert "sso_webhook_delivery_latency_seconds_count 1.0" in process.metrics
    assert (
        f'sso_job_processing_duration_seconds_count{{job_type="{WebhookDispatcher.job_type}"}} 2.0' in process.metrics
    )
    assert f'job_type="{EventSequencer.job_type}"' in process.metrics
    assert 'sso_webhook_attempts_total{outcome="delivered"} 1.0' in process.metrics
    assert 'sso_webhook_attempts_total{outcome="failed"} 1.0' in process.metrics


async def test_the_sequencer_wakes_the_readers_who_wait(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    simulation.organization("acme")
    process = Process(simulation)
    start(nursery, process.sequencer)
    woken_at: list[float] = []

    async def wait() -> None:
        await process.waiters.wait(100)
        woken_at.append(trio.current_time())

    await trio.sleep(1)
    nursery.start_soon(wait)
    await trio.sleep(1)
    assert woken_at == []
    await simulation.publish("acme", "a")
    await let_work(process.sequencer)

    assert len(woken_at) == 1


async def test_what_is_told_while_the_sequencer_rests_is_handed_on_together_after_it(
    simulation: Simulation, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    process = Process(simulation)
    keep_time(nursery, process.sequencer)
    await trio.sleep(EventSequencer.period_seconds / 2)
    before = process.database.calls.count("assign_positions")

    process.sequencer.box.send(Due())
    await trio.sleep(event_sequencer.REST_SECONDS / 2)
    assert process.database.calls.count("assign_positions") == before + 1
    for _ in range(3):
        process.sequencer.box.send(Due())
        await trio.sleep(event_sequencer.REST_SECONDS / 8)
    assert process.database.calls.count("assign_positions") == before + 1

    await trio.sleep(event_sequencer.REST_SECONDS)
    assert process.database.calls.count("assign_positions") == before + 2


async def test_a_sequencer_beside_a_busy_one_hands_on_what_came_too_late_for_it(
    simulation: Simulation, nursery: trio.Nursery, database_url: str, autojump_clock: MockClock
) -> None:
    simulation.organization("acme")
    process = Process(simulation)
    await simulation.publish("acme", "a")
    await simulation.database.transact(sequencing.assign_positions, 10)
    await simulation.publish("acme", "b")
    with connected(database_url) as other, other.transaction():
        other.execute("SELECT FROM event_positions FOR UPDATE")
        start(nursery, process.sequencer)
        await trio.sleep(1)
        assert process.database.calls.count("assign_positions") > 1
    await trio.sleep(1)

    assert simulation.connection.execute("SELECT position FROM events ORDER BY 1").fetchall() == [(1,), (2,)]


async def test_a_reader_who_waits_too_long_gives_up(autojump_clock: MockClock) -> None:
    began_at = trio.current_time()

    await MemoryFeedWaiters().wait(3)

    assert trio.current_time() - began_at == 3

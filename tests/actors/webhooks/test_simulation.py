"""Whatever receivers do and whenever processes die: every event arrives, by the schedule, where it belongs."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import pytest
import trio
from trio.testing import MockClock

from actors.dispatching import DELIVERIES_AT_ONCE_MAX
from core.attempts import ATTEMPTS_MAX, JITTER, RETRY_DELAYS
from tests.actors.webhooks.simulation import PERIOD_SECONDS, Sent, Simulation

BEHAVIOURS = ("good", "slow", "dead", "flapping", "failing", "cutting", "redirecting")
SUCCEEDING = ("good", "slow", "cutting")
# A retry is found by polling.
LATE_SECONDS_MAX = PERIOD_SECONDS + 1


def attempts_by_delivery(sent: list[Sent]) -> dict[tuple[str, str], list[Sent]]:
    """Return the attempts of each delivery by URL and event, in their order."""
    found: dict[tuple[str, str], list[Sent]] = defaultdict(list)
    for one in sorted(sent, key=lambda one: one.at):
        found[one.url, one.body["data"]["name"]].append(one)
    return found


def assert_consistent(simulation: Simulation, published: dict[str, list[str]]) -> None:
    """Assert what holds in every simulation, however often processes were killed."""
    deliveries = attempts_by_delivery(simulation.sent)
    # Each event reached each webhook of its organization, and no other.
    found = simulation.connection.execute(
        "SELECT url, slug FROM webhooks JOIN organizations ON organizations.id = organization_id"
    )
    urls: dict[str, str] = dict(found.fetchall())
    expected = {(url, name) for url, organization in urls.items() for name in published[organization]}
    assert set(deliveries) == expected
    for (url, _), attempts in deliveries.items():
        assert {attempt.body["data"]["of"] for attempt in attempts} == {urls[url]}
        assert {attempt.message_id for attempt in attempts} == {attempt.body["id"] for attempt in attempts}
        assert len({attempt.message_id for attempt in attempts}) == 1
        assert max(attempt.attempt for attempt in attempts) <= ATTEMPTS_MAX
        assert_intervals(attempts)
    # One delivery for each, over as its last attempt says.
    webhooks = dict(simulation.connection.execute("SELECT id, url FROM webhooks").fetchall())
    delivered = simulation.connection.execute(
        """
        SELECT d.webhook_id, e.data ->> 'name', d.delivered, d.attempt_count, d.next_retry_at
        FROM   webhook_deliveries d
        JOIN   events e ON e.organization_id = d.organization_id AND e.id = d.event_id
        """
    ).fetchall()
    rows = [(webhooks[webhook_id], *delivery) for webhook_id, *delivery in delivered]
    assert sorted((url, name) for url, name, *_ in rows) == sorted(expected)
    for url, name, is_delivered, attempt_count, next_retry_at in rows:
        statuses = {attempt.status for attempt in deliveries[url, name]}
        assert next_retry_at is None
        assert is_delivered or attempt_count == ATTEMPTS_MAX
        # A success of a process that was killed before it recorded it is followed by other attempts, which may fail.
        assert not is_delivered or statuses & {200, 201}
        assert is_delivered or url.rpartition("/")[2] not in SUCCEEDING


def assert_intervals(attempts: list[Sent]) -> None:
    """Assert that an attempt with the next number comes no sooner than the schedule says."""
    for earlier, later in pairwise(attempts):
        assert later.attempt in {earlier.attempt, earlier.attempt + 1}
        if later.attempt > earlier.attempt:
            delay = RETRY_DELAYS[earlier.attempt - 1].total_seconds()
            assert later.at - earlier.at >= delay * (1 - JITTER)


async def publish(simulation: Simulation, events: int, *, pause_seconds: float) -> dict[str, list[str]]:
    """Publish events of all organizations in turn, a few in each transaction."""
    published: dict[str, list[str]] = {name: [] for name in simulation.organizations}
    number = 0
    while number < events:
        for name, names in published.items():
            batch = [f"{name} {number + n}" for n in range(simulation.drawn("batch", number).randint(1, 5))]
            await simulation.publish(name, *batch)
            names.extend(batch)
            number += len(batch)
        await trio.sleep(pause_seconds)
    return published


async def simulate(
    simulation: Simulation, *, organizations: int, events: int, behaviours: tuple[str, ...], processes: int
) -> dict[str, list[str]]:
    """Publish events while processes send them to receivers of all behaviours; return what was published."""
    for number in range(organizations):
        receivers = {f"{behaviour}-{number}": behaviour for behaviour in behaviours}
        simulation.organization(f"org-{number}", **receivers)
    published: dict[str, list[str]] = {}

    async def publish_all() -> None:
        published.update(await publish(simulation, events, pause_seconds=3.0))
        await simulation.run_until_quiet(0)

    async with trio.open_nursery() as nursery:
        for _ in range(processes):
            nursery.start_soon(simulation.run_process)
        await publish_all()
    return published


async def test_attempts_and_intervals_are_exactly_the_schedule(
    simulation: Simulation, autojump_clock: MockClock
) -> None:
    published = await simulate(simulation, organizations=1, events=4, behaviours=("failing", "good"), processes=1)

    assert_consistent(simulation, published)
    deliveries = attempts_by_delivery(simulation.sent)
    for (url, _), attempts in deliveries.items():
        numbers = [attempt.attempt for attempt in attempts]
        assert numbers == ([1] if url.endswith("good") else [1, 2, 3, 4, 5])
        for (earlier, later), delay in zip(pairwise(attempts), RETRY_DELAYS, strict=False):
            interval, nominal = later.at - earlier.at, delay.total_seconds()
            assert nominal * (1 - JITTER) <= interval <= nominal * (1 + JITTER) + LATE_SECONDS_MAX


async def test_several_processes_send_each_delivery_once(simulation: Simulation, autojump_clock: MockClock) -> None:
    published = await simulate(simulation, organizations=2, events=60, behaviours=SUCCEEDING, processes=3)

    assert_consistent(simulation, published)
    assert set(Counter((sent.url, sent.message_id) for sent in simulation.sent).values()) == {1}


@pytest.mark.long
async def test_killed_processes_lose_nothing(simulation: Simulation, autojump_clock: MockClock) -> None:
    simulation.kill_probability = 0.02

    published = await simulate(simulation, organizations=2, events=40, behaviours=SUCCEEDING, processes=2)

    assert_consistent(simulation, published)
    assert simulation.kills > 0


async def test_a_webhook_or_organization_that_is_switched_off_gets_nothing_more(
    simulation: Simulation, autojump_clock: MockClock
) -> None:
    simulation.organization("acme", first="good", second="good")
    simulation.organization("globex", third="good")
    simulation.connection.execute("UPDATE webhooks SET is_active = false WHERE name = 'first'")
    simulation.connection.execute("UPDATE organizations SET status = 'suspended' WHERE slug = 'globex'")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(simulation.run_process)
        await simulation.publish("acme", "a")
        await simulation.publish("globex", "b")
        await simulation.run_until_quiet(0)
        assert [sent.url for sent in simulation.sent] == ["https://acme/second/good"]

        simulation.over = trio.Event()
        simulation.connection.execute("UPDATE organizations SET status = 'active' WHERE slug = 'globex'")
        nursery.start_soon(simulation.run_process)
        await simulation.run_until_quiet(0)

    assert [sent.url for sent in simulation.sent] == ["https://acme/second/good", "https://globex/third/good"]


async def test_a_receiver_that_is_gone_gets_nothing_more(simulation: Simulation, autojump_clock: MockClock) -> None:
    simulation.organization("acme", first="gone", second="good")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(simulation.run_process)
        await simulation.publish("acme", "a")
        await trio.sleep(2 * PERIOD_SECONDS)
        await simulation.publish("acme", "b")
        await simulation.run_until_quiet(0)

    sent = sorted((sent.url, sent.body["data"]["name"]) for sent in simulation.sent)
    good, gone = "https://acme/second/good", "https://acme/first/gone"
    assert sent == [(gone, "a"), (good, "a"), (good, "b")]


async def test_a_receiver_that_never_answers_delays_no_other(simulation: Simulation, autojump_clock: MockClock) -> None:
    simulation.organization("acme", **{f"dead-{number}": "dead" for number in range(20)})
    simulation.organization("globex", only="good")
    await simulation.publish("acme", *(f"acme {number}" for number in range(3 * DELIVERIES_AT_ONCE_MAX)))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(simulation.run_process)
        await trio.sleep(30)
        began_at = trio.current_time()
        await simulation.publish("globex", "a")
        await trio.sleep(PERIOD_SECONDS + 2)
        simulation.over.set()
        nursery.cancel_scope.cancel()

    [sent] = [sent for sent in simulation.sent if sent.url.endswith("good")]
    # It was found by polling, because another process published it.
    assert sent.at - began_at <= PERIOD_SECONDS + 0.5


@pytest.mark.long
@pytest.mark.parametrize("number", range(2))
async def test_many_events_through_everything_that_can_go_wrong(
    simulation: Simulation, autojump_clock: MockClock, number: int
) -> None:
    simulation.kill_probability = 0.002

    published = await simulate(simulation, organizations=4, events=400, behaviours=BEHAVIOURS, processes=3)

    assert_consistent(simulation, published)
    assert simulation.kills > 10

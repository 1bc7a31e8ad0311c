"""Supervision in virtual time: crashed actors restart, other actors are unaffected, and a stop is final."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import structlog
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from actors.mailboxes import Mailbox
from actors.supervision import (
    BACKOFF_JITTER,
    BACKOFF_SECONDS_MAX,
    BACKOFF_SECONDS_MIN,
    DRAIN_SECONDS_MAX,
    HEALTHY_SECONDS_MIN,
    Supervisor,
)
from adapters.prometheus import PrometheusMetrics
from ports.actors import MESSAGE_SECONDS_MAX, ActorReport, BackgroundTaskState
from ports.mailboxes import Drain, Due
from tests.clock import SettableClock


class Actor:
    """An actor whose first runs crash, and whose next run lasts until it is cancelled."""

    def __init__(self, *, crashes: int = 0, healthy_seconds: float = 0.0) -> None:
        self.began_at: list[float] = []
        self._crashes = crashes
        self._healthy_seconds = healthy_seconds

    async def run(self) -> None:
        self.began_at.append(trio.current_time())
        if len(self.began_at) <= self._crashes:
            await trio.sleep(self._healthy_seconds)
            raise RuntimeError("something went wrong")
        await trio.sleep_forever()


class DrainingActor:
    """An actor that finishes its work some time after the request to drain."""

    def __init__(self, *, finishing_seconds: float) -> None:
        self.has_finished = False
        self._finishing_seconds = finishing_seconds
        self.box = Mailbox(drains=True)

    async def run(self) -> None:
        while Drain() not in await self.box.receive(math.inf):
            pass
        await trio.sleep(self._finishing_seconds)
        self.has_finished = True


@pytest.fixture
def metrics() -> PrometheusMetrics:
    return PrometheusMetrics(version="test")


@pytest.fixture
async def supervisor(nursery: trio.Nursery, clock: SettableClock, metrics: PrometheusMetrics) -> Supervisor:
    return Supervisor(nursery, clock=clock, metrics=metrics)


def report_on(supervisor: Supervisor, name: str) -> ActorReport:
    return next(report for report in supervisor.reports() if report.name == name)


async def test_a_crashed_actor_is_restarted(supervisor: Supervisor, autojump_clock: MockClock) -> None:
    actor = Actor(crashes=1)

    supervisor.supervise("clumsy", actor.run)
    await trio.sleep(BACKOFF_SECONDS_MIN)

    assert len(actor.began_at) == 2
    assert report_on(supervisor, "clumsy").state is BackgroundTaskState.RUNNING


async def test_a_crash_does_not_affect_other_actors(supervisor: Supervisor, autojump_clock: MockClock) -> None:
    clumsy, steady = Actor(crashes=3), Actor()

    supervisor.supervise("clumsy", clumsy.run)
    supervisor.supervise("steady", steady.run)
    await trio.sleep(BACKOFF_SECONDS_MAX)

    assert len(clumsy.began_at) == 4
    assert len(steady.began_at) == 1
    assert report_on(supervisor, "steady").crashes == 0


async def test_the_pause_doubles_with_every_crash_up_to_its_maximum(
    supervisor: Supervisor, autojump_clock: MockClock
) -> None:
    actor = Actor(crashes=10)

    supervisor.supervise("clumsy", actor.run)
    await trio.sleep(10 * BACKOFF_SECONDS_MAX)

    pauses = [later - earlier for earlier, later in pairwise(actor.began_at)]
    full_pauses = [min(BACKOFF_SECONDS_MIN * 2**crash, BACKOFF_SECONDS_MAX) for crash in range(10)]
    assert full_pauses[-1] == BACKOFF_SECONDS_MAX
    assert all(
        full * (1 - BACKOFF_JITTER) <= pause <= full * 1.001 for pause, full in zip(pauses, full_pauses, strict=True)
    ), pauses


async def test_replicas_that_crash_together_restart_at_different_times(
    supervisor: Supervisor, autojump_clock: MockClock
) -> None:
    actors = [Actor(crashes=1) for _ in range(20)]

    for number, actor in enumerate(actors):
        supervisor.supervise(f"clumsy {number}", actor.run)
    await trio.sleep(BACKOFF_SECONDS_MIN)

    assert len({actor.began_at[1] for actor in actors}) > 1


async def test_after_a_healthy_run_the_pause_is_reset(supervisor: Supervisor, autojump_clock: MockClock) -> None:
    healthy_seconds = HEALTHY_SECONDS_MIN + 1
    actor = Actor(crashes=5, healthy_seconds=healthy_seconds)

    supervisor.supervise("moody", actor.run)
    await trio.sleep(10 * healthy_seconds)

    rounds = [later - earlier for earlier, later in pairwise(actor.began_at)]
    assert len(rounds) == 5
    assert max(rounds) <= healthy_seconds + BACKOFF_SECONDS_MIN * 1.001


async def test_a_report_has_the_state_its_time_and_the_number_of_crashes(
    supervisor: Supervisor, autojump_clock: MockClock, clock: SettableClock
) -> None:
    began_at = clock.now

    supervisor.supervise("clumsy", Actor(crashes=1).run)
    before = report_on(supervisor, "clumsy")
    await wait_all_tasks_blocked()
    after = report_on(supervisor, "clumsy")

    assert before == ActorReport(name="clumsy", state=BackgroundTaskState.STARTING, since=began_at, crashes=0)
    assert after == ActorReport(name="clumsy", state=BackgroundTaskState.BACKING_OFF, since=began_at, crashes=1)


async def test_a_report_tells_of_messages_that_wait_and_names_an_actor_whose_box_stands_still(
    supervisor: Supervisor, autojump_clock: MockClock
) -> None:
    box = Mailbox()
    supervisor.supervise("deaf", Actor().run, box)
    box.send(Due())

    await trio.sleep(MESSAGE_SECONDS_MAX)
    before = report_on(supervisor, "deaf")
    await trio.sleep(1)
    after = report_on(supervisor, "deaf")

    assert (before.messages, before.oldest_seconds, before.stands_still) == (1, MESSAGE_SECONDS_MAX, False)
    assert (after.state, after.stands_still) == (BackgroundTaskState.RUNNING, True)


async def test_the_metrics_show_which_actors_run_and_how_often_they_restarted(
    supervisor: Supervisor, autojump_clock: MockClock, metrics: PrometheusMetrics
) -> None:
    supervisor.supervise("clumsy", Actor(crashes=1).run)
    await wait_all_tasks_blocked()
    during = metrics.exposition().decode().splitlines()
    await trio.sleep(BACKOFF_SECONDS_MIN)
    after = metrics.exposition().decode().splitlines()

    assert 'sso_actor_up{actor="clumsy"} 0.0' in during
    assert 'sso_actor_restarts_total{actor="clumsy"} 0.0' in during
    assert 'sso_actor_up{actor="clumsy"} 1.0' in after
    assert 'sso_actor_restarts_total{actor="clumsy"} 1.0' in after


async def test_a_crash_is_logged_with_the_actor_and_the_traceback(
    supervisor: Supervisor, autojump_clock: MockClock
) -> None:
    with structlog.testing.capture_logs() as lines:
        supervisor.supervise("clumsy", Actor(crashes=1).run)
        await wait_all_tasks_blocked()

    line = next(line for line in lines if line["event"] == "actor.crashed")
    assert (line["actor"], line["crashes"], line["log_level"]) == ("clumsy", 1, "error")
    assert isinstance(line["exc_info"], RuntimeError)


async def test_a_crash_of_several_tasks_of_an_actor_counts_as_one(
    supervisor: Supervisor, autojump_clock: MockClock
) -> None:
    async def run() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Actor(crashes=1).run)
            nursery.start_soon(Actor(crashes=1).run)

    supervisor.supervise("crowd", run)
    await wait_all_tasks_blocked()

    assert report_on(supervisor, "crowd").crashes == 1


async def test_an_actor_that_returns_stays_stopped_and_is_reported(
    supervisor: Supervisor, autojump_clock: MockClock
) -> None:
    async def run() -> None:
        await trio.lowlevel.checkpoint()

    with structlog.testing.capture_logs() as lines:
        supervisor.supervise("brief", run)
        await trio.sleep(BACKOFF_SECONDS_MAX)

    assert report_on(supervisor, "brief").state is BackgroundTaskState.STOPPED
    assert [line["event"] for line in lines] == ["actor.returned"]


async def test_stop_cancels_an_actor_without_drain_immediately(
    supervisor: Supervisor, autojump_clock: MockClock
) -> None:
    supervisor.supervise("steady", Actor().run)
    await wait_all_tasks_blocked()
    began_at = trio.current_time()

    await supervisor.stop()

    assert report_on(supervisor, "steady").state is BackgroundTaskState.STOPPED
    assert trio.current_time() - began_at < 1


async def test_stop_lets_a_draining_actor_finish(supervisor: Supervisor, autojump_clock: MockClock) -> None:
    actor = DrainingActor(finishing_seconds=DRAIN_SECONDS_MAX / 2)
    supervisor.supervise("careful", actor.run, actor.box)
    await wait_all_tasks_blocked()

    await supervisor.stop()

    assert actor.has_finished
    assert report_on(supervisor, "careful").state is BackgroundTaskState.STOPPED


async def test_stop_cancels_an_actor_that_drains_beyond_the_deadline(
    supervisor: Supervisor, autojump_clock: MockClock
) -> None:
    actor = DrainingActor(finishing_seconds=DRAIN_SECONDS_MAX * 2)
    supervisor.supervise("slow", actor.run, actor.box)
    supervisor.supervise("steady", Actor().run)
    await wait_all_tasks_blocked()
    began_at = trio.current_time()

    with structlog.testing.capture_logs() as lines:
        await supervisor.stop()

    assert not actor.has_finished
    assert report_on(supervisor, "slow").state is BackgroundTaskState.STOPPED
    assert trio.current_time() - began_at < DRAIN_SECONDS_MAX + 1
    assert [(line["event"], line["actor"]) for line in lines] == [("actor.cut_short", "slow")]


async def test_stop_does_not_wait_for_an_actor_that_is_backing_off(
    supervisor: Supervisor, autojump_clock: MockClock
) -> None:
    actor = Actor(crashes=100)
    supervisor.supervise("clumsy", actor.run, Mailbox(drains=True))
    await trio.sleep(BACKOFF_SECONDS_MAX)
    runs, began_at = len(actor.began_at), trio.current_time()

    await supervisor.stop()

    assert trio.current_time() - began_at < 1
    assert len(actor.began_at) == runs


async def test_an_actor_that_is_stopped_before_its_first_run_never_runs(
    supervisor: Supervisor, autojump_clock: MockClock
) -> None:
    actor = Actor()
    supervisor.supervise("late", actor.run)

    await supervisor.stop()

    assert actor.began_at == []


async def test_an_actor_that_crashes_when_cancelled_is_not_restarted_and_affects_no_other(
    supervisor: Supervisor,
    autojump_clock: MockClock,
) -> None:
    async def crash_when_cancelled() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise RuntimeError("cancelled")

    async def run() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            nursery.start_soon(crash_when_cancelled)

    supervisor.supervise("sulky", run)
    supervisor.supervise("steady", Actor().run)
    await wait_all_tasks_blocked()

    await supervisor.stop()

    assert report_on(supervisor, "sulky").state is BackgroundTaskState.STOPPED
    assert report_on(supervisor, "sulky").crashes == 1
    assert report_on(supervisor, "steady").crashes == 0


async def test_an_actor_that_crashes_while_it_drains_is_not_restarted(
    supervisor: Supervisor, autojump_clock: MockClock
) -> None:
    runs: list[float] = []
    box = Mailbox(drains=True)

    async def run() -> None:
        runs.append(trio.current_time())
        await box.receive(math.inf)
        raise RuntimeError("failed while draining")

    supervisor.supervise("fragile", run, box)
    await wait_all_tasks_blocked()

    await supervisor.stop()

    assert len(runs) == 1

"""The timekeeper tells each actor when its period is over, unless another message has already told it what is due."""

from __future__ import annotations

import math

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.mailboxes import ANSWERED_SECONDS, Mailbox
from actors.timekeeper import MEASURED_SECONDS, Timekeeper
from adapters.prometheus import PrometheusMetrics
from ports.listening import PollingRole
from ports.mailboxes import Changed, Due, Figure, Message, WorkKind
from tests.clock import SettableClock

PERIOD_SECONDS = 10.0
# Every test takes the clock as an argument, because pytest-trio finds a clock only among a test's own arguments.


class Listener:
    """An actor that notes the time of each message; its work takes some seconds."""

    def __init__(self, work: WorkKind | None = None, *, in_turn: bool = False, first: float = PERIOD_SECONDS) -> None:
        self.box = Mailbox(work, in_turn=in_turn)
        self.heard: list[tuple[float, set[Message]]] = []
        self.seconds = 0.0
        self._first = first

    async def run(self) -> None:
        heard = await self.box.receive(self._first)
        while True:
            self.heard.append((trio.current_time(), heard))
            await trio.sleep(self.seconds)
            heard = await self.box.receive(PERIOD_SECONDS)

    @property
    def moments(self) -> list[float]:
        return [at for at, _ in self.heard]


@pytest.fixture
def metrics() -> PrometheusMetrics:
    return PrometheusMetrics(version="test")


@pytest.fixture
def timekeeper(metrics: PrometheusMetrics) -> Timekeeper:
    return Timekeeper(metrics)


def started(timekeeper: Timekeeper, nursery: trio.Nursery, *listeners: Listener) -> float:
    """Run actors and the timekeeper; return the present."""
    for number, listener in enumerate(listeners):
        timekeeper.add(f"actor {number}", listener.box)
        nursery.start_soon(listener.run)
    nursery.start_soon(timekeeper.run)
    return trio.current_time()


async def test_an_actor_is_told_a_period_after_it_began_to_wait(
    timekeeper: Timekeeper, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    quick, slow = Listener(), Listener()
    slow.seconds = 7.0
    began_at = started(timekeeper, nursery, quick, slow)

    await trio.sleep(40)

    assert [at - began_at for at in quick.moments] == pytest.approx([10, 20, 30])
    assert [at - began_at for at in slow.moments] == pytest.approx([10, 27])
    assert [heard for _, heard in quick.heard] == 3 * [{Due()}]


async def test_a_message_begins_the_period_anew(
    timekeeper: Timekeeper, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    listener = Listener(WorkKind.FIGURES)
    began_at = started(timekeeper, nursery, listener)
    await trio.sleep(6)

    timekeeper.send(WorkKind.FIGURES, Changed(Figure.BACKLOG))
    timekeeper.send(WorkKind.SALES, Changed(Figure.SALES))
    await trio.sleep(11)

    assert [at - began_at for at in listener.moments] == pytest.approx([6, 16])


async def test_while_a_poll_answers_only_actors_whose_work_it_does_not_find_have_periods(
    timekeeper: Timekeeper, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    polled, other = Listener(WorkKind.MAIL), Listener(WorkKind.FIGURES)
    timekeeper.enter(PollingRole.LISTENING)
    began_at = started(timekeeper, nursery, polled, other)

    await trio.sleep(ANSWERED_SECONDS)

    assert ANSWERED_SECONDS / 2 <= polled.moments[0] - began_at <= ANSWERED_SECONDS
    assert len(other.moments) == pytest.approx(ANSWERED_SECONDS / PERIOD_SECONDS, abs=2)


async def test_without_a_poll_they_are_told_at_once_when_their_period_is_over_and_then_every_period(
    timekeeper: Timekeeper, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    listener = Listener(WorkKind.MAIL)
    timekeeper.enter(PollingRole.POLLING)
    began_at = started(timekeeper, nursery, listener)
    await trio.sleep(15)

    timekeeper.enter(None)
    await trio.sleep(21)

    assert [at - began_at for at in listener.moments] == pytest.approx([15, 25, 35])


async def test_what_one_process_does_for_all_is_told_to_it_alone_and_at_once_when_its_turn_begins(
    timekeeper: Timekeeper, nursery: trio.Nursery, clock: SettableClock, autojump_clock: MockClock
) -> None:
    polled, other = Listener(WorkKind.SERVICE_USERS, in_turn=True, first=0), Listener(in_turn=True)
    began_at = started(timekeeper, nursery, polled, other)
    timekeeper.enter(PollingRole.LISTENING)
    timekeeper.tell_due(WorkKind.SERVICE_USERS, clock())
    await trio.sleep(25)
    before = (polled.moments, other.moments)

    timekeeper.enter(PollingRole.POLLING)
    await trio.sleep(1)
    timekeeper.tell_due(WorkKind.SERVICE_USERS, clock())
    await trio.sleep(1)
    timekeeper.enter(PollingRole.LISTENING)
    await trio.sleep(25)

    assert before == ([], [])
    assert [at - began_at for at in polled.moments] == pytest.approx([25, 26])
    assert [at - began_at for at in other.moments] == pytest.approx([25])
    assert polled.heard[-1][1] == {Due(clock())}


async def test_its_turn_goes_on_while_there_is_no_poll(
    timekeeper: Timekeeper, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    listener = Listener(in_turn=True)
    timekeeper.enter(PollingRole.ALONE)
    started(timekeeper, nursery, listener)

    timekeeper.enter(None)
    await trio.sleep(11)

    assert len(listener.moments) == 1


async def test_a_timekeeper_that_crashed_goes_on_from_the_boxes(
    timekeeper: Timekeeper, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    listener = Listener()
    timekeeper.add("actor", listener.box)
    nursery.start_soon(listener.run)
    with trio.move_on_after(5):
        await timekeeper.run()
    await trio.sleep(20)
    meanwhile = len(listener.moments)

    nursery.start_soon(timekeeper.run)
    await trio.sleep(11)

    assert (meanwhile, listener.moments) == (0, pytest.approx([25, 35]))


async def test_what_waits_in_each_box_is_measured_and_what_is_told_is_logged(
    timekeeper: Timekeeper, metrics: PrometheusMetrics, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    deaf, hearing = Listener(WorkKind.FIGURES, first=math.inf), Listener(WorkKind.SALES)
    deaf.seconds = math.inf
    started(timekeeper, nursery, deaf, hearing)
    with capture_logs() as lines:
        timekeeper.send(WorkKind.FIGURES, Due())
        await trio.sleep(1)
        timekeeper.send(WorkKind.FIGURES, Due())
        timekeeper.send(WorkKind.FIGURES, Due())
        timekeeper.send(WorkKind.FIGURES, Changed(Figure.PLATFORM))

    await trio.sleep(2 * MEASURED_SECONDS - 1)

    exposed = metrics.exposition().decode().splitlines()
    assert {
        'sso_mailbox_messages{actor="actor 0"} 2.0',
        'sso_mailbox_oldest_seconds{actor="actor 0"} 9.0',
        'sso_mailbox_messages{actor="actor 1"} 0.0',
        'sso_mailbox_oldest_seconds{actor="actor 1"} 0.0',
    } <= set(exposed)
    assert [(line["event"], line["actor"], line["log_level"]) for line in lines] == [
        ("actor.told", "actor 0", "debug")
    ] * 3
    assert (lines[-1]["message"], lines[-1]["figure"]) == ("changed", "platform")

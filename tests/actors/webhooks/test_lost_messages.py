"""Actors and processes that are killed at each of their messages in turn: everything confirmed is done, and once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
import structlog
import trio
from trio.testing import MockClock

from actors.event_sequencer import EventSequencer, MemoryFeedWaiters
from actors.invitation_sweeper import InvitationSweeper
from actors.live_processes import MemoryLiveProcesses
from actors.mailboxes import Mailbox
from actors.poller import Poller
from actors.supervision import BACKOFF_SECONDS_MIN, Supervisor
from actors.timekeeper import Timekeeper
from actors.webhook_dispatcher import WebhookDispatcher
from adapters.postgres.listening import PostgresListening, PostgresListeningConnection
from core.billing.provider import BillingMode
from core.secrets import Secret
from ports.listening import Polled
from ports.mailboxes import Due, Message
from tests.actors.webhooks.simulation import EPOCH, Simulation
from tests.actors.webhooks.test_expiries import invite

LIFETIME_SECONDS = 5.0
# At the latest, what is due is found a period after it was.
LATE_SECONDS_MAX = InvitationSweeper.period_seconds + BACKOFF_SECONDS_MIN


class Crash(Exception):
    """An actor crashes with a message in its hand."""


class Killed(BaseException):
    """The process is killed while an actor has a message in its hand."""


class Messages:
    """Counts the messages that actors take, and crashes at one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken = 0
        self.fatal: tuple[int, type[BaseException]] | None = None
        receive = Mailbox.receive

        async def counted(box: Mailbox, *args: Any, **kwargs: Any) -> set[Message]:
            heard = await receive(box, *args, **kwargs)
            self.taken += 1
            if self.fatal is not None and self.fatal[0] == self.taken:
                raise self.fatal[1]
            return heard

        monkeypatch.setattr(Mailbox, "receive", counted)


@pytest.mark.parametrize("error", [Crash, Killed])
async def test_killed_at_each_message_in_turn_everything_is_done_once_and_a_period_late_at_most(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock, error: type[BaseException]
) -> None:
    simulation.organization("acme", only="good")
    messages = Messages(monkeypatch)
    rounds = 0
    while messages.taken >= rounds:
        rounds += 1
        messages.taken, messages.fatal = 0, (rounds, error)
        invite(simulation, str(rounds), LIFETIME_SECONDS)
        with structlog.testing.capture_logs():
            await _processes_until(simulation, simulation.now + LIFETIME_SECONDS + LATE_SECONDS_MAX, str(rounds))
        assert_done(simulation, rounds)

    # Messages are lost about an event, its delivery, the invitation, and the periods.
    assert rounds > 8


def assert_done(simulation: Simulation, rounds: int) -> None:
    """Assert that each event was delivered once, and each invitation recorded once as expired."""
    names = Counter(sent.body["data"].get("name") for sent in simulation.sent if "name" in sent.body["data"])
    assert names == {str(number): 1 for number in range(1, rounds + 1)}
    [[expired, events]] = simulation.connection.execute(
        """
        SELECT (SELECT count(*) FROM invitations WHERE status = 'expired'),
               (SELECT count(*) FROM events WHERE type = 'invitation.expired')
        """
    )
    assert (expired, events) == (rounds, rounds)
    assert simulation.open_deliveries() == 0


async def _processes_until(simulation: Simulation, end: float, event: str) -> None:
    """Run one process after the other until that time, the first of which publishes an event."""
    is_published = False
    while simulation.now < end:
        try:
            with trio.move_on_at(trio.current_time() + end - simulation.now):
                await _process(simulation, None if is_published else event)
        except* Killed:
            pass
        is_published = True


class Calls:
    """Crashes an actor, or kills its process, at every n-th call of what carries messages, until it ends."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.made: Counter[str] = Counter()
        self.crashed: set[tuple[str, type[BaseException]]] = set()
        self.is_over = False
        receive, take, remind, poll = Mailbox.receive, Mailbox.take, Mailbox.remind, PostgresListeningConnection.poll

        async def received(box: Mailbox, *args: Any, **kwargs: Any) -> set[Message]:
            heard = await receive(box, *args, **kwargs)
            self._make("receive", 7)
            return heard

        def taken(box: Mailbox) -> set[Message]:
            heard = take(box)
            self._make("take", 11)
            return heard

        def reminded(box: Mailbox, message: Due) -> None:
            self._make("remind", 5)
            remind(box, message)

        async def polled(connection: PostgresListeningConnection, now: datetime) -> Polled:
            self._make("begin to poll", 7)
            found = await poll(connection, now)
            self._make("poll", 5)
            return found

        monkeypatch.setattr(Mailbox, "receive", received)
        monkeypatch.setattr(Mailbox, "take", taken)
        monkeypatch.setattr(Mailbox, "remind", reminded)
        monkeypatch.setattr(PostgresListeningConnection, "poll", polled)

    def _make(self, call: str, fatal: int) -> None:
        self.made[call] += 1
        number, rest = divmod(self.made[call], fatal)
        if not rest and not self.is_over:
            error = Crash if number % 3 else Killed
            self.crashed.add((call, error))
            raise error


async def test_two_processes_whose_actors_pollers_and_timekeepers_crash_again_and_again_do_everything_once(
    simulation: Simulation,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    nursery: trio.Nursery,
    autojump_clock: MockClock,
) -> None:
    simulation.organization("acme", only="good")
    calls = Calls(monkeypatch)
    rounds = 40

    async def keep() -> None:
        while True:
            try:
                await _process(simulation, None, database_url)
            except* Killed:
                await trio.sleep(1)

    with structlog.testing.capture_logs():
        for _ in range(2):
            nursery.start_soon(keep)
        for number in range(1, rounds + 1):
            await trio.sleep(1.3)
            await simulation.publish("acme", str(number))
            invite(simulation, str(number), LIFETIME_SECONDS)
        calls.is_over = True
        await trio.sleep(LIFETIME_SECONDS + LATE_SECONDS_MAX)

    assert_done(simulation, rounds)
    assert {call for call, error in calls.crashed if error is Crash} == calls.made.keys()
    assert ("poll", Killed) in calls.crashed
    nursery.cancel_scope.cancel()


async def _process(simulation: Simulation, event: str | None, database_url: str | None = None) -> None:
    timekeeper = Timekeeper(simulation.metrics)
    database: Any = replace(simulation.database, mailboxes=timekeeper)
    shared: Any = {"database": database, "mailboxes": timekeeper, "metrics": simulation.metrics}
    async with trio.open_nursery() as nursery:

        def clock() -> datetime:
            return EPOCH + timedelta(seconds=simulation.now)

        supervisor = Supervisor(nursery, clock=clock, metrics=simulation.metrics)
        table: dict[str, Any] = {
            "event_sequencer": EventSequencer(waiters=MemoryFeedWaiters(), **shared),
            "webhook_dispatcher": WebhookDispatcher(sender=simulation, clock=clock, **shared),
            "invitation_sweeper": InvitationSweeper(**shared),
        }
        supervisor.supervise("timekeeper", timekeeper.run)
        if database_url is not None:
            poller = Poller(
                listening=PostgresListening(Secret(database_url), mode=BillingMode.SANDBOX),
                mode=BillingMode.SANDBOX,
                clock=clock,
                keeper=timekeeper,
                processes=MemoryLiveProcesses(),
                waiters=MemoryFeedWaiters(),
                database=database,
                metrics=simulation.metrics,
            )
            supervisor.supervise("poller", poller.run)
        for name, actor in table.items():
            timekeeper.add(name, actor.box)
            run: Callable[[], Awaitable[None]] = actor.run
            supervisor.supervise(name, run, actor.box)
        if event is not None:
            await simulation.publish("acme", event)
        await trio.sleep_forever()

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

from actors.event_sequencer import EventSequencer
from actors.feed_waiters import MemoryFeedWaiters
from actors.invitation_sweeper import InvitationSweeper
from actors.mailboxes import Mailbox
from actors.supervision import BACKOFF_SECONDS_MIN, Supervisor
from actors.timekeeper import Timekeeper
from actors.webhook_dispatcher import WebhookDispatcher
from ports.mailboxes import Message
from tests.actors.webhooks.simulation import EPOCH, Simulation

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
        simulation.connection.execute(
            """
            INSERT INTO invitations (id, organization_id, email, role, status, token_hash, token_sealed, proof_hash,
                                     created_at, expires_at)
            SELECT gen_random_uuid(), id, %s, 'member', 'pending', sha256(%s::bytea), '', '', %s, %s
            FROM   organizations
            """,
            (
                f"{rounds}@example.org",
                str(rounds),
                EPOCH,
                EPOCH + timedelta(seconds=simulation.now + LIFETIME_SECONDS),
            ),
        )
        with structlog.testing.capture_logs():
            await _processes_until(simulation, simulation.now + LIFETIME_SECONDS + LATE_SECONDS_MAX, str(rounds))
        assert_done(simulation, rounds)

    # Those of an event, of its delivery, of the invitation, and of the periods.
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


async def _process(simulation: Simulation, event: str | None) -> None:
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
        for name, actor in table.items():
            timekeeper.add(name, actor.box)
            run: Callable[[], Awaitable[None]] = actor.run
            supervisor.supervise(name, run, actor.box)
        if event is not None:
            await simulation.publish("acme", event)
        await trio.sleep_forever()

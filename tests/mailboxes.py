"""Mailboxes that reach no actor and record what was sent to them, and actors driven by the test."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol

import trio

from actors.mailboxes import Mailbox
from actors.timekeeper import Timekeeper
from adapters.prometheus import PrometheusMetrics
from ports.mailboxes import Due, Message, WorkKind
from tests.waiting import eventually


class RecordedMailboxes:
    """The port `Mailboxes` for tests."""

    def __init__(self) -> None:
        self.sent: list[tuple[WorkKind, Message]] = []

    @property
    def told(self) -> list[WorkKind]:
        """The kinds of work in the messages."""
        return [work for work, _ in self.sent]

    def send(self, work: WorkKind, message: Message) -> None:
        """Record the message."""
        self.sent.append((work, message))


class LocalMailboxes(RecordedMailboxes):
    """The port `Mailboxes` for actors that are known."""

    def __init__(self, *boxes: Mailbox) -> None:
        super().__init__()
        self.boxes = {box.work: box for box in boxes}

    def send(self, work: WorkKind, message: Message) -> None:
        """Record the message, and put it into the box of its actor."""
        super().send(work, message)
        if work in self.boxes:
            self.boxes[work].send(message)


class BoxedActor(Protocol):
    """An actor as these tests start it."""

    box: Mailbox

    def run(self) -> Awaitable[None]:
        """Work until cancelled."""
        ...


def start(nursery: trio.Nursery, *actors: BoxedActor) -> None:
    """Run actors that get a message at once that something may be due, as the timekeeper sends."""
    for actor in actors:
        nursery.start_soon(actor.run)
        actor.box.send(Due())


async def let_work(actor: BoxedActor, message: Message | None = None) -> None:
    """Send a message to a running actor, `Due` if there is none, and return when it waits for the next one."""

    async def is_waiting() -> bool:
        return actor.box.is_listening and not actor.box.waiting

    actor.box.send(message or Due())
    await eventually(is_waiting)


def keep_time(nursery: trio.Nursery, *actors: BoxedActor) -> Timekeeper:
    """Run actors and the timekeeper that tells their periods, where time itself is what a test is about; return it."""
    timekeeper = Timekeeper(PrometheusMetrics(version="test"))
    for number, actor in enumerate(actors):
        timekeeper.add(f"actor {number}", actor.box)
        nursery.start_soon(actor.run)
    nursery.start_soon(timekeeper.run)
    return timekeeper

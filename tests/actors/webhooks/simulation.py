"""Sequencers and dispatchers in virtual time, with a real database, unreliable receivers and processes that are killed.

What happens is drawn from a seed and from what it happens to, so the same seed leads to the same receivers and events.
The seed is the name of the test, with a report's seed (`tests/drawing.py`).
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import pytest
import trio
from trio.testing import MockClock

from actors import timekeeper
from actors.event_sequencer import EventSequencer, MemoryFeedWaiters
from actors.timekeeper import Timekeeper
from actors.webhook_dispatcher import WebhookDispatcher
from adapters.crypto.vault import Vault
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.postgres.webhooks.webhooks import PostgresWebhooks
from adapters.prometheus import PrometheusMetrics
from core.attempts import Attempt
from core.events.events import EventType
from core.secrets import Secret
from core.webhooks.deliveries import DueDelivery
from core.webhooks.webhooks import SigningSecrets, Webhook
from ports.unit_of_work import UnitOfWork
from tests.transactions import transaction_on
from tests.world.builder import Builder, new_id

EPOCH = datetime(2026, 2, 3, tzinfo=UTC)
ATTEMPT_SECONDS_MAX = 15.0
SECRET = Secret("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
# Polling every second of some hours would take longer than everything else.
PERIOD_SECONDS = 20.0
RESTART_SECONDS_MAX = 5.0
VIRTUAL_SECONDS_MAX = 12 * 3600.0


class Killed(BaseException):
    """The process is killed at this step."""


class Sent(NamedTuple):
    """An attempt that reached a receiver, or failed to."""

    at: float
    url: str
    message_id: str
    body: dict[str, Any]
    attempt: int
    status: int | None


@dataclass
class VirtualDatabase:
    """The database of one process, whose transactions begin and end with a step; any step may be the last one."""

    simulation: Simulation
    database: PostgresDatabase

    async def transact(self, use_case: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        self.simulation.step()
        result = await self.database.transact(use_case, *args, **kwargs)
        self.simulation.step()
        return result


@dataclass
class Simulation:
    """Organizations with receivers, processes that send, and a record of every attempt."""

    seed: str
    database: PostgresDatabase
    connection: Connection
    vault: Vault
    clock: MockClock
    kill_probability: float = 0.0
    sent: list[Sent] = field(default_factory=list[Sent])
    kills: int = 0
    metrics: PrometheusMetrics = field(default_factory=lambda: PrometheusMetrics(version="test"))
    webhooks: dict[str, UUID] = field(default_factory=dict[str, "UUID"])
    organizations: dict[str, UUID] = field(default_factory=dict[str, "UUID"])
    over: trio.Event = field(default_factory=trio.Event)
    _steps: int = 0
    _attempts: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))

    @property
    def now(self) -> float:
        """The virtual time in seconds."""
        return self.clock.current_time()

    def drawn(self, *what: object) -> random.Random:
        """Return the random numbers of an occurrence, which depend on the seed and on what occurs."""
        return random.Random("/".join(map(str, (self.seed, *what))))

    def step(self) -> None:
        """Kill the process, with the probability of the simulation."""
        self._steps += 1
        if self.drawn("step", self._steps).random() < self.kill_probability:
            raise Killed

    def organization(self, name: str, **receivers: str) -> None:
        """Insert an organization, and a webhook for each receiver: its name and its behaviour."""
        builder = Builder(self.connection, lambda: EPOCH)
        organization_id = builder.organization(name)
        # The organization's owner is notified when a receiver is gone.
        builder.member(organization_id, builder.user(f"owner@{name}.example"), "owner")
        self.organizations[name] = organization_id
        for receiver, behaviour in receivers.items():
            webhook_id = new_id()
            webhook = Webhook(
                id=webhook_id,
                name=receiver,
                url=f"https://{name}/{receiver}/{behaviour}",
                events=[EventType.USER_INVITED.value],
                is_active=True,
                created_at=EPOCH,
                updated_at=EPOCH,
            )
            aggregate = PostgresWebhooks(transaction_on(self.connection, self.vault))
            assert aggregate.add(organization_id, webhook, SigningSecrets(current=SECRET))
            self.webhooks[f"{name}/{receiver}"] = webhook_id

    async def publish(self, organization: str, *names: str) -> None:
        """Publish events of an organization in one transaction, as a request to another process does."""

        def publish_all(uow: UnitOfWork) -> None:
            for name in names:
                uow.publish(
                    EventType.USER_INVITED, organization_id=self.organizations[organization], name=name, of=organization
                )

        await self.database.transact(publish_all)

    async def send(
        self, organization_id: UUID, url: str, delivery: DueDelivery, secrets: Sequence[Secret], *, at: datetime
    ) -> Attempt:
        """Send to a receiver, which behaves as its URL says (the port `WebhookSender`)."""
        assert [secret.reveal() for secret in secrets] == [SECRET.reveal()]
        self.step()
        name, behaviour = delivery.payload["data"]["name"], url.rpartition("/")[2]
        self._attempts[url, name] += 1
        began_at, number = self.now, delivery.attempt_count + 1
        seconds, attempt = _behave(behaviour, self.drawn(url, name, self._attempts[url, name]))
        await trio.sleep(seconds)
        self.sent.append(Sent(began_at, url, delivery.message_id, delivery.payload, number, attempt.status_code))
        self.step()
        return attempt

    async def run_process(self) -> None:
        """Run a sequencer and a dispatcher, which are started again after each kill, until the simulation is over."""
        while not self.over.is_set():
            try:
                await self._run_once()
            except* Killed:
                self.kills += 1
            await trio.sleep(self.drawn("restart", self.kills).uniform(0, RESTART_SECONDS_MAX))

    async def _run_once(self) -> None:
        mailboxes = Timekeeper(self.metrics)
        database: Any = VirtualDatabase(self, replace(self.database, mailboxes=mailboxes))
        sequencer = EventSequencer(
            database=database, mailboxes=mailboxes, waiters=MemoryFeedWaiters(), metrics=self.metrics
        )
        dispatcher = WebhookDispatcher(
            database=database,
            mailboxes=mailboxes,
            sender=self,
            metrics=self.metrics,
            clock=lambda: EPOCH + timedelta(seconds=self.now),
        )
        mailboxes.add("event_sequencer", sequencer.box)
        mailboxes.add("webhook_dispatcher", dispatcher.box)
        async with trio.open_nursery() as nursery:
            for actor in (mailboxes, sequencer, dispatcher):
                nursery.start_soon(actor.run)
            if self.kill_probability:
                nursery.start_soon(self._cancel_sometime, nursery.cancel_scope)
            await self.over.wait()
            nursery.cancel_scope.cancel()

    async def _cancel_sometime(self, scope: trio.CancelScope) -> None:
        await trio.sleep(self.drawn("cancel", self._steps).expovariate(1 / 600))
        scope.cancel()

    async def run_until_quiet(self, processes: int) -> None:
        """Run processes until every event is handed on and every delivery is over."""
        async with trio.open_nursery() as nursery:
            for _ in range(processes):
                nursery.start_soon(self.run_process)
            await self._quiet()
            self.over.set()

    async def _quiet(self) -> None:
        with trio.fail_after(VIRTUAL_SECONDS_MAX):
            while True:
                if self.open_deliveries() == 0:
                    return
                await trio.sleep(PERIOD_SECONDS)

    def open_deliveries(self) -> int:
        """Return how many events and deliveries wait that an active webhook is to get."""
        [[count]] = self.connection.execute(
            """
            SELECT (SELECT count(*) FROM events WHERE position = 0)
                 + (SELECT count(*)
                    FROM   webhook_deliveries d
                    JOIN   webhooks w ON w.id = d.webhook_id
                    JOIN   organizations o ON o.id = w.organization_id
                    WHERE  d.next_retry_at IS NOT NULL AND w.is_active AND o.status = 'active')
            """
        ).fetchall()
        return count


def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the actors look for work seldom, and nothing measure their boxes."""
    monkeypatch.setattr(timekeeper, "MEASURED_SECONDS", math.inf)
    monkeypatch.setattr(EventSequencer, "period_seconds", PERIOD_SECONDS)
    monkeypatch.setattr(WebhookDispatcher, "period_seconds", PERIOD_SECONDS)


def _behave(behaviour: str, chance: random.Random) -> tuple[float, Attempt]:
    """Return how long a receiver takes, and what it answers."""
    success = Attempt(status_code=200, body="fine", error=None)
    silent = Attempt(status_code=None, body=None, error="The receiver did not answer within 15 seconds.")
    match behaviour:
        case "good":
            return chance.uniform(0, 0.2), success
        case "slow":
            return chance.uniform(5, ATTEMPT_SECONDS_MAX), success
        case "dead":
            return ATTEMPT_SECONDS_MAX, silent
        case "failing":
            return 0.1, Attempt(status_code=500, body="no", error="The receiver answered 500.")
        case "redirecting":
            return 0.1, Attempt(status_code=302, body="", error="The receiver answered 302.")
        case "cutting":
            # It closes amid the body, or lies about its length; the status is the answer.
            return chance.uniform(0, ATTEMPT_SECONDS_MAX), Attempt(status_code=201, body="fi", error=None)
        case "gone":
            return 0.1, Attempt(status_code=410, body="", error="The receiver answered 410.")
        case _:
            assert behaviour == "flapping", behaviour
            answers = (success, silent, Attempt(status_code=503, body="", error="The receiver answered 503."))
            return chance.uniform(0, ATTEMPT_SECONDS_MAX), chance.choice(answers)

"""A simulation of sealing and streaming: writers, sealers and streamers at once, which die, and receivers that fail.

Whatever happens, every entry reaches the receiver of its organization, at first in the order of the chain, and reaches
no other one. The seed of the dice is the parameter of a run; which process is ahead depends on the database.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import trio

from adapters.postgres.database import PostgresDatabase
from core.audit import chain, siem_stream
from core.audit.siem_stream import BACKOFF_MAX, LEASE, SiemEvent, SiemTarget, StreamReceipt
from core.errors import ServiceUnavailable
from tests.audit_chains import add_entry, verify
from tests.clock import SettableClock
from tests.drawing import drawn_numbers
from tests.postgres import connected
from tests.world.team import Team
from tests.world.world import World

Transact = Callable[..., Any]


ORGANIZATIONS = 4
ROUNDS = 30
# More than enough for everything that can be left.
CATCH_UP_ROUNDS_MAX = 30
CATCH_UP_ENTRIES = 500
TOKEN = "a-token-that-opens-the-collector"
SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3))]


class Died(Exception):
    """The process died at this step, and lost what it was about to send."""


@dataclass
class Receivers:
    """The port `SiemSender` for the simulation: takes nothing, a part or all of the events, and may deny that."""

    dice: random.Random
    is_healthy: bool = False
    taken: dict[str, list[str]] = field(default_factory=dict)

    async def send(self, target: SiemTarget, events: Sequence[SiemEvent]) -> StreamReceipt:
        await trio.lowlevel.checkpoint()
        count = len(events) if self.is_healthy else self.dice.choice([0, 1, len(events) // 2, len(events), len(events)])
        self.taken.setdefault(target.endpoint, []).extend(event.id for event in events[:count])
        if not self.is_healthy and self.dice.random() < 0.3:
            # It has the events, but its answer says otherwise.
            return StreamReceipt(received=0, status_code=500, error="The receiver answered 500.")
        error = None if count == len(events) else "The receiver answered 429."
        return StreamReceipt(received=count, status_code=200, error=error)


@dataclass
class Simulation:
    """The processes of the simulation, each of which may die between any two of its steps."""

    database: PostgresDatabase
    receivers: Receivers
    dice: random.Random
    may_die: bool = True

    def step(self) -> None:
        """Die now and then."""
        if self.may_die and self.dice.random() < 0.15:
            raise Died

    async def seal(self) -> None:
        await self.database.transact(chain.seal_next, self.dice.randint(1, 20))

    async def stream(self) -> None:
        leased = await self.database.transact(siem_stream.lease, self.dice.randint(1, ORGANIZATIONS))
        for stream in leased:
            self.step()
            batch = await self.database.read(siem_stream.next_batch, stream)
            self.step()
            receipt = StreamReceipt(received=0, status_code=None, error=None)
            if batch.events:
                receipt = await self.receivers.send(stream.target, siem_stream.to_send(stream, batch))
            self.step()
            await self.database.transact(siem_stream.record, stream, batch, receipt)

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except (Died, ServiceUnavailable):
            return


@pytest.fixture
async def teams(world: World) -> list[Team]:
    """Organizations with streams from the beginning of their logs."""
    teams: list[Team] = []
    for number in range(ORGANIZATIONS):
        team = world.team(f"org-{number}")
        team.add(f"boss{number}", "owner")
        endpoint = f"https://siem-{number}.example.com/"
        body = {"provider": "http", "endpoint": endpoint, "token": TOKEN, "options": {"start": "beginning"}}
        answer = await team.request(f"boss{number}", "POST", "/siem", body=body)
        assert answer.status == 200, answer.text
        teams.append(team)
    return teams


@pytest.mark.hypothesis
@pytest.mark.parametrize("seed", SEEDS)
async def test_every_entry_reaches_its_receiver_in_order_whatever_dies_or_fails(
    teams: list[Team],
    database: PostgresDatabase,
    clock: SettableClock,
    transact: Transact,
    database_url: str,
    seed: int,
) -> None:
    [number] = drawn_numbers([seed])
    dice = random.Random(number)
    receivers = Receivers(dice)
    simulation = Simulation(database, receivers, dice)

    for _ in range(ROUNDS):
        # A transaction that commits only after others have written, sealed and streamed.
        with connected(database_url) as slow, slow.transaction():
            for team in dice.sample(teams, 2):
                add_entry(slow, team.organization_id, clock)
            for team in dice.sample(teams, 3):
                for _ in range(dice.randint(0, 30)):
                    add_entry(team.world.connection, team.organization_id, clock)
            async with trio.open_nursery() as nursery:
                for work in (simulation.seal, simulation.stream, simulation.seal, simulation.stream):
                    nursery.start_soon(simulation.run, work)
        clock.advance(dice.choice([timedelta(0), timedelta(seconds=5), LEASE, BACKOFF_MAX]))

    simulation.may_die, receivers.is_healthy = False, True
    for _ in range(CATCH_UP_ROUNDS_MAX):
        clock.advance(max(LEASE, BACKOFF_MAX))
        await database.transact(chain.seal_next, CATCH_UP_ENTRIES)
        await simulation.stream()
    assert not any(is_behind(team) for team in teams)

    for number, team in enumerate(teams):
        taken = receivers.taken[f"https://siem-{number}.example.com/"]
        # At least once, each for the first time in its order; `dict` keeps the first of several.
        assert list(dict.fromkeys(taken)) == chain_of(team)
        assert transact(verify, team.organization_id) == len(chain_of(team))
    assert len(receivers.taken) == ORGANIZATIONS


def is_behind(team: Team) -> bool:
    """Return whether an entry is not sealed or not received."""
    [[entries, unsealed]] = team.world.rows(
        "SELECT count(*), count(*) FILTER (WHERE position IS NULL) FROM audit_entries WHERE organization_id = %s",
        team.organization_id,
    )
    received = team.world.value("SELECT position FROM siem_streams WHERE organization_id = %s", team.organization_id)
    return unsealed > 0 or received < entries


def chain_of(team: Team) -> list[str]:
    """Return the ids of all entries in the order of the chain."""
    entries: list[UUID] = [
        entry
        for (entry,) in team.world.rows(
            "SELECT id FROM audit_entries WHERE organization_id = %s ORDER BY position", team.organization_id
        )
    ]
    return [str(entry) for entry in entries]

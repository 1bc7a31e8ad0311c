"""Invitations expire at their time, on a real database: the poll knows when, and tells all processes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from actors.event_sequencer import MemoryFeedWaiters
from actors.invitation_sweeper import InvitationSweeper
from actors.live_processes import MemoryLiveProcesses
from actors.poller import IDLE_SECONDS, Poller
from actors.timekeeper import Timekeeper
from adapters.postgres.listening import PostgresListening
from adapters.prometheus import PrometheusMetrics
from core.billing.provider import BillingMode
from core.secrets import Secret
from tests.actors.webhooks.simulation import EPOCH, Simulation

LATE_SECONDS_MAX = 2.0


class Process:
    """The poller, the timekeeper and the sweeper of one process."""

    def __init__(self, simulation: Simulation, database_url: str) -> None:
        metrics = PrometheusMetrics(version="test")
        self.timekeeper = Timekeeper(metrics)
        database: Any = replace(simulation.database, mailboxes=self.timekeeper)
        self.sweeper = InvitationSweeper(database=database, mailboxes=self.timekeeper, metrics=metrics)
        self.timekeeper.add("invitation_sweeper", self.sweeper.box)
        self.poller = Poller(
            listening=PostgresListening(Secret(database_url), mode=BillingMode.SANDBOX),
            mode=BillingMode.SANDBOX,
            clock=lambda: EPOCH + timedelta(seconds=simulation.now),
            database=database,
            keeper=self.timekeeper,
            processes=MemoryLiveProcesses(),
            waiters=MemoryFeedWaiters(),
            metrics=metrics,
        )
        self.scope = trio.CancelScope()

    async def run(self) -> None:
        """Run until cancelled."""
        with self.scope:
            async with trio.open_nursery() as nursery:
                for actor in (self.timekeeper, self.poller, self.sweeper):
                    nursery.start_soon(actor.run)


def invite(simulation: Simulation, name: str, expires_in: float) -> datetime:
    """Insert an invitation; return when it expires."""
    expires_at = EPOCH + timedelta(seconds=simulation.now + expires_in)
    simulation.connection.execute(
        """
        INSERT INTO invitations (id, organization_id, email, role, status, token_hash, token_sealed, proof_hash,
                                 created_at, expires_at)
        SELECT gen_random_uuid(), id, %s, 'member', 'pending', sha256(%s::bytea), '', '', %s, %s FROM organizations
        """,
        (f"{name}@example.org", name, EPOCH, expires_at),
    )
    return expires_at


def expired_at(simulation: Simulation) -> list[datetime]:
    """Return when invitations were recorded as expired."""
    rows = simulation.connection.execute(
        "SELECT occurred_at FROM events WHERE type = 'invitation.expired' ORDER BY occurred_at"
    ).fetchall()
    return [at for (at,) in rows]


@pytest.mark.parametrize("gone", [None, "polling", "listening"])
async def test_an_invitation_expires_within_two_seconds_of_its_time_whichever_process_is_gone(
    simulation: Simulation, database_url: str, nursery: trio.Nursery, autojump_clock: MockClock, gone: str | None
) -> None:
    simulation.organization("acme")
    processes = [Process(simulation, database_url) for _ in range(2)]
    for process in processes:
        nursery.start_soon(process.run)
        await trio.sleep(2 * IDLE_SECONDS)
    expected = [invite(simulation, str(number), number) for number in (31, 33.3, 50)]
    await trio.sleep(32)

    if gone is not None:
        processes[gone == "listening"].scope.cancel()
    await trio.sleep(30)

    late = [(at - due).total_seconds() for at, due in zip(expired_at(simulation), expected, strict=True)]
    assert min(late) >= 0
    assert max(late) <= LATE_SECONDS_MAX
    nursery.cancel_scope.cancel()

"""A simulation, for the tests in this folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from trio.testing import MockClock

from adapters.crypto.vault import Vault
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from tests.actors.webhooks.simulation import EPOCH, Simulation, patient


@pytest.fixture
def clock(autojump_clock: MockClock) -> Callable[[], datetime]:
    """The clock of the transactions, which shows the virtual time."""
    return lambda: EPOCH + timedelta(seconds=autojump_clock.current_time())


@pytest.fixture
async def simulation(
    database: PostgresDatabase,
    connection: Connection,
    vault: Vault,
    autojump_clock: MockClock,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Simulation:
    """A simulation with the seed of the environment, or with one of the test's own; a failing test prints it."""
    patient(monkeypatch)
    seed = os.environ.get("GATEHOUSE_SIMULATION_SEED") or request.node.name
    request.node.add_report_section("setup", "simulation", f"GATEHOUSE_SIMULATION_SEED={seed}")
    return Simulation(seed, database, connection, vault, autojump_clock)

"""A simulation, for the tests in this folder."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from trio.testing import MockClock

from adapters.crypto.vault import Vault
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from tests.actors.webhooks.simulation import EPOCH, Simulation, patient
from tests.drawing import report_seed


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
    """A simulation whose seed is the name of the test, with the seed of a report where that is given."""
    patient(monkeypatch)
    return Simulation(f"{request.node.name} {report_seed()}", database, connection, vault, autojump_clock)

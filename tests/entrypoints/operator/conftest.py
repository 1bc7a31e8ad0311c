"""The application and the world, an organization with a sealed log, and a doctor, for the tests in this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.secrets import Secret
from entrypoints import equipment
from entrypoints.settings import Settings
from tests.application import actors, application, client, installation, key_pairs, settings
from tests.audit_chains import ENTRIES, add_entry, seal_all
from tests.clock import SettableClock
from tests.entrypoints.operator.doctors import Doctor
from tests.mail_server import PostOffice
from tests.processes import MASTER_KEY, address
from tests.world.builder import Builder
from tests.world.fixtures import PLATFORM_OWNER, builder, world
from tests.world.team import Team
from tests.world.world import World

Transact = Callable[..., Any]


__all__ = ["actors", "application", "builder", "client", "installation", "key_pairs", "settings", "world"]


@pytest.fixture
def acme(builder: Builder, clock: SettableClock, transact: Transact) -> UUID:
    """An organization with a sealed log."""
    organization_id = builder.organization()
    for number in range(ENTRIES):
        add_entry(builder.connection, organization_id, clock, n=number)
    seal_all(transact)
    return organization_id


@pytest.fixture
async def team(world: World, acme: UUID) -> Team:
    """The organization with an admin."""
    team = Team(world, acme, "acme")
    team.add("admin", "admin")
    return team


@pytest.fixture
def mail_server() -> Iterator[PostOffice]:
    """A mail server."""
    mail_server = PostOffice()
    with mail_server.open():
        yield mail_server


@pytest.fixture
def healthy_doctor(
    database_url: str,
    connection: Connection,
    clock: SettableClock,
    mail_server: PostOffice,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Doctor:
    """A doctor of an installation as in production, which measures fast password hashing."""
    Builder(connection, clock).user(PLATFORM_OWNER, password_hash=None, is_platform_owner=True, has_mfa=True)
    monkeypatch.setattr(equipment, "hashes_per_second", lambda: 150.4)
    monkeypatch.setattr(equipment, "hashing_built_for", lambda: "avx2")
    return Doctor(
        Settings(
            base_url="https://id.example.com",
            name="Acme ID",
            smtp_url=Secret(f"smtp://127.0.0.1:{mail_server.port}?from=id@example.com"),
            database_url=Secret(address(database_url)),
            master_keys=Secret(MASTER_KEY),
            data_dir=tmp_path / "data",
            database_connections=2,
        )
    )

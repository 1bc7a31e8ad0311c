"""The installation's own secrets: created once, the same for every replica, and never stored unencrypted."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import trio

from adapters.crypto.pepper import PEPPER_BYTES
from adapters.crypto.vault import Vault
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.postgres.sessions.server_secrets import PostgresServerSecrets
from core.sessions import server_secrets
from tests.clock import SettableClock
from tests.transactions import transaction_on

Transact = Callable[..., Any]


RACERS = 10


def test_the_first_start_creates_the_secret(transact: Transact) -> None:
    fresh = os.urandom(PEPPER_BYTES)

    assert transact(server_secrets.pepper, fresh) == fresh


def test_every_later_start_reads_the_same_secret(transact: Transact) -> None:
    first = transact(server_secrets.pepper, os.urandom(PEPPER_BYTES))

    assert transact(server_secrets.pepper, os.urandom(PEPPER_BYTES)) == first


async def test_replicas_that_start_at_once_have_the_same_secret(database: PostgresDatabase) -> None:
    found: list[bytes] = []

    async def start() -> None:
        found.append(await database.transact(server_secrets.pepper, os.urandom(PEPPER_BYTES)))

    async with trio.open_nursery() as nursery:
        for _ in range(RACERS):
            nursery.start_soon(start)

    assert len(found) == RACERS
    assert len(set(found)) == 1


def test_secrets_of_different_names_are_independent(transact: Transact) -> None:
    one, other = os.urandom(PEPPER_BYTES), os.urandom(PEPPER_BYTES)

    assert transact(lambda uow: uow.server_secrets.ensure("one", one)) == one
    assert transact(lambda uow: uow.server_secrets.ensure("other", other)) == other


def test_a_secret_is_stored_encrypted(
    transact: Transact, connection: Connection, vault: Vault, clock: SettableClock
) -> None:
    fresh = os.urandom(PEPPER_BYTES)
    transact(server_secrets.pepper, fresh)

    row = connection.execute("SELECT value_sealed, created_at FROM server_secrets").fetchone()

    assert row is not None
    assert fresh not in row[0]
    assert row[1] == clock.now
    assert (
        PostgresServerSecrets(transaction_on(connection, vault, clock.now)).ensure(server_secrets.PEPPER, b"") == fresh
    )

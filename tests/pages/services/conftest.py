"""A server of the present moment, for programs that sign in to it with their own clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from tests.browser import Site
from tests.world.builder import Builder


@pytest.fixture
def world_of_now(connection: Connection) -> Builder:
    """Rows of the present moment, which programs compare with their own clock."""
    builder = Builder(connection, lambda: datetime.now(UTC))
    builder.member(builder.organization(), builder.user(), "owner")
    return builder


@pytest.fixture
def site(world_of_now: Builder, database_url: str, key_pairs: tuple[KeyPair, KeyPair]) -> Iterator[Site]:
    """A running server with an account that owns an active organization."""

    async def prepare(_database: PostgresDatabase) -> None:
        """Everything is inserted already."""

    routes = capabilities.routes(is_development=True)
    site = Site(routes, database_url, key_pairs, prepare=prepare, name="localhost", clock=lambda: datetime.now(UTC))
    yield site
    site.close()

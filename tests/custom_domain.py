"""A running server that serves an organization under its verified domain, for tests with programs of others."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import cast
from uuid import UUID

import psycopg

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.organizations.settings.branding import Branding
from core.organizations.settings.pictures import Picture, PictureKind, PictureType
from core.sessions.signing_keys import KeyPair
from entrypoints import capabilities
from ports.unit_of_work import UnitOfWork
from tests.browser import Site
from tests.clock import SettableClock
from tests.pictures import drawn_png
from tests.postgres import Databases
from tests.world.builder import EMAIL, Builder, new_id

LOGO = Picture(type=PictureType.PNG, content=drawn_png(40, 30))
BRANDING = Branding(
    logo=LOGO.name,
    primary_color="#7a1f5c",
    background_color="#fdf3fa",
    terms_url="https://acme.example/terms",
    updated_at=SettableClock()(),
)


@contextmanager
def serving_domain(databases: Databases, keys: tuple[KeyPair, KeyPair], domain: str) -> Generator[Site]:
    """Serve while the block lasts; the organization has a branding, and a member with the usual address."""

    with databases.migrated() as database_url:

        async def prepare(database: PostgresDatabase) -> None:
            with psycopg.connect(database_url, autocommit=True) as connection:
                organization_id = _insert(cast("Connection", connection), domain)
            await database.transact(_brand, organization_id)

        routes = capabilities.routes(is_development=True)
        site = Site(routes, database_url, keys, prepare=prepare, name="localhost")
        try:
            yield site
        finally:
            site.close()


def _insert(connection: Connection, domain: str) -> UUID:
    builder = Builder(connection, SettableClock())
    organization_id = builder.organization()
    builder.member(organization_id, builder.user(EMAIL), "member")
    connection.execute(
        """
        INSERT INTO custom_domains (id, organization_id, domain, value, status, verified_at, proved_at, next_check_at)
        VALUES (%s, %s, %s, '', 'verified', now(), now(), now())
        """,
        (new_id(), organization_id, domain),
    )
    return organization_id


def _brand(uow: UnitOfWork, organization_id: UUID) -> None:
    uow.branding.set_picture(organization_id, PictureKind.LOGO, LOGO)
    uow.branding.save(organization_id, BRANDING)

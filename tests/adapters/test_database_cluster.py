"""A worker of a cluster is killed: what needs it is refused until it is back, the rest goes on, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.unit_of_work import Tools
from core.errors import ServiceUnavailable
from tests.adapters.counters import sql
from tests.citus import Node
from tests.citus_databases import CitusDatabases
from tests.mailboxes import RecordedMailboxes
from tests.waiting import WAIT_SECONDS_MAX

pytestmark = pytest.mark.long

ORGANIZATIONS: Final = [UUID(int=number) for number in range(1, 9)]
NOW: Final = datetime(2026, 11, 26, tzinfo=UTC)


@pytest.fixture
def url(citus_databases: CitusDatabases) -> Iterator[str]:
    """A database whose logs are distributed."""
    with citus_databases.migrated() as url:
        yield url


@pytest.fixture
def database(citus_databases: CitusDatabases, url: str, tools: Tools, mailboxes: RecordedMailboxes) -> PostgresDatabase:
    """The database as the application sees it."""
    return PostgresDatabase(
        pool=citus_databases.pool(url), tools=tools, mailboxes=mailboxes, wait_seconds_max=WAIT_SECONDS_MAX
    )


def change(uow: Any, number: int, organization_id: UUID) -> None:
    """Change something on the coordinator, and write the row of it to the log of an organization."""
    id_ = UUID(int=number)
    insert = "INSERT INTO users (id, email, created_at, updated_at) VALUES (%s, %s, %s, %s) RETURNING id"
    sql(uow, insert, id_, f"{number}@example.com", NOW, NOW)
    sql(
        uow,
        """
        INSERT INTO scim_log_entries (id, organization_id, token_id, token_name, method, path, status, created_at)
        VALUES (%s, %s, %s, '', 'GET', '/', 200, %s)
        RETURNING id
        """,
        id_,
        organization_id,
        id_,
        NOW,
    )


def node_of(url: str, workers: list[Node], organization_id: UUID) -> Node:
    """Return the worker that has the log of an organization."""
    with psycopg.connect(url) as connection:
        [[host]] = connection.execute(
            """
            SELECT nodename FROM citus_shards
            WHERE  shardid = get_shard_id_for_distribution_column('scim_log_entries', %s)
            """,
            (organization_id,),
        ).fetchall()
    return next(worker for worker in workers if str(worker.folder) == host)


async def test_a_killed_worker_refuses_what_needs_it_and_loses_nothing_that_was_confirmed(
    citus_databases: CitusDatabases, url: str, database: PostgresDatabase
) -> None:
    workers = list(citus_databases.cluster.workers)
    places = {each: node_of(url, workers, each) for each in ORGANIZATIONS}
    killed = places[ORGANIZATIONS[0]]
    confirmed, refused, number = set[int](), set[UUID](), 0

    async def write_all() -> None:
        nonlocal number
        for organization_id in ORGANIZATIONS:
            number += 1
            try:
                await database.transact(change, number, organization_id)
            except ServiceUnavailable:
                refused.add(organization_id)
            else:
                confirmed.add(number)

    await write_all()
    assert (len(confirmed), refused) == (len(ORGANIZATIONS), set())
    killed.stop("immediate")
    try:
        await write_all()
        assert refused == {each for each in ORGANIZATIONS if places[each] is killed}
        assert await database.read(lambda uow: sql(uow, "SELECT count(*) FROM users")) == [(len(confirmed),)]
    finally:
        killed.start()
    refused.clear()
    await write_all()

    # The connections of before, which the coordinator has kept, are replaced without a refusal.
    assert refused == set()
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT id FROM scim_log_entries").fetchall()
        assert {id_.int for (id_,) in rows} == confirmed
        assert connection.execute("SELECT count(*) FROM users").fetchone() == (len(confirmed),)

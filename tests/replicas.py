"""A database with a streaming replica, both real, as fixtures in place of the ones of `tests/conftest.py`."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from actors.replica_watcher import ReplicaWatcher
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver import replica
from adapters.postgres.driver.replica import ReplicaDriver
from adapters.postgres.driver.statements import Statement, Statements
from adapters.postgres.replicas import PRIMARY, Replicas
from adapters.postgres.transaction import Tools
from tests.mailboxes import RecordedMailboxes
from tests.postgres import CONNECTIONS_MAX, Databases, data_folder
from tests.standby import Node
from tests.waiting import WAIT_SECONDS_MAX, eventually


@dataclass
class PlacesRead:
    """The port `ReplicaMetrics`: the places that were read, in order, and what was seen of each replica last."""

    places: list[str] = field(default_factory=list)
    lag_seconds: dict[str, float | None] = field(default_factory=dict)
    in_use: dict[str, bool] = field(default_factory=dict)

    def read_elsewhere(self, place: str) -> None:
        """Note a place."""
        self.places.append(place)

    def replica_seen(self, replica: str, *, lag_seconds: float | None, is_in_use: bool) -> None:
        """Note what was seen."""
        self.lag_seconds[replica], self.in_use[replica] = lag_seconds, is_in_use

    @property
    def last_is_replica(self) -> bool:
        """Whether the last use case that might was answered by a replica."""
        return self.places[-1] != PRIMARY


@pytest.fixture(scope="module")
def nodes() -> Iterator[tuple[Node, Node]]:
    """A primary and its standby."""
    # A server that still wrote would keep its folder from being deleted.
    with (
        data_folder() as first,
        data_folder() as second,
        closing(Node(first)) as primary,
        closing(primary.copy_to(second)) as standby,
    ):
        yield primary, standby


@pytest.fixture(scope="module")
def databases(nodes: tuple[Node, Node]) -> Iterator[Databases]:
    """The maker of databases on the primary."""
    databases = Databases(nodes[0].url)
    yield databases
    databases.close_pool()
    databases.close()


@pytest.fixture
def read_url(nodes: tuple[Node, Node], database_url: str) -> str:
    """The address of the test's database on the standby."""
    return make_conninfo(nodes[1].url, dbname=conninfo_to_dict(database_url)["dbname"])


@pytest.fixture
def places() -> PlacesRead:
    """Where is read."""
    return PlacesRead()


@pytest.fixture
def replicas(read_url: str, places: PlacesRead) -> Iterator[Replicas]:
    """The standby, which is not in use before the first look."""
    with closing(Replicas([read_url], connections_max=CONNECTIONS_MAX, metrics=places)) as replicas:
        yield replicas


@pytest.fixture
async def database(
    databases: Databases,
    database_url: str,
    tools: Tools,
    mailboxes: RecordedMailboxes,
    replicas: Replicas,
    places: PlacesRead,
    monkeypatch: pytest.MonkeyPatch,
) -> PostgresDatabase:
    """The test's database, whose replica is in use and is waited for however slow the machine is."""
    monkeypatch.setattr(replica, "REACH_SECONDS_MAX", WAIT_SECONDS_MAX)
    database = PostgresDatabase(
        pool=databases.pool(database_url),
        tools=tools,
        mailboxes=mailboxes,
        wait_seconds_max=WAIT_SECONDS_MAX,
        replicas=replicas,
    )
    await taken(database, replicas, places)
    return database


async def taken(database: PostgresDatabase, replicas: Replicas, places: PlacesRead) -> None:
    """Look at the replicas until all are in use."""
    watcher = ReplicaWatcher(database=database, replicas=replicas)

    async def are_in_use() -> bool:
        await watcher.look()
        return bool(places.in_use) and all(places.in_use.values())

    await eventually(are_in_use)


@contextmanager
def replay_paused(standby: Node) -> Generator[None]:
    """Let the standby receive the log of the primary and not replay it."""
    standby.execute("SELECT pg_wal_replay_pause()")
    try:
        while standby.execute("SELECT pg_get_wal_replay_pause_state()") != [("paused",)]:
            pass
        yield
    finally:
        standby.execute("SELECT pg_wal_replay_resume()")


@contextmanager
def statements_by_place() -> Generator[tuple[list[str], list[str]]]:
    """Record the statements that are sent to the primary, and those that are sent to replicas."""
    primary, elsewhere = list[str](), list[str]()
    # `Any`, because the type checker forbids replacing a method; it is restored afterwards.
    statements: Any = Statements
    send = statements._send

    def record(self: Statements, statement: Statement) -> Any:
        is_elsewhere = isinstance(self._transformer.connection, ReplicaDriver)
        (elsewhere if is_elsewhere else primary).append(" ".join(statement.text.decode().split()))
        return send(self, statement)

    statements._send = record
    try:
        yield primary, elsewhere
    finally:
        statements._send = send

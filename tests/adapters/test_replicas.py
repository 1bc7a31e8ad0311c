"""Replicas that lag, die, conflict, are promoted or are none: the primary answers, and they are taken back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import psutil
import psycopg
import pytest
import structlog
import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from actors.replica_watcher import ReplicaWatcher
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver import replica
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.positions import Position
from adapters.postgres.driver.replica import ELSEWHERE, NO_STANDBY
from adapters.postgres.driver.timed_connection import TimedConnection
from adapters.postgres.replicas import LAG_SECONDS_MAX, OTHER_TIMELINE, PRIMARY, TOO_FAR_BEHIND, Replicas, report_of
from core.errors import DatabaseFailed
from tests.adapters.outages import frozen
from tests.postgres import CONNECTIONS_MAX, connected, data_folder, driver_of
from tests.replicas import (
    PlacesRead,
    database,
    databases,
    nodes,
    places,
    read_url,
    replay_paused,
    replicas,
    taken,
)
from tests.standby import Node
from tests.waiting import WAIT_SECONDS_MAX, eventually

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long
__all__ = ["database", "databases", "nodes", "places", "read_url", "replicas"]


def read(uow: Any, text: bytes = b"SELECT 1", before: Callable[[Any], None] | None = None) -> Any:
    """Read where the position of the primary that a caller has seen allows it."""
    uow._transaction.position = uow.primary.place().position
    connection = uow.elsewhere._transaction.connection
    if before is not None:
        before(connection)
    return connection.execute(text).fetchone()[0]


async def test_an_idle_replica_shows_everything_also_at_the_end_of_a_file_of_the_log(
    database: PostgresDatabase, places: PlacesRead, nodes: tuple[Node, Node]
) -> None:
    for setting in ("on", "off"):
        nodes[0].execute("SELECT pg_switch_wal()")
        nodes[0].execute(f"ALTER ROLE gatehouse SET synchronous_commit = {setting}")
        database.pool.renew()
        await database.read(read)

        assert places.last_is_replica
    nodes[0].execute("ALTER ROLE gatehouse RESET synchronous_commit")


async def test_a_replica_that_lags_is_left_and_taken_back(
    database: PostgresDatabase, places: PlacesRead, replicas: Replicas, nodes: tuple[Node, Node], read_url: str
) -> None:
    watcher = ReplicaWatcher(database=database, replicas=replicas)
    with replay_paused(nodes[1]), structlog.testing.capture_logs() as logged:
        nodes[0].execute("CREATE TABLE marks (); DROP TABLE marks")
        await watcher.look()
        is_used_at_first = dict(places.in_use)
        # As if the primary had been there for longer.
        moments = vars(replicas)["_moments"]._moments
        for number, (at, position) in enumerate(list(moments)):
            moments[number] = (at - LAG_SECONDS_MAX - 1, position)
        await watcher.look()
        await database.read(read)
        left = dict(places.in_use)
        with psycopg.connect(conninfo_of(database)) as primary:
            report = report_of(read_url, primary)
    await taken(database, replicas, places)
    await database.read(read)

    assert set(is_used_at_first.values()) == {True}
    assert set(left.values()) == {False}
    assert places.places[0] == PRIMARY
    assert places.last_is_replica
    assert [line["reason"] for line in logged if line["event"] == "replica.left"] == [TOO_FAR_BEHIND]
    assert (report.problem, report.lag_seconds is not None) == (None, True)


async def test_a_replica_that_dies_during_a_request_is_left_without_an_error_and_taken_back(
    database: PostgresDatabase, places: PlacesRead, replicas: Replicas, nodes: tuple[Node, Node]
) -> None:
    ends: list[int] = []

    def end(connection: Any) -> None:
        if not ends:
            ends.append(driver_of(connection).info.backend_pid)
            nodes[1].execute(
                "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'gatehouse'"
            )

    answered = await database.read(read, before=end)
    in_use = [one.replica.is_in_use for one in vars(replicas)["_looked_at"]]
    await database.read(read)

    assert answered == 1
    assert in_use == [False]
    assert [place == PRIMARY for place in places.places] == [False, True]
    await taken(database, replicas, places)
    await database.read(read)
    assert places.last_is_replica


async def test_a_replica_that_hangs_is_not_waited_for_and_is_left(
    database: PostgresDatabase,
    places: PlacesRead,
    replicas: Replicas,
    nodes: tuple[Node, Node],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await database.read(read)
    monkeypatch.setattr(replica, "REACH_SECONDS_MAX", 0.05)
    monkeypatch.setattr(replica, "ANSWER_SECONDS_MAX", 0.05)
    monkeypatch.setattr(replica, "CONNECTION_SECONDS_MAX", 0.05)

    server = psutil.Process(nodes[1].pid)
    # With the process that accepts connections, so that no new one answers either.
    with frozen(server, *server.children()):
        # So that the replica has to be asked.
        nodes[0].execute("CREATE TABLE marks (); DROP TABLE marks")
        answers = [await database.read(read), await database.read(read)]
        places_read = places.places[1:]
        await ReplicaWatcher(database=database, replicas=replicas).look()
        in_use = [one.replica.is_in_use for one in vars(replicas)["_looked_at"]]

    assert answers == [1, 1]
    assert places_read == [PRIMARY, PRIMARY]
    assert in_use == [False]
    await taken(database, replicas, places)


async def test_what_conflicts_with_the_log_is_read_from_the_primary(
    database: PostgresDatabase,
    replicas: Replicas,
    nodes: tuple[Node, Node],
    connection: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(TimedConnection, "_answer_seconds_max", WAIT_SECONDS_MAX)
    connection.execute("CREATE TABLE marks (at integer)")
    connection.execute("INSERT INTO marks VALUES (1)")
    nodes[1].execute("ALTER SYSTEM SET max_standby_streaming_delay = 0")
    nodes[1].execute("SELECT pg_reload_conf()")

    def is_reading() -> bool:
        return bool(
            nodes[1].execute(
                "SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND state = 'active'"
                " AND pid <> pg_backend_pid()"
            )
        )

    def unlimited(connection: Any) -> None:
        connection.execute("SET statement_timeout = 0")

    answers: list[Any] = []

    async def read_slowly() -> None:
        # On the primary there is no row left to sleep for.
        answers.append(await database.read(read, b"SELECT count(pg_sleep(60)) FROM marks", unlimited))

    with structlog.testing.capture_logs() as logged:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read_slowly)

            async def has_begun() -> bool:
                return await trio.to_thread.run_sync(is_reading)

            await eventually(has_begun)
            await trio.to_thread.run_sync(connection.execute, "TRUNCATE marks")
    connection.execute("DROP TABLE marks")
    database.pool.renew()

    assert answers == [0]
    assert [line["sqlstate"] for line in logged if line["event"] == "replica.read_failed"] == ["40001"]
    assert [one.replica.is_in_use for one in vars(replicas)["_looked_at"]] == [True]


async def test_a_write_is_refused_and_not_done_elsewhere(database: PostgresDatabase, connection: Any) -> None:
    connection.execute("CREATE TABLE marks (at integer)")
    try:
        with pytest.raises(DatabaseFailed):
            await database.transact(read, b"INSERT INTO marks VALUES (1) RETURNING at")
        written = connection.execute("SELECT count(*) FROM marks").fetchone()
    finally:
        connection.execute("DROP TABLE marks")

    assert written == (0,)


async def test_servers_that_are_no_standby_of_ours_are_not_read(
    database: PostgresDatabase, database_url: str, read_url: str, places: PlacesRead
) -> None:
    addresses = {
        database_url: NO_STANDBY,
        make_conninfo(read_url, dbname="postgres"): ELSEWHERE,
        make_conninfo(read_url, port="1"): "No such file or directory",
    }
    with closing(Replicas(list(addresses), connections_max=CONNECTIONS_MAX, metrics=places)) as replicas:
        with structlog.testing.capture_logs() as logged:
            await ReplicaWatcher(database=database, replicas=replicas).look()
            # What is known is said once.
            await ReplicaWatcher(database=database, replicas=replicas).look()
        found = PostgresDatabase(
            pool=database.pool, tools=database.tools, mailboxes=database.mailboxes, replicas=replicas
        )
        answered = await found.read(read)

    reasons = [line["reason"] for line in logged if line["event"] == "replica.left"]
    assert len(reasons) == len(addresses)
    assert all(any(reason in found for found in reasons) for reason in addresses.values()), reasons
    assert (answered, places.places) == (1, [PRIMARY])
    with psycopg.connect(database_url) as primary:
        reports = [report_of(url, primary) for url in (read_url, *addresses)]
    assert [report.problem is None for report in reports] == [True, False, False, False]


async def test_a_replica_that_is_promoted_is_left_and_what_follows_the_former_primary_is_not_read_beside_it(
    database: PostgresDatabase,
    database_url: str,
    nodes: tuple[Node, Node],
    places: PlacesRead,
    replicas: Replicas,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with data_folder() as folder, closing(nodes[0].copy_to(folder)) as other:
        url = make_conninfo(other.url, dbname=conninfo_to_dict(database_url)["dbname"])
        with closing(Replicas([url], connections_max=CONNECTIONS_MAX, metrics=places)) as others:
            places.in_use.clear()
            promoted = PostgresDatabase(
                pool=database.pool, tools=database.tools, mailboxes=database.mailboxes, replicas=others
            )
            await taken(promoted, others, places)
            await promoted.read(read)
            is_read_before = places.last_is_replica
            await trio.to_thread.run_sync(other.promote)
            with connected(database_url) as connection:
                connection.execute("CREATE TABLE marks ()")
                connection.execute("DROP TABLE marks")
            answered = await promoted.read(read)

            assert is_read_before
            assert (answered, places.places[-1]) == (1, PRIMARY)
            assert [one.replica.problem for one in vars(others)["_looked_at"]] == [NO_STANDBY]
        # The other standby still follows the server that takes no writes of ours any more.
        monkeypatch.setattr(replica, "REACH_SECONDS_MAX", 0.05)
        with closing(Pool(url, connections_max=CONNECTIONS_MAX)) as pool:
            after = PostgresDatabase(pool=pool, tools=database.tools, mailboxes=database.mailboxes, replicas=replicas)
            await after.read(read)
            is_read_at_first = places.last_is_replica
            await ReplicaWatcher(database=after, replicas=replicas).look()

        assert not is_read_at_first
        assert [one.replica.problem for one in vars(replicas)["_looked_at"]] == [OTHER_TIMELINE]


def conninfo_of(database: PostgresDatabase) -> str:
    """Return the address of a database."""
    return vars(database.pool)["_connect"].args[0]


def test_a_position_before_the_first_record_of_a_page_is_the_beginning_of_the_page() -> None:
    assert Position.of("00000001/0/3000028") == Position(1, 0x3000000)
    assert Position.of("00000001/0/3002018") == Position(1, 0x3002000)
    assert Position.of("0000000A/1/30020D8") == Position(10, 0x1030020D8)

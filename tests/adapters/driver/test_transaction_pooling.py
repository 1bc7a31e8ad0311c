"""PgBouncer from 1.21 in transaction mode: a server works through it, and what needs a session goes past it."""

from __future__ import annotations

import http.client
import json
from collections import Counter
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.errors import FeatureNotSupported

from adapters.postgres.driver import statements
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.greenlets import run_in_greenlet
from adapters.postgres.driver.places import Share
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.timed_connection import SESSION_SETTINGS, TimedConnection, problem_of
from adapters.postgres.embedded.server import EmbeddedPostgres
from tests.pgbouncer import newer_pgbouncer, pgbouncer
from tests.postgres import data_folder, lent
from tests.processes import Commands, Service, Services, address, given_database
from tests.waiting import wait_until

# Each starts processes, which takes seconds.
pytestmark = pytest.mark.long

# Fewer than either server process has connections, so that every session serves several of them.
SESSIONS_MAX = 3
CALLERS = 12
DIFFERENT_STATEMENTS = 250
WAIT_SECONDS_MAX = 60.0


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """A PostgreSQL whose role has our time limits, as ops/docs/database.md says."""
    newer_pgbouncer()
    with data_folder() as folder:
        folder.chmod(0o711)
        with EmbeddedPostgres(folder) as url:
            with psycopg.connect(url, autocommit=True) as connection:
                for name, value in SESSION_SETTINGS.items():
                    connection.execute(f"ALTER ROLE gatehouse SET {name} = '{value}'".encode())
            yield url


@contextmanager
def pooled(postgres: str, *, mode: str = "transaction", more: str = "max_prepared_statements = 50") -> Generator[str]:
    """Run PgBouncer in front of it, and yield the address."""
    with (
        data_folder() as folder,
        pgbouncer(
            postgres,
            folder,
            mode=mode,
            ignored="options",
            sessions_max=SESSIONS_MAX,
            program=newer_pgbouncer(),
            more=f"admin_users = gatehouse\n{more}",
        ) as url,
    ):
        yield url


def order(url: str, command: str) -> None:
    """Send a command to the console of PgBouncer."""
    with psycopg.connect(make_conninfo(url, dbname="pgbouncer"), autocommit=True) as console:
        console.execute(command.encode(), prepare=False)


def register(service: Service, name: str) -> int:
    """Register an account, which writes; return the status."""
    with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=WAIT_SECONDS_MAX)) as connection:
        body = json.dumps({"email": f"{name}@example.com", "password": "correct horse battery"})
        connection.request("POST", "/api/auth/register", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        return response.status


def register_many(service: Service, name: str) -> Counter[int]:
    """Register accounts at once; count the statuses."""
    with ThreadPoolExecutor(CALLERS) as callers:
        return Counter(callers.map(lambda number: register(service, f"{name}-{number}"), range(2 * CALLERS)))


def test_a_server_works_through_transaction_mode_while_the_pooler_reconnects_and_pauses(
    postgres: str, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        url = stack.enter_context(pooled(postgres))
        settings = given_database(url) | {"GATEHOUSE_DEV": "on", "GATEHOUSE_DATABASE_LISTEN_URL": address(postgres)}
        services = Services(tmp_path, settings)
        stack.callback(services.close)
        service = services.ready("--workers", "2")
        service.wait_for("worker.ready")
        wait_until(lambda: b'sso_polling_processes{role="listening"} 1.0' in service.get("/metrics").content)

        before = register_many(service, "before")
        order(url, "RECONNECT")
        reconnected = register_many(service, "reconnected")
        order(url, "PAUSE")
        with ThreadPoolExecutor(1) as caller:
            waiting = caller.submit(register, service, "waiting")
            # Readiness has no connection to the database meanwhile.
            wait_until(lambda: service.get("/health/ready").status == 503)
            order(url, "RESUME")
            waited = waiting.result()
        wait_until(lambda: service.get("/health/ready").status == 200)
        resumed = register_many(service, "resumed")
        stopped = service.stop()
        doctor = Commands(tmp_path, settings).run("doctor")

    assert before == reconnected == resumed == {200: 2 * CALLERS}
    assert waited in {200, 503}
    assert stopped == 0
    assert not service.logged("polling.alone")
    assert not service.logged("database.failed")
    assert "connected by a pooler in transaction mode" in doctor.stdout
    with psycopg.connect(postgres) as connection:
        [[accounts]] = connection.execute("SELECT count(*) FROM users WHERE email LIKE '%-%'").fetchall()
    assert accounts == 3 * 2 * CALLERS


def test_a_restore_goes_past_the_pooler_and_is_refused_only_while_a_server_runs(postgres: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        url = stack.enter_context(pooled(postgres))
        settings = given_database(url) | {"GATEHOUSE_DEV": "on", "GATEHOUSE_DATABASE_LISTEN_URL": address(postgres)}
        commands = Commands(tmp_path, settings)
        services = Services(tmp_path, settings)
        stack.callback(services.close)
        service = services.ready()
        wait_until(lambda: b'sso_polling_processes{role="polling"} 1.0' in service.get("/metrics").content)
        written = commands.run("backup", "backup.tar")
        refused = commands.run("restore", "--replace", "backup.tar")
        stopped = service.stop()
        # PgBouncer keeps the sessions of the server that has ended.
        restored = commands.run("restore", "--replace", "backup.tar")

    assert (written.returncode, stopped) == (0, 0)
    assert "Gatehouse is connected to this database (gatehouse)" in refused.stderr
    assert restored.returncode == 0, restored.stderr


def test_migrations_need_an_address_without_the_pooler(postgres: str, tmp_path: Path) -> None:
    with pooled(postgres) as url:
        commands = Commands(tmp_path, given_database(url))
        refused = [commands.run("migrate"), commands.run("serve", DEV="on"), commands.run("doctor")]
        elsewhere = commands.run("migrate", DATABASE_LISTEN_URL=address(make_conninfo(postgres, dbname="postgres")))
        migrated = commands.run("migrate", DATABASE_LISTEN_URL=address(postgres))

    for result in refused:
        assert result.returncode == 1
        assert "Set GATEHOUSE_DATABASE_LISTEN_URL to an address of the same database" in result.stdout + result.stderr
    assert "GATEHOUSE_DATABASE_LISTEN_URL cannot be used: it is another database." in elsewhere.stderr
    assert migrated.returncode == 0, migrated.stderr


def test_modes_without_prepared_statements_or_transactions_are_refused(postgres: str) -> None:
    with pooled(postgres, more="max_prepared_statements = 0") as url:
        forgetful = problem_of(url, needs_session=False) or ""
    with pooled(postgres, mode="statement") as url:
        without_transactions = problem_of(url, needs_session=False) or ""
    with pooled(postgres, mode="session") as url:
        with_sessions = problem_of(url, needs_session=True)

    assert "Use PgBouncer 1.21 or later with max_prepared_statements = 500" in forgetful
    assert without_transactions.startswith("a connection pooler in statement mode refuses transactions. Set pool_mode")
    assert with_sessions is None


def test_more_statements_than_are_kept_take_turns_in_sessions_that_are_shared(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "PREPARED_MAX", 20)
    with pooled(postgres) as url, ExitStack() as stack:
        drivers = [stack.enter_context(closing(TimedConnection.open(url))) for _ in range(2 * SESSIONS_MAX)]
        connections = [Connection(driver) for driver in drivers]
        # Transactions that are open at once have different sessions, so later ones take them in another order.
        for round_number in range(2):
            for number in range(DIFFERENT_STATEMENTS):
                first, second = (connections[(number + shift + round_number) % len(connections)] for shift in (0, 1))
                with first.transaction():
                    assert first.execute(b"SELECT %d" % number).fetchone() == (number,)
                    with second.transaction():
                        assert second.execute(b"SELECT %d" % number).fetchone() == (number,)


async def test_statements_of_sessions_that_stay_are_planned_anew_after_a_table_has_changed(postgres: str) -> None:
    def read(pool: Pool) -> object:
        with lent(pool, WAIT_SECONDS_MAX) as connection:
            return connection.execute("SELECT size FROM changing").fetchone()

    async def read_one(pool: Pool) -> object:
        place = pool.places.claim(Share("test"))
        return await run_in_greenlet(partial(read, pool), places=place, wait_seconds_max=WAIT_SECONDS_MAX)

    with pooled(postgres) as url, psycopg.connect(postgres, autocommit=True) as direct:
        direct.execute("DROP TABLE IF EXISTS changing")
        direct.execute("CREATE TABLE changing AS SELECT 1 AS size")
        pool = Pool(url, connections_max=1)
        before = await read_one(pool)
        direct.execute("ALTER TABLE changing ALTER COLUMN size TYPE text")
        with pytest.raises(FeatureNotSupported):
            await read_one(pool)

        # As a use case does that meets this failure.
        pool.renew()

        assert (before, await read_one(pool)) == ((1,), ("1",))
        pool.close()

"""A real PgBouncer between Gatehouse and PostgreSQL: refused with the cause, or used like a direct connection."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest

from adapters.postgres.driver.timed_connection import SESSION_SETTINGS, problem_of
from adapters.postgres.embedded.server import EmbeddedPostgres
from tests.pgbouncer import pgbouncer
from tests.postgres import data_folder
from tests.processes import Commands, Services, given_database
from tests.waiting import wait_until

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

# Two processes, each with ten connections in its pool, one that listens, and one beside it for a moment.
SESSIONS_MAX = 24
PROCESS_SECONDS_MAX = 120.0
REPOSITORY = Path(__file__).resolve().parents[3]
# Two processes that count alike, each with a statement of its own.
FORKED = """
import os, sys
import psycopg
from adapters.postgres.driver.connection import Connection

child = os.fork()
statement, expected = (b"SELECT 'parent'", "parent") if child else (b"SELECT 'child'", "child")
with psycopg.connect(sys.argv[1], autocommit=True) as driver:
    connection = Connection(driver)
    for _ in range(300):
        assert connection.execute(statement).fetchone() == (expected,)
if not child:
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    """A PostgreSQL whose socket the user that runs PgBouncer can reach."""
    with data_folder() as folder:
        folder.chmod(0o711)
        with EmbeddedPostgres(folder) as url:
            yield url


@pytest.fixture
def pooler(postgres: str, tmp_path: Path) -> Iterator[Callable[..., AbstractContextManager[str]]]:
    """Runs PgBouncer in front of it."""
    with data_folder() as folder:
        yield partial(pgbouncer, postgres, folder, sessions_max=SESSIONS_MAX)


@contextmanager
def role_settings(postgres: str) -> Generator[None]:
    """Give the role the settings that a pooler drops, as ops/docs/database.md says."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        for name, value in SESSION_SETTINGS.items():
            connection.execute(f"ALTER ROLE gatehouse SET {name} = '{value}'".encode())
        yield
        connection.execute("ALTER ROLE gatehouse RESET ALL")


@pytest.mark.parametrize("mode", ["transaction", "session"])
def test_a_pooler_that_refuses_our_time_limits_is_named_as_the_cause(
    pooler: Callable[..., AbstractContextManager[str]], mode: str
) -> None:
    with pooler(mode=mode, ignored="") as url:
        problem = problem_of(url, needs_session=False) or ""

    assert problem.startswith("a connection pooler refuses the start-up parameter `options`")


@pytest.mark.parametrize("mode", ["transaction", "session"])
def test_a_pooler_that_drops_our_time_limits_is_named_as_the_cause(
    pooler: Callable[..., AbstractContextManager[str]], mode: str
) -> None:
    with pooler(mode=mode, ignored="options") as url:
        problem = problem_of(url, needs_session=False) or ""

    assert problem.startswith("statement_timeout is 0 instead of 5s, because a connection pooler dropped")
    assert (
        "Run in PostgreSQL `ALTER ROLE gatehouse SET statement_timeout = '5s'; ALTER ROLE gatehouse SET lock_timeout ="
        " '3s'; ALTER ROLE gatehouse SET idle_in_transaction_session_timeout = '10s'`, and then RECONNECT"
    ) in problem


def test_an_old_pooler_in_transaction_mode_is_refused_even_where_the_role_has_our_time_limits(
    pooler: Callable[..., AbstractContextManager[str]], postgres: str
) -> None:
    with role_settings(postgres), pooler(mode="transaction", ignored="options") as url:
        problem = problem_of(url, needs_session=True) or ""

    # The one of the system may be newer.
    assert problem.startswith("a connection pooler gives one session of PostgreSQL to several clients")
    assert "Use PgBouncer 1.21 or later" in problem or "Set GATEHOUSE_DATABASE_LISTEN_URL" in problem


def test_commands_refuse_such_a_pooler_with_the_cause(
    pooler: Callable[..., AbstractContextManager[str]], tmp_path: Path
) -> None:
    with pooler(mode="transaction", ignored="options") as url:
        commands = Commands(tmp_path, given_database(url))
        results = [commands.run("migrate"), commands.run("serve", DEV="on"), commands.run("doctor")]

    for result in results:
        assert result.returncode == 1
        assert "because a connection pooler dropped the start-up parameter" in result.stdout + result.stderr


def test_a_server_works_through_session_mode_where_the_role_has_our_time_limits(
    pooler: Callable[..., AbstractContextManager[str]], postgres: str, tmp_path: Path
) -> None:
    with role_settings(postgres), pooler(mode="session", ignored="options") as url:
        services = Services(tmp_path, given_database(url) | {"GATEHOUSE_DEV": "on"})
        try:
            service = services.ready("--workers", "2")
            service.wait_for("worker.ready")
            wait_until(lambda: b'sso_polling_processes{role="listening"} 1.0' in service.get("/metrics").content)
            statuses = [service.get("/health/ready").status for _ in range(20)]
            # The sessions of a server that has ended are used by the next one.
            stopped = service.stop()
            again = services.ready().get("/health/ready").status
        finally:
            services.close()

    assert statuses == [200] * 20
    assert (stopped, again) == (0, 200)


def test_a_server_whose_notifications_pass_a_pooler_in_transaction_mode_polls_for_itself(
    pooler: Callable[..., AbstractContextManager[str]], postgres: str, tmp_path: Path
) -> None:
    with role_settings(postgres), pooler(mode="transaction", ignored="options") as url:
        settings = given_database(postgres) | {"GATEHOUSE_DEV": "on", "GATEHOUSE_DATABASE_LISTEN_URL": url}
        services = Services(tmp_path, settings)
        try:
            service = services.ready()
            service.wait_for("polling.alone")
        finally:
            services.close()

    [line] = service.logged("polling.alone")
    assert line["reason"].startswith("a connection pooler gives one session of PostgreSQL to several clients")


def test_forked_processes_that_share_a_session_never_run_a_statement_of_each_other(
    postgres: str, tmp_path: Path
) -> None:
    with data_folder() as folder, pgbouncer(postgres, folder, mode="transaction", ignored="", sessions_max=1) as url:
        run = subprocess.run(
            [sys.executable, "-c", FORKED, url],
            check=False,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=PROCESS_SECONDS_MAX,
        )

    assert run.returncode == 0, run.stderr

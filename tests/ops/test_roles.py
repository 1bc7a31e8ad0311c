"""`ops/database/roles.sql` on servers whose administrator is no superuser, as on managed ones and in Kubernetes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.embedded.server import EmbeddedPostgres
from tests.documents import ROOT
from tests.other_postgres import other_postgres
from tests.postgres import data_folder
from tests.processes import END_SECONDS_MAX, Commands, address, clean_environment, given_database

# Each makes clusters, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

ROLES = ROOT / "ops" / "database" / "roles.sql"
PASSWORD = "of-the-test"


@pytest.fixture(params=["Debian", "embedded"])
def superuser(request: pytest.FixtureRequest) -> Iterator[str]:
    """A server: one from before PostgreSQL 16 and one from after it, where the maker of a role may do less with it."""
    if request.param == "Debian":
        with other_postgres() as postgres:
            postgres.start()
            yield postgres.url("postgres")
    else:
        with data_folder() as folder, EmbeddedPostgres(folder) as url:
            yield make_conninfo(url, user=SUPERUSER, dbname="postgres")


def run(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def make_roles(url: str, **passwords: str) -> None:
    """Run the file, as its first lines say."""
    done = subprocess.run(
        ["psql", "--quiet", "--no-psqlrc", "--dbname", url, "--file", ROLES],
        check=False,
        env=clean_environment() | passwords,
        capture_output=True,
        text=True,
        timeout=END_SECONDS_MAX,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def assert_serves(commands: Commands, owner: str, server: str) -> None:
    """Assert that the owner migrates, and that the server works with rows and makes no table."""
    migrated = commands.run("migrate", DATABASE_URL=address(owner))
    assert migrated.returncode == 0, migrated.stderr
    run(server, "SELECT count(*) FROM users", "DELETE FROM mails", "SELECT first_id_at(now())")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        run(server, "CREATE TABLE mine (id integer)")


def test_an_administrator_who_may_create_roles_makes_them(superuser: str, commands: Commands) -> None:
    run(superuser, f"CREATE ROLE administrator LOGIN CREATEROLE CREATEDB PASSWORD '{PASSWORD}'")
    administrator = make_conninfo(superuser, user="administrator", password=PASSWORD)
    run(administrator, "CREATE DATABASE managed")

    for _ in range(2):
        make_roles(
            make_conninfo(administrator, dbname="managed"), OWNER_ROLE_PASSWORD=PASSWORD, SERVER_ROLE_PASSWORD=PASSWORD
        )

    owner, server = (
        make_conninfo(superuser, user=role, password=PASSWORD, dbname="managed")
        for role in ("gatehouse_owner", "gatehouse_server")
    )
    assert_serves(commands, owner, server)


def test_the_owner_of_the_database_grants_what_roles_need_that_were_made_before(
    superuser: str, commands: Commands
) -> None:
    run(
        superuser,
        f"CREATE ROLE gatehouse_owner LOGIN PASSWORD '{PASSWORD}'",
        f"CREATE ROLE gatehouse_server LOGIN PASSWORD '{PASSWORD}'",
        "CREATE DATABASE managed OWNER gatehouse_owner",
    )
    owner, server = (
        make_conninfo(superuser, user=role, password=PASSWORD, dbname="managed")
        for role in ("gatehouse_owner", "gatehouse_server")
    )

    for _ in range(2):
        make_roles(owner)

    assert_serves(commands, owner, server)


@pytest.fixture
def commands(tmp_path_factory: pytest.TempPathFactory) -> Commands:
    """Commands that need no database yet."""
    return Commands(tmp_path_factory.mktemp("commands"), given_database("postgresql://x@/x"))

"""The units of systemd and the roles of the database: the commands of the units, each run with its role."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.errors import InsufficientPrivilege

from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.embedded.programs import programs_folder
from adapters.postgres.embedded.server import EmbeddedPostgres
from adapters.postgres.schema import migrations
from entrypoints import settings
from entrypoints.operator import cli
from entrypoints.settings_file import SETTINGS_FILE
from tests.documents import ROOT
from tests.postgres import data_folder
from tests.processes import (
    END_SECONDS_MAX,
    FREE_PORT,
    GATEHOUSE,
    MASTER_KEY,
    Services,
    address,
    clean_environment,
    prefixed,
)
from tests.waiting import wait_until

UNITS: Final = ROOT / "ops" / "systemd"
SOCKET: Final = UNITS / "gatehouse.socket"
SERVER, MIGRATION = UNITS / "gatehouse.service", UNITS / "gatehouse-migrate.service"
ROLES: Final = ROOT / "ops" / "database" / "roles.sql"
PROGRAM: Final = "/opt/gatehouse/bin/gatehouse"
# What the server adds to its two settings until it has ended (ops/docs/production.md).
STOP_SECONDS_BESIDE: Final = 30
PASSWORD: Final = "it's secret"
OWNER_EMAIL, OWNER_PASSWORD = "you@example.com", "correct horse battery"
# Of what the server does with its rows, nothing may need more than rows.
REFUSED: Final = [
    "CREATE TABLE mine (id integer)",
    "ALTER TABLE users ADD COLUMN mine integer",
    "DROP TABLE mails",
    "TRUNCATE sessions",
    "CREATE FUNCTION mine() RETURNS void LANGUAGE sql AS ''",
    "COPY users TO PROGRAM 'cat'",
    "SET ROLE gatehouse_owner",
]


@dataclass(frozen=True)
class Production:
    """A database with both roles: the addresses of the owner of its tables, of the server and of a superuser."""

    owner: str
    server: str
    superuser: str


@pytest.fixture(scope="module")
def production() -> Iterator[Production]:
    """A database on which `roles.sql` was run, twice, as an operator does."""
    with data_folder() as folder, EmbeddedPostgres(folder) as url:
        superuser = make_conninfo(url, user=SUPERUSER)
        with psycopg.connect(superuser, autocommit=True) as connection:
            connection.execute("CREATE DATABASE production")
        superuser = make_conninfo(superuser, dbname="production")
        for _ in range(2):
            make_roles(superuser)
        yield Production(
            owner=make_conninfo(superuser, user="gatehouse_owner", password=PASSWORD),
            server=make_conninfo(superuser, user="gatehouse_server", password=PASSWORD),
            superuser=superuser,
        )


def make_roles(superuser: str) -> None:
    """Run `roles.sql` as an operator does, and as the image of PostgreSQL does."""
    done = subprocess.run(
        [programs_folder() / "psql", "--quiet", "--no-psqlrc", "--dbname", superuser, "--file", ROLES],
        check=False,
        env={**clean_environment(), "OWNER_ROLE_PASSWORD": PASSWORD, "SERVER_ROLE_PASSWORD": PASSWORD},
        capture_output=True,
        text=True,
        timeout=END_SECONDS_MAX,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def values(unit: Path, name: str) -> list[str]:
    """Return the values of an option of a unit."""
    return re.findall(rf"^{name}=(.*)$", unit.read_text(), re.MULTILINE)


def environment(unit: Path, credentials: Path) -> dict[str, str]:
    """Return the environment that a unit gives to its command, on this machine."""
    given = dict(line.split("=", 1) for line in values(unit, "Environment"))
    if SETTINGS_FILE in given:
        file = credentials / Path(given[SETTINGS_FILE]).name
        # What an operator writes into it.
        file.write_text(f"GATEHOUSE_OWNER_EMAIL={OWNER_EMAIL}\nGATEHOUSE_OWNER_PASSWORD='{OWNER_PASSWORD}'\n")
        given[SETTINGS_FILE] = str(file)
    return {
        **clean_environment(),
        **{name: value.replace("%d", str(credentials)) for name, value in given.items()},
        **prefixed(
            {
                "DATA_DIR": str(credentials / "data"),
                "BIND": FREE_PORT,
                "BASE_URL": "https://id.example.com",
            }
        ),
    }


def command(unit: Path) -> list[str]:
    """Return the command of a unit as it is run on this machine."""
    [line] = values(unit, "ExecStart")
    return shlex.split(line.replace(PROGRAM, str(GATEHOUSE)))


def hardening(unit: Path) -> str:
    """Return what a unit may not do."""
    return unit.read_text().partition("\nUMask=")[2].partition("\n[Install]")[0].rstrip()


def test_the_units_name_settings_and_commands_that_exist_and_wait_for_the_drain(
    capsys: pytest.CaptureFixture[str],
) -> None:
    [seconds] = values(SERVER, "TimeoutStopSec")
    defaults = settings.Settings()
    with pytest.raises(SystemExit):
        cli.main(["serve", "--help"])

    assert "--workers" in capsys.readouterr().out
    assert values(SERVER, "ExecStart") == [f"{PROGRAM} serve --workers 4"]
    assert values(MIGRATION, "ExecStart") == [f"{PROGRAM} migrate"]
    assert int(seconds) >= defaults.drain_seconds + defaults.shutdown_seconds + STOP_SECONDS_BESIDE
    for unit in (SERVER, MIGRATION):
        text = unit.read_text()
        assert set(re.findall(r"GATEHOUSE_[A-Z_]+", text)) <= {*settings.names(), SETTINGS_FILE}
        # A secret that is read from a file is one that systemd has put there.
        files = {line.partition(":")[0] for line in values(unit, "LoadCredential")}
        assert set(re.findall(r"%d/([\w-]+)", text)) == files
        assert ("owner-database-url" in files) == (unit == MIGRATION)
    assert values(SERVER, "Requires") == [MIGRATION.name]
    # The signal goes to the first process, which has no terminal there; the socket is called what the server looks for.
    assert values(SERVER, "ExecReload") == ["/bin/kill -HUP $MAINPID"]
    assert SOCKET.stem == SERVER.stem
    assert values(SOCKET, "ListenStream") == [str(defaults.bind)]
    assert values(SOCKET, "Accept") == []
    assert MIGRATION.name in values(SERVER, "After")[0].split()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_units_are_valid_and_hardened(tmp_path: Path) -> None:
    assert hardening(SERVER) == hardening(MIGRATION) != ""
    for unit in (SERVER, MIGRATION, SOCKET):
        (tmp_path / unit.name).write_text(unit.read_text().replace(PROGRAM, str(GATEHOUSE)))

    verified, rated = ["verify", "--man=no"], ["security", "--offline=true", "--threshold=20"]
    for unit in (SERVER, MIGRATION, SOCKET):
        for arguments in [verified] if unit == SOCKET else [verified, rated]:
            done = subprocess.run(
                ["systemd-analyze", "--no-pager", *arguments, tmp_path / unit.name],
                check=False,
                capture_output=True,
                text=True,
                timeout=END_SECONDS_MAX,
            )

            assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


@pytest.mark.long
def test_one_unit_migrates_as_the_owner_and_the_other_serves_as_a_role_without_rights(
    production: Production, tmp_path: Path
) -> None:
    for name, text in (
        ("database-url", address(production.server)),
        ("owner-database-url", address(production.owner)),
        ("master-keys", MASTER_KEY),
    ):
        (tmp_path / name).write_text(text)
    started = command(SERVER)
    assert started[:2] == [str(GATEHOUSE), "serve"]

    migrated = run(command(MIGRATION), environment(MIGRATION, tmp_path))
    assert migrated.returncode == 0, migrated.stderr
    services = Services(tmp_path, environment(SERVER, tmp_path))
    try:
        # Two workers rather than four: the machine of the tests has few processors.
        service = services.ready(*started[2:-1], "2")
        assert service.get("/health/ready").status == 200
        wait_until(lambda: set(service.get("/health/ready").json["actors"].values()) == {"running"})
        doctor = run([str(GATEHOUSE), "doctor"], environment(SERVER, tmp_path))
        again = run(command(MIGRATION), environment(MIGRATION, tmp_path))
        assert service.stop() == 0
    finally:
        services.close()

    assert "gatehouse_server reads and writes rows, and owns nothing" in doctor.stdout, doctor.stderr
    assert "ok      platform owner" in doctor.stdout
    assert again.returncode == 0, again.stderr
    assert [line for line in service.events if line.get("level") == "error"] == []
    assert "permission denied" not in service.log
    assert run([str(GATEHOUSE), "backup", str(tmp_path / "backup.tar")], environment(SERVER, tmp_path)).returncode == 0
    restore = [str(GATEHOUSE), "restore", "--replace", str(tmp_path / "backup.tar")]
    refused = run(restore, environment(SERVER, tmp_path))
    assert "Name the owner of the tables in GATEHOUSE_DATABASE_URL" in refused.stderr
    restored = run(restore, environment(MIGRATION, tmp_path) | prefixed({"MASTER_KEYS": MASTER_KEY}))
    assert restored.returncode == 0, restored.stderr
    with psycopg.connect(production.server, autocommit=True) as connection:
        connection.execute("UPDATE users SET name = name")
        for statement in REFUSED:
            with pytest.raises(InsufficientPrivilege):
                connection.execute(statement.encode())


def run(command: list[str], given: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(command, check=False, env=given, capture_output=True, text=True, timeout=END_SECONDS_MAX)


@pytest.mark.long
def test_what_the_owner_makes_later_is_open_to_the_server_and_to_nobody_else(production: Production) -> None:
    with psycopg.connect(production.owner, autocommit=True) as owner:
        # A function of the owner does for the server what it may not do itself, such as dropping a partition.
        owner.execute(
            """
            CREATE TABLE later (id bigint GENERATED BY DEFAULT AS IDENTITY, number bigserial);
            CREATE FUNCTION drop_later() RETURNS void LANGUAGE sql SECURITY DEFINER
                SET search_path = public, pg_temp AS 'DROP TABLE later';
            """
        )
    with psycopg.connect(production.superuser, autocommit=True) as superuser:
        superuser.execute("CREATE ROLE stranger")
        of_stranger = superuser.execute(
            """
            SELECT has_function_privilege('stranger', 'drop_later()', 'EXECUTE'),
                   has_table_privilege('stranger', 'later', 'SELECT'),
                   has_schema_privilege('stranger', 'public', 'USAGE'),
                   has_database_privilege('stranger', current_database(), 'CONNECT')
            """
        ).fetchone()

    with psycopg.connect(production.server, autocommit=True) as connection:
        connection.execute("INSERT INTO later DEFAULT VALUES")
        connection.execute("UPDATE later SET number = 2")
        connection.execute("DELETE FROM later")
        connection.execute("SELECT drop_later()")
        left = connection.execute("SELECT to_regclass('later')").fetchone()

    assert left == (None,)
    assert of_stranger == (False, False, False, False)


@pytest.mark.long
def test_a_database_of_one_role_is_handed_over(production: Production) -> None:
    with psycopg.connect(production.superuser, autocommit=True) as connection:
        connection.execute("CREATE DATABASE older")
    superuser, owner, server = (
        make_conninfo(one, dbname="older") for one in (production.superuser, production.owner, production.server)
    )
    with migrations.connected(superuser) as connection:
        migrations.migrate(connection, lambda _: None)

    make_roles(superuser)

    with migrations.connected(owner) as connection:
        found = connection.execute(
            """
            SELECT DISTINCT relowner::regrole::text FROM pg_class
            WHERE  relnamespace = 'public'::regnamespace AND relname NOT LIKE 'pg_%'
            UNION
            SELECT DISTINCT proowner::regrole::text FROM pg_proc p
            WHERE  pronamespace = 'public'::regnamespace
              AND  NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND deptype = 'e')
            """
        ).fetchall()
        assert migrations.migrate(connection, lambda _: None) == []
        connection.execute("ALTER TABLE users ADD COLUMN mine integer")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("UPDATE users SET mine = 1")
    assert found == [("gatehouse_owner",)]

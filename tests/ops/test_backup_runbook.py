"""The runbook of backups, followed: moving to another PostgreSQL, going back to any moment, and a lost master key."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from collections.abc import Iterator
from typing import Any, Final

import psycopg
import pytest

from tests.adapters.backup.databases import contents
from tests.documents import ROOT
from tests.other_postgres import OtherPostgres, other_postgres, require
from tests.processes import Commands, Service, Services, embedded_commands, embedded_services, without_progress
from tests.waiting import wait_until

__all__ = ["embedded_commands", "embedded_services"]

# Each starts servers of PostgreSQL, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

RUNBOOK: Final = ROOT / "ops/runbooks/backup.md"
OWNER: Final = {"OWNER_EMAIL": "root@example.com", "OWNER_PASSWORD": "correct horse battery"}


def blocks(section: str, language: str) -> list[str]:
    """Return the code blocks in a language of a section, also those in lists."""
    [text] = re.findall(rf"^## {section}$(.*?)(?=^## |\Z)", RUNBOOK.read_text(), re.MULTILINE | re.DOTALL)
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(block) for _indentation, block in found]


@pytest.fixture
def other() -> Iterator[OtherPostgres]:
    """Another PostgreSQL, which is not started."""
    with other_postgres() as postgres:
        yield postgres


def log_in(service: Service) -> tuple[int, Any]:
    body = {"email": OWNER["OWNER_EMAIL"], "password": OWNER["OWNER_PASSWORD"]}
    answer = service.request("POST", "/api/auth/login", body=json.dumps(body).encode())
    return answer.status, answer.json


def call(service: Service, token: str) -> int:
    return service.request("GET", "/api/user", headers={"Authorization": f"Bearer {token}"}).status


def value(url: str, statement: str) -> Any:
    with psycopg.connect(url) as connection:
        row = connection.execute(statement.encode()).fetchone()
    assert row is not None
    return row[0]


def test_moving_from_the_embedded_database_to_one_of_ones_own_and_losing_the_master_key_there(
    embedded_services: Services, embedded_commands: Commands, other: OtherPostgres
) -> None:
    service = embedded_services.ready(**OWNER)
    status, tokens = log_in(service)
    assert status == 200
    assert embedded_commands.run("backup", "moving.tar").returncode == 0
    assert service.stop() == 0

    # Moving, with the key of the data folder.
    other.start()
    key = (service.data_folder / "master-key").read_text().strip()
    settings = {"DATABASE_URL": other.create_database("gatehouse"), "MASTER_KEYS": key, "DATA_DIR": "elsewhere"}
    moved = embedded_commands.run("restore", "moving.tar", **settings)
    assert (moved.returncode, without_progress(moved.stderr)) == (0, "")
    service = embedded_services.ready(**settings)
    assert call(service, tokens["access_token"]) == 200
    assert log_in(service)[0] == 200
    written = embedded_commands.run("backup", "before.tar", **settings)
    assert written.returncode == 0, written.stderr
    assert service.stop() == 0

    # The key is lost: a new one cannot read the secrets, and the service does not start.
    generated = embedded_commands.run("keys", "generate")
    settings["MASTER_KEYS"] = generated.stdout.strip()
    without_key = embedded_services.start(**settings)
    assert without_key.wait() == 1
    assert "was sealed with key" in without_key.log
    [_, dropping] = [line for line in blocks("The master key is lost", "sh")[0].splitlines() if line]
    options = dropping.split()[1:-1]
    assert options == ["restore", "--replace", "--without-master-key"]
    dropped = embedded_commands.run(*options, "before.tar", **settings)
    assert (dropped.returncode, without_progress(dropped.stderr)) == (0, "")
    assert "Dropped, because its master key is lost: 1 of server_secrets.value_sealed." in dropped.stdout
    assert "Sessions ended: 2." in dropped.stdout
    service = embedded_services.ready(**settings)
    assert call(service, tokens["access_token"]) == 401
    status, fresh = log_in(service)
    assert status == 200
    assert call(service, fresh["access_token"]) == 200
    checked = embedded_commands.run("doctor", **settings)
    assert not [line for line in checked.stdout.splitlines() if line.startswith("NOT OK") and "key" in line]


def test_going_back_to_any_moment_with_pgbackrest(other: OtherPostgres, tmp_path: Any) -> None:
    require(is_there=shutil.which("pgbackrest") is not None, package="pgbackrest")
    section = "Going back to any moment"
    configuration, archiving = blocks(section, "ini")
    preparing, restoring = blocks(section, "sh")
    config = other.write(
        "pgbackrest.conf",
        configuration.replace("/var/lib/postgresql/15/main", str(other.data)).replace(
            "/var/lib/pgbackrest", str(other.folder / "repository")
        ),
    )
    for name in ("repository", "locks", "logs"):
        other.run("mkdir", other.folder / name)
    other.environment |= {
        "PGBACKREST_CONFIG": str(config),
        "PGBACKREST_LOG_PATH": str(other.folder / "logs"),
        "PGBACKREST_LOCK_PATH": str(other.folder / "locks"),
        "PGBACKREST_PG1_SOCKET_PATH": str(other.folder),
        "PGBACKREST_PG1_USER": "postgres",
    }
    with (other.data / "postgresql.conf").open("a") as file:
        file.write(archiving)
    other.start()
    url = other.create_database("gatehouse")
    commands = Commands(tmp_path, {"GATEHOUSE_DATABASE_URL": url, "GATEHOUSE_MASTER_KEYS": "A" * 43 + "="})
    assert commands.run("migrate").returncode == 0

    # The database of the night, a change that is kept, and the mistake.
    for line in preparing.splitlines():
        other.run(*line.split())
    assert commands.run("owner", "kept@example.com").returncode == 0
    before, moment = contents(url), value(url, "SELECT clock_timestamp()::text")
    with psycopg.connect(url) as connection:
        connection.execute("DELETE FROM platform_audit_entries")
        connection.execute("DELETE FROM users")
    value(url, "SELECT pg_switch_wal()::text")
    assert contents(url) != before

    other.stop()
    [target] = re.findall(r'--target="([^"]+)"', restoring)
    command = restoring.replace(f'"{target}"', "TARGET").split()
    other.run(*(part.replace("TARGET", moment) for part in command))
    other.start()
    wait_until(lambda: value(url, "SELECT NOT pg_is_in_recovery()"), seconds_max=120)

    assert contents(url) == before

"""Backups of a database: complete, of one moment, restored as they were, and refused without any change."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from adapters.postgres.backup import restoring
from adapters.postgres.backup.files import new_backup
from adapters.postgres.backup.programs import dump_program, environment_and_address, restore_program
from adapters.postgres.driver.connection import Connection
from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.schema import migrations
from adapters.postgres.schema.migration_files import newest_version
from adapters.postgres.schema.migrations import MigrationError
from core.platform.backups import BackupError, Manifest
from ops.dump_schema import dump
from tests.adapters.backup.databases import NOW, backed_up, contents, contents_of_backup, restored
from tests.clock import SettableClock
from tests.postgres import Databases
from tests.shown_text import shows
from tests.world.builder import Builder

TEXTS = ("back\\slash", "tab\tand\nline", "\\.", "COPY users FROM stdin;", "--", "", "ünï😀", "\\N", "'; DROP TABLE x")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The name of a backup that does not exist yet."""
    return tmp_path / "backup.tar"


@pytest.fixture
def filled(database_url: str, connection: Connection, clock: SettableClock) -> str:
    """A database with rows, among them every text that the format of a dump has to escape."""
    builder = Builder(connection, clock)
    acme = builder.organization()
    for number in range(50):
        builder.member(acme, builder.user(f"person-{number}@example.com"))
    connection.execute_each(
        "UPDATE users SET name = %s WHERE email = %s",
        [(text, f"person-{number}@example.com") for number, text in enumerate(TEXTS)],
    )
    return database_url


@pytest.fixture
def another_database_url(databases: Databases) -> Iterator[str]:
    """A second database without a schema."""
    with databases.empty() as url:
        yield url


def migrate(url: str) -> None:
    with migrations.connected(url) as connection:
        migrations.migrate(connection, lambda _line: None)


def execute(url: str, statement: bytes) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def of_dump(path: Path, dump_content: bytes) -> None:
    """Write a backup whose checksums are right and whose dump is not."""
    manifest = Manifest(
        product_version="0.2.0",
        schema_version=newest_version(),
        postgres_major=18,
        created_at=NOW,
        master_keys=(),
    )
    with new_backup(path, NOW) as writer:
        writer.write(manifest, [dump_content])


def test_a_restored_database_has_every_row_and_the_whole_schema(
    filled: str, empty_database_url: str, path: Path
) -> None:
    manifest = backed_up(filled, path)
    done = restored(empty_database_url, path)

    assert manifest.schema_version == newest_version()
    assert (done.sessions_ended, done.dropped) == (None, {})
    assert contents(empty_database_url) == contents_of_backup(filled)
    assert contents(filled)["users"][0] == 50
    assert dump(empty_database_url) == dump(filled)


def test_a_backup_has_what_was_confirmed_before_it_began_and_nothing_that_was_not(
    filled: str, empty_database_url: str, path: Path
) -> None:
    before = contents(filled)

    # A transaction that is open all the time; nothing waits for it.
    with psycopg.connect(filled) as late:
        late.execute("UPDATE users SET name = 'late'")
        backed_up(filled, path)
        late.commit()
    restored(empty_database_url, path)

    assert contents(empty_database_url) == before
    assert contents(filled) != before


def test_a_database_that_is_not_empty_is_left_as_it_is_without_replace(
    filled: str, another_database_url: str, path: Path
) -> None:
    backed_up(filled, path)
    migrate(another_database_url)
    before = contents(another_database_url)

    with pytest.raises(BackupError, match=r"is not empty\. .* --replace\. Nothing was changed"):
        restored(another_database_url, path)

    assert contents(another_database_url) == before


def test_with_replace_nothing_of_the_database_before_is_left(
    filled: str, another_database_url: str, path: Path
) -> None:
    backed_up(filled, path)
    migrate(another_database_url)
    execute(
        another_database_url,
        b"""
        CREATE TABLE later (id bigint GENERATED ALWAYS AS IDENTITY);
        CREATE VIEW seen AS TABLE later;
        CREATE MATERIALIZED VIEW kept AS TABLE later;
        CREATE SEQUENCE numbers;
        CREATE FUNCTION newer() RETURNS void LANGUAGE sql AS '';
        INSERT INTO users (id, email, created_at, updated_at)
        VALUES (gen_random_uuid(), 'old@example.com', now(), now());
        """,
    )

    restored(another_database_url, path, replace=True)

    assert contents(another_database_url) == contents_of_backup(filled)
    assert dump(another_database_url) == dump(filled)


def test_a_database_of_another_program_is_never_replaced(filled: str, another_database_url: str, path: Path) -> None:
    backed_up(filled, path)
    execute(another_database_url, b"CREATE TABLE accounts (id integer)")

    for replace in (False, True):
        with pytest.raises(BackupError, match="contains tables that are not those of Gatehouse"):
            restored(another_database_url, path, replace=replace)

    assert contents(another_database_url) == {"accounts": (0, None)}


def test_a_damaged_dump_leaves_the_database_as_it_was(filled: str, another_database_url: str, path: Path) -> None:
    migrate(another_database_url)
    execute(another_database_url, b"DELETE FROM tiers")
    before = contents(another_database_url)
    backed_up(filled, path)
    with path.open("rb") as file:
        file.seek(0)
        whole = file.read()
    begin = whole.index(b"PGDMP")

    for number, broken in enumerate((b"", b"PGDMP", whole[begin : begin + 3000], os.urandom(5000))):
        other = path.with_name(f"{number}.tar")
        of_dump(other, broken)
        with pytest.raises(BackupError, match=r"pg_restore could not read the backup: .* Nothing was changed"):
            restored(another_database_url, other, replace=True)

        assert contents(another_database_url) == before


def test_a_foreign_history_of_migrations_leaves_the_database_as_it_was(
    filled: str, another_database_url: str, path: Path, connection: Connection
) -> None:
    migrate(another_database_url)
    before = contents(another_database_url)
    connection.execute("UPDATE schema_migrations SET checksum = 'of a fork' WHERE version = 3")
    # `gatehouse backup` itself would refuse it.
    environment, address = environment_and_address(filled)
    command = [dump_program(18, None), "--format=custom", "--no-owner", f"--dbname={address}"]
    of_dump(path, subprocess.run(command, check=True, capture_output=True, env=environment).stdout)

    with pytest.raises(MigrationError, match="is not what was applied to this database"):
        restored(another_database_url, path, replace=True)

    assert contents(another_database_url) == before


def test_a_server_that_is_connected_is_named(
    filled: str, empty_database_url: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "LEAVING_SECONDS_MAX", 0.1)
    backed_up(filled, path)

    with (
        psycopg.connect(empty_database_url, application_name="gatehouse"),
        pytest.raises(BackupError, match=r"Gatehouse is connected to this database \(gatehouse\)\. Stop all"),
    ):
        restored(empty_database_url, path)

    assert contents(empty_database_url) == {}


def test_a_session_that_is_just_ending_is_waited_for(filled: str, empty_database_url: str, path: Path) -> None:
    backed_up(filled, path)
    said: list[str] = []

    with psycopg.connect(empty_database_url, application_name="gatehouse restore") as ending:

        def end(line: str) -> None:
            said.append(line)
            ending.close()

        restored(empty_database_url, path, report=end)

    [line] = said
    assert line.startswith("Gatehouse is still connected to this database (gatehouse restore). Waiting up to 3 s")
    assert contents(empty_database_url) == contents_of_backup(filled)


def test_what_a_restore_takes_away_is_said_before_and_nothing_else_is_done_without_replace(
    filled: str, connection: Connection, builder: Builder, path: Path, databases: Databases, clock: SettableClock
) -> None:
    databases.close_pool()
    clock.now = NOW
    builder.organization(slug="before")
    backed_up(filled, path)
    clock.now = NOW + timedelta(hours=2)
    builder.user("first@example.com")
    clock.now = NOW + timedelta(hours=3)
    builder.member(builder.organization(slug="later"), builder.user("second@example.com"))
    before = contents(filled)
    said: list[str] = []

    with pytest.raises(BackupError, match=r"is not empty\. .* --replace\. Nothing was changed"):
        restored(filled, path, report=said.append)
    unchanged = contents(filled) == before
    refused, said = said, []
    restored(filled, path, replace=True, report=said.append)
    # The server of the restore before may take a moment to end.
    said = [line for line in said if "still connected" not in line]

    assert unchanged
    assert said == refused
    assert said[0] == (
        "The backup is of 2026-11-23 02:15:00 UTC. A restore takes away everything that was made or changed in this"
        " database since then. Made since then were:"
    )
    assert said[1:] == [
        "  accounts: 2, the newest of 2026-11-23 05:15:00 UTC",
        "  organizations: 1, the newest of 2026-11-23 05:15:00 UTC",
        "  memberships: 1, the newest of 2026-11-23 05:15:00 UTC",
        "  services: none",
        "  sessions: none",
        "  entries of audit logs: none",
    ]
    assert contents(filled)["users"][0] == 50


def test_a_database_that_is_too_damaged_to_be_counted_is_replaced_all_the_same(
    filled: str, another_database_url: str, path: Path
) -> None:
    backed_up(filled, path)
    migrate(another_database_url)
    execute(another_database_url, b"ALTER TABLE sessions RENAME TO damaged")
    execute(
        another_database_url,
        b"CREATE VIEW sessions AS SELECT to_timestamp(1 / (version - version)) AS created_at FROM schema_migrations",
    )
    said: list[str] = []

    restored(another_database_url, path, replace=True, report=said.append)

    assert said[1:] == ["  what it has could not be counted: division by zero"]
    assert contents(another_database_url) == contents_of_backup(filled)


def test_a_connection_that_holds_a_table_ends_the_restore_without_a_change(
    filled: str, another_database_url: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "LOCK_WAIT_SECONDS_MAX", 0.1)
    backed_up(filled, path)
    migrate(another_database_url)
    before = contents(another_database_url)

    with psycopg.connect(another_database_url) as other:
        other.execute("SELECT FROM users")
        with pytest.raises(BackupError, match=r"has used a table of this database .* Nothing was changed"):
            restored(another_database_url, path, replace=True)

    assert contents(another_database_url) == before


def test_a_database_without_a_schema_is_not_backed_up(empty_database_url: str, path: Path) -> None:
    with pytest.raises(BackupError, match="has no tables of Gatehouse yet"):
        backed_up(empty_database_url, path)

    assert list(path.parent.iterdir()) == []


def test_a_role_that_may_not_read_leaves_no_file(filled: str, path: Path, connection: Connection) -> None:
    connection.execute("CREATE TABLE secret (id integer)")
    connection.execute("REVOKE ALL ON secret FROM CURRENT_USER")

    with pytest.raises(BackupError, match=r"pg_dump could not read the database: .*permission denied"):
        backed_up(filled, path)

    assert list(path.parent.iterdir()) == []


def test_a_backup_and_a_migration_wait_for_each_other(filled: str, path: Path) -> None:
    class Waiting(Exception):
        pass

    def wait(line: str) -> None:
        assert line == "Another Gatehouse is migrating or backing up this database. Waiting for it."
        raise Waiting

    with migrations.connected(filled) as holding, migrations.excluding_replicas(holding, lambda _line: None):
        with pytest.raises(Waiting):
            backed_up(filled, path, report=wait)
        with migrations.connected(filled) as other, pytest.raises(Waiting):
            migrations.migrate(other, wait)

    assert list(path.parent.iterdir()) == []


def test_the_password_is_not_among_the_arguments_of_a_program() -> None:
    environment, address = environment_and_address("postgresql://ann:secret-word@db.example/id?sslmode=require")

    assert environment["PGPASSWORD"] == "secret-word"
    assert not shows(address, "secret-word")
    assert "sslmode=require" in address


def test_statements_of_a_program_are_not_compiled() -> None:
    _, address = environment_and_address("postgresql://ann@db.example/id?options=-c%20work_mem%3D9MB")

    assert conninfo_to_dict(address)["options"] == "-c work_mem=9MB -c jit=off"


def test_programs_of_another_version_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match=r"no pg_dump of PostgreSQL 99, the version of the server\. Install it"):
        dump_program(99, None)
    with pytest.raises(BackupError, match=r"no pg_restore of PostgreSQL 99 or newer, .* postgresql-client-99"):
        restore_program(99, None)
    with pytest.raises(BackupError, match=f"{tmp_path} has no pg_dump of PostgreSQL 18"):
        dump_program(18, tmp_path)


def test_a_folder_of_programs_that_is_set_is_the_only_one(tmp_path: Path) -> None:
    found = dump_program(18, None)
    (tmp_path / "pg_dump").symlink_to(found)

    assert dump_program(18, tmp_path) == tmp_path / "pg_dump"
    (tmp_path / "pg_dump").unlink()
    (tmp_path / "pg_dump").write_text("#!/bin/sh\necho 'pg_dump (PostgreSQL) 17.2'\n")
    (tmp_path / "pg_dump").chmod(0o755)
    with pytest.raises(BackupError, match="has no pg_dump of PostgreSQL 18"):
        dump_program(18, tmp_path)


def test_extensions_and_schemas_of_the_operator_are_neither_backed_up_nor_replaced(
    another_database_url: str, path: Path
) -> None:
    migrate(another_database_url)
    before = contents(another_database_url)
    # As in a database whose administrator measures statements and keeps tables of their own.
    superuser = make_conninfo(another_database_url, user=SUPERUSER)
    execute(superuser, b"CREATE SCHEMA monitoring; CREATE TABLE monitoring.samples AS SELECT 1 AS size")
    execute(superuser, b"CREATE EXTENSION vector SCHEMA public")

    backed_up(another_database_url, path)
    execute(another_database_url, b"DELETE FROM tiers")
    restored(another_database_url, path, replace=True)

    assert contents(another_database_url) == before
    with psycopg.connect(superuser) as administrator:
        assert administrator.execute("TABLE monitoring.samples").fetchall() == [(1,)]


def test_functions_with_the_rights_of_their_owner_are_closed_to_other_roles(
    filled: str, empty_database_url: str, path: Path
) -> None:
    open_to_all = """
        SELECT proname, has_function_privilege('pg_monitor', oid, 'EXECUTE')
        FROM   pg_proc
        WHERE  pronamespace = 'public'::regnamespace AND prosecdef
    """
    backed_up(filled, path)

    restored(empty_database_url, path)

    for url in (filled, empty_database_url):
        with psycopg.connect(url) as connection:
            found = dict(connection.execute(open_to_all).fetchall())
        assert found == {"add_log_month": False, "drop_log_month": False}


def test_a_backup_that_is_in_the_database_is_not_said_to_be_refused_when_the_statistics_fail(
    another_database_url: str, path: Path
) -> None:
    migrate(another_database_url)
    execute(
        another_database_url,
        b"""
        CREATE FUNCTION failing(size integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
        BEGIN
            IF current_query() = 'ANALYZE' THEN
                RAISE 'too large';
            END IF;
            RETURN size;
        END
        $$;
        CREATE TABLE sizes AS SELECT 1 AS size;
        CREATE INDEX ON sizes (failing(size));
        """,
    )
    backed_up(another_database_url, path)
    before = contents_of_backup(another_database_url)
    execute(another_database_url, b"DELETE FROM tiers")
    said: list[str] = []

    restored(another_database_url, path, replace=True, report=said.append)

    assert contents(another_database_url) == before
    # Below what the restore takes away.
    line = said[-1]
    assert line.startswith("The backup is in the database, but ANALYZE failed: too large. Run it again")

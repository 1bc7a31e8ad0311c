"""`gatehouse backup` and `gatehouse restore` as commands: what they print, refuse, and leave behind."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import tarfile
from datetime import datetime
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from adapters.crypto.vault import MasterKey, Vault, parse_master_keys
from adapters.postgres.driver.connection import Connection
from adapters.postgres.schema import migrations
from adapters.postgres.schema.migration_files import newest_version
from core.ids import PLATFORM
from core.platform.backups import MANIFEST
from core.secrets import Secret
from tests.adapters.backup.databases import contents, contents_of_backup
from tests.postgres import Databases, connected, data_folder
from tests.processes import (
    GATEHOUSE,
    MASTER_KEY,
    Commands,
    CommandsHere,
    Services,
    address,
    clean_environment,
    without_progress,
)
from tests.waiting import wait_until
from tests.world.builder import Builder, new_id

OTHER_KEY = MasterKey(bytes([1]) * 32).encoded()
# The last migration of version 0.1.0.
OLD_SCHEMA = 25
KEY_ID = Vault(parse_master_keys(Secret(MASTER_KEY))).current_id


@pytest.fixture
def nobody_else(databases: Databases) -> None:
    """No test before this one has left a connection to the database, which a restore would refuse."""
    databases.close_pool()


def backup_made_at(file: Path) -> datetime:
    """Return when a backup was made, as it says itself."""
    with tarfile.open(file) as archive:
        manifest = archive.extractfile(MANIFEST)
        assert manifest is not None
        return datetime.fromisoformat(json.load(manifest)["created_at"])


def seal_old_mail(url: str) -> None:
    with connected(url) as connection:
        # Of the platform, which had no id there.
        seal_something(connection, organization_id=None)


def seal_something(connection: Connection, *, organization_id: UUID | None = PLATFORM) -> None:
    mail_id = new_id()
    vault = Vault(parse_master_keys(Secret(MASTER_KEY)))
    connection.execute(
        """
        INSERT INTO mails (organization_id, id, recipient, template, values_sealed, state, attempts, due_at, created_at)
        VALUES (%s, %s, 'ann@example.com', 'test', %s, 'kept', 1, now(), now())
        """,
        (organization_id, mail_id, vault.seal(b"hello", table="mails", column="values_sealed", row=mail_id)),
    )


def test_a_backup_is_written_and_restored_by_command(
    commands_here: CommandsHere, connection: Connection, builder: Builder, database_url: str, empty_database_url: str
) -> None:
    builder.user("ann@example.com")
    seal_something(connection)

    written = commands_here.run("backup", "backup.tar")
    restored = commands_here.run("restore", "backup.tar", DATABASE_URL=address(empty_database_url))

    file = commands_here.folder / "backup.tar"
    assert (written.returncode, without_progress(written.stderr)) == (0, "")
    [first, second] = written.stdout.splitlines()
    assert first.startswith(f"Backup written to backup.tar: {file.stat().st_size:,} bytes, Gatehouse ")
    assert f" with schema {newest_version()}, PostgreSQL " in first
    assert second == (
        f"It contains no keys. Its secrets need the master key {KEY_ID}: keep GATEHOUSE_MASTER_KEYS in another place"
        " than this file."
    )
    assert MASTER_KEY.encode() not in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert restored.returncode == 0, restored.stderr
    assert restored.stdout.splitlines()[0].startswith("The backup is complete: Gatehouse ")
    assert restored.stdout.splitlines()[1:] == ["Restored. Run `gatehouse doctor`, then start the servers."]
    # The time is kept when the file is complete, so the file is without it.
    assert contents(empty_database_url) == contents_of_backup(database_url)
    [(kind, succeeded_at)] = connection.execute("SELECT kind, succeeded_at FROM recovery_runs").fetchall()
    assert (kind, succeeded_at == backup_made_at(file)) == ("backup", True)


def test_a_backup_succeeds_also_where_its_time_cannot_be_kept(
    commands_here: CommandsHere, connection: Connection
) -> None:
    connection.execute("ALTER TABLE recovery_runs ADD CONSTRAINT none_at_all CHECK (kind = '')")

    written = commands_here.run("backup", "backup.tar")

    assert (written.returncode, without_progress(written.stderr)) == (0, "")
    assert written.stdout.splitlines()[1].startswith(
        "The database does not keep when it was made, so alerts on old backups miss it: new row for relation"
    )


def test_a_restore_is_tried_beside_the_servers_and_leaves_nothing_but_its_time(
    commands: Commands, connection: Connection, builder: Builder, database_url: str
) -> None:
    builder.user("ann@example.com")
    seal_something(connection)
    assert commands.run("backup", "backup.tar").returncode == 0
    before = contents(database_url)

    # The path of a socket may have some hundred characters.
    with data_folder() as temporary:
        tried = subprocess.run(
            [GATEHOUSE, "restore", "--drill", "backup.tar"],
            check=False,
            cwd=commands.folder,
            env=clean_environment() | commands.environment | {"TMPDIR": str(temporary)},
            capture_output=True,
            text=True,
            timeout=300,
        )
        left = list(temporary.iterdir())

    assert tried.returncode == 0, tried.stderr
    lines = tried.stdout.splitlines()
    assert lines[0].startswith("The backup is complete: Gatehouse ")
    assert lines[-2] == "Restored."
    assert lines[-1].startswith("Recorded: a restore that was tried at ")
    assert left == []
    after = contents(database_url)
    assert {name for name in after if after[name] != before[name]} == {"recovery_runs"}
    assert after["recovery_runs"][0] == 2


def test_a_drill_with_a_broken_file_or_without_the_master_key_is_no_success(
    commands_here: CommandsHere, connection: Connection, tmp_path: Path
) -> None:
    seal_something(connection)
    commands_here.run("backup", "backup.tar")
    connection.execute("DELETE FROM recovery_runs")
    (tmp_path / "half.tar").write_bytes((tmp_path / "backup.tar").read_bytes()[:-4000])

    half = commands_here.run("restore", "--drill", "half.tar")
    keyless = commands_here.run("restore", "--drill", "backup.tar", MASTER_KEYS=OTHER_KEY)
    mixed = commands_here.run("restore", "--drill", "--replace", "backup.tar")

    assert (half.returncode, keyless.returncode, mixed.returncode) == (1, 1, 1)
    assert "half.tar" in half.stderr
    assert keyless.stderr.startswith(f"gatehouse: The backup needs the master key {KEY_ID}")
    assert mixed.stderr == "gatehouse: --drill tries the backup as it is: it goes with no other option.\n"
    assert connection.execute("SELECT FROM recovery_runs").fetchall() == []


@pytest.mark.parametrize(("run", "kind"), [("backup", "backup"), ("restore-drill", "restore_drill")])
def test_what_another_program_has_done_is_recorded(
    commands_here: CommandsHere, connection: Connection, run: str, kind: str
) -> None:
    recorded = commands_here.run("record", run)
    again = commands_here.run("record", run)

    assert (recorded.returncode, again.returncode) == (0, 0)
    assert recorded.stdout.startswith("Recorded: a ")
    assert connection.execute("SELECT kind, succeeded_at <= now() FROM recovery_runs").fetchall() == [(kind, True)]


def test_a_missing_master_key_is_named_before_anything_is_changed(
    commands_here: CommandsHere, connection: Connection, empty_database_url: str
) -> None:
    seal_something(connection)
    commands_here.run("backup", "backup.tar")
    target = {"DATABASE_URL": address(empty_database_url), "MASTER_KEYS": OTHER_KEY}

    refused = commands_here.run("restore", "backup.tar", **target)
    assert refused.returncode == 1
    assert refused.stderr.startswith(
        f"gatehouse: The backup needs the master key {KEY_ID}, which GATEHOUSE_MASTER_KEYS does not have."
    )
    assert contents(empty_database_url) == {}

    dropped = commands_here.run("restore", "--without-master-key", "backup.tar", **target)
    assert dropped.returncode == 0
    assert "Dropped, because its master key is lost: 1 of mails.values_sealed." in dropped.stdout


def test_no_key_is_made_for_a_backup_that_needs_another(
    commands_here: CommandsHere, connection: Connection, tmp_path: Path
) -> None:
    seal_something(connection)
    commands_here.run("backup", "backup.tar")
    del commands_here.environment["GATEHOUSE_DATABASE_URL"], commands_here.environment["GATEHOUSE_MASTER_KEYS"]

    refused = commands_here.run("restore", "backup.tar", DATA_DIR="fresh")

    assert refused.returncode == 1
    assert f"needs the master key {KEY_ID}, which fresh/master-key does not have" in refused.stderr
    assert not (tmp_path / "fresh").exists()


def test_a_newer_schema_is_refused(
    commands_here: CommandsHere, connection: Connection, empty_database_url: str
) -> None:
    newer = newest_version() + 1
    connection.execute(
        """
        INSERT INTO schema_migrations (version, name, checksum, seconds, compatible_from) VALUES (%s, 'newer', '', 0, 1)
        """,
        (newer,),
    )
    commands_here.run("backup", "backup.tar")

    for options in ((), ("--without-migrating",)):
        refused = commands_here.run("restore", *options, "backup.tar", DATABASE_URL=address(empty_database_url))

        assert refused.returncode == 1
        assert f"its schema is {newer}, and this version of Gatehouse knows none after {newer - 1}" in refused.stderr
        assert re.search(r"\. Restore it with Gatehouse [0-9]\S* or newer\b", refused.stderr)
    assert contents(empty_database_url) == {}


def test_a_backup_of_an_older_schema_is_restored_for_the_version_that_had_it(
    commands_here: CommandsHere, empty_database_url: str
) -> None:
    url = {"DATABASE_URL": address(empty_database_url)}
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _line: None, migrations.known()[:OLD_SCHEMA])
    seal_old_mail(empty_database_url)
    before = contents(empty_database_url)

    written = commands_here.run("backup", "old.tar", **url)
    upgraded = commands_here.run("migrate", **url)
    listed = commands_here.run("restore", "--without-migrating", "old.tar", **url)
    restored = commands_here.run("restore", "--replace", "--without-migrating", "--end-sessions", "old.tar", **url)

    assert (written.returncode, upgraded.returncode, listed.returncode, restored.returncode) == (0, 0, 1, 0)
    assert f" with schema {OLD_SCHEMA}, PostgreSQL " in written.stdout
    assert (
        f"The schema {OLD_SCHEMA} belongs to an earlier version. To go back to that version after an upgrade, restore"
        " this file with `gatehouse restore --replace --without-migrating old.tar`.\n" in written.stdout
    )
    assert "\n  accounts: none\n" in listed.stdout
    assert "Nothing was changed" in listed.stderr
    assert restored.stdout.splitlines()[-1] == (
        f"Restored with schema {OLD_SCHEMA}, and not migrated. Start the version of Gatehouse that had this schema,"
        " which ops/docs/upgrading.md lists; this version starts after `gatehouse migrate`."
    )
    assert contents(empty_database_url) == before
    with migrations.connected(empty_database_url) as connection:
        assert len(migrations.plan(connection).applied) == OLD_SCHEMA
    # And forward again.
    assert commands_here.run("migrate", **url).returncode == 0
    with migrations.connected(empty_database_url) as connection:
        assert migrations.is_current(connection)


def test_a_lost_master_key_is_given_up_in_an_older_schema_as_well(
    commands_here: CommandsHere, empty_database_url: str
) -> None:
    url = {"DATABASE_URL": address(empty_database_url)}
    with migrations.connected(empty_database_url) as connection:
        migrations.migrate(connection, lambda _line: None, migrations.known()[:OLD_SCHEMA])
    seal_old_mail(empty_database_url)
    commands_here.run("backup", "old.tar", **url)

    dropped = commands_here.run(
        "restore", "--replace", "--without-migrating", "--without-master-key", "old.tar", **url, MASTER_KEYS=OTHER_KEY
    )

    assert (dropped.returncode, without_progress(dropped.stderr)) == (0, "")
    assert "Dropped, because its master key is lost: 1 of mails.values_sealed." in dropped.stdout


def test_what_is_no_backup_is_refused_in_one_line(commands_here: CommandsHere, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("notes")

    for name in ("notes.txt", "missing.tar"):
        refused = commands_here.run("restore", name)
        assert (refused.returncode, refused.stdout) == (1, "")
        assert len(refused.stderr.splitlines()) == 1
        assert name in refused.stderr


def test_a_file_that_exists_is_not_replaced(commands_here: CommandsHere, tmp_path: Path) -> None:
    (tmp_path / "backup.tar").write_text("precious")

    refused = commands_here.run("backup", "backup.tar")

    assert refused.returncode == 1
    assert refused.stderr == "gatehouse: backup.tar exists already. Choose another name; a backup replaces no file.\n"
    assert (tmp_path / "backup.tar").read_text() == "precious"


def test_a_folder_without_the_programs_is_named(commands_here: CommandsHere, tmp_path: Path) -> None:
    refused = commands_here.run("backup", "backup.tar", POSTGRES_PROGRAMS=str(tmp_path))

    assert refused.returncode == 1
    assert f"{tmp_path} has no pg_dump of PostgreSQL" in refused.stderr
    assert not list(tmp_path.glob("backup.tar*"))


# ----------------------------------------------------------------------------------------------------------------------
# Processes, each of which takes seconds


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_backup_that_is_stopped_leaves_nothing(
    commands: Commands, database_url: str, tmp_path: Path, number: signal.Signals
) -> None:
    environment = clean_environment() | commands.environment
    # pg_dump waits for this lock, so the backup is under way for as long as the test wants.
    with psycopg.connect(database_url) as holding:
        holding.execute("LOCK TABLE users IN ACCESS EXCLUSIVE MODE")
        process = subprocess.Popen([GATEHOUSE, "backup", "backup.tar"], cwd=tmp_path, env=environment)
        wait_until(lambda: bool(list(tmp_path.glob("*.part"))))
        os.kill(process.pid, number)

        assert process.wait(60) == -number

    assert list(tmp_path.glob("backup.tar*")) == []


@pytest.mark.usefixtures("nobody_else")
@pytest.mark.long
def test_a_restore_that_is_killed_leaves_the_database_as_it_was(
    commands: Commands, connection: Connection, builder: Builder, database_url: str, tmp_path: Path
) -> None:
    assert commands.run("backup", "backup.tar").returncode == 0
    builder.user("later@example.com")
    before = contents(database_url)
    environment = clean_environment() | commands.environment
    with psycopg.connect(database_url) as holding:
        # The deletion of the tables waits for this one, when others are deleted already.
        holding.execute("LOCK TABLE webhooks IN ACCESS SHARE MODE")
        process = subprocess.Popen([GATEHOUSE, "restore", "--replace", "backup.tar"], cwd=tmp_path, env=environment)
        wait_until(lambda: connection.execute("SELECT FROM pg_locks WHERE NOT granted").rowcount > 0, seconds_max=120)
        process.kill()
        process.wait(60)

    wait_until(
        lambda: (
            connection.execute("SELECT FROM pg_stat_activity WHERE application_name = 'gatehouse restore'").rowcount
            == 0
        )
    )
    assert contents(database_url) == before


@pytest.mark.usefixtures("nobody_else")
@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_restore_that_is_stopped_ends_by_the_signal_and_changes_nothing(
    commands: Commands, builder: Builder, database_url: str, tmp_path: Path, number: signal.Signals
) -> None:
    assert commands.run("backup", "backup.tar").returncode == 0
    builder.user("later@example.com")
    before = contents(database_url)
    environment = clean_environment() | commands.environment
    with psycopg.connect(database_url, autocommit=True) as watching, psycopg.connect(database_url) as holding:
        holding.execute("LOCK TABLE webhooks IN ACCESS SHARE MODE")
        process = subprocess.Popen(
            [GATEHOUSE, "restore", "--replace", "backup.tar"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE
        )
        wait_until(lambda: watching.execute("SELECT FROM pg_locks WHERE NOT granted").rowcount > 0, seconds_max=120)
        os.kill(process.pid, number)
        _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors) == (-number, b"")
    assert contents(database_url) == before


@pytest.mark.usefixtures("nobody_else")
@pytest.mark.long
def test_a_server_that_runs_is_named_and_goes_on(services: Services, commands: Commands) -> None:
    service = services.ready()
    assert commands.run("backup", "backup.tar").returncode == 0

    refused = commands.run("restore", "--replace", "backup.tar")

    assert refused.returncode == 1
    assert "Gatehouse is connected to this database (gatehouse" in refused.stderr
    assert service.get("/health/ready").status == 200
    assert (
        MANIFEST
        in subprocess.run(
            ["tar", "tf", commands.folder / "backup.tar"], check=True, capture_output=True, text=True
        ).stdout
    )

"""Each command as an operator uses it: its output, its errors, and its exit status."""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
from pathlib import Path

import psycopg
import pytest

from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.schema import migrations
from core.accounts.passwords import COMMON, EXPECTED
from tests.processes import (
    GATEHOUSE,
    MASTER_KEY,
    Commands,
    CommandsHere,
    address,
    clean_environment,
)
from tests.shown_text import shows
from tests.waiting import wait_until

# Each starts processes, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

COMMANDS = ["serve", "migrate", "keys", "owner", "users", "mail", "audit", "routes", "config", "doctor"]
MIGRATIONS = [str(migration) for migration in migrations.known()]


def one_line(text: str) -> str:
    """Return the only line of a text."""
    lines = text.splitlines()
    assert len(lines) == 1, text
    return lines[0]


def test_help_names_every_command(commands: Commands) -> None:
    finished = commands.run("--help")

    assert finished.returncode == 0
    assert [word for word in COMMANDS if re.search(rf"^    {word} ", finished.stdout, re.MULTILINE)] == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(commands_here: CommandsHere, command: str) -> None:
    finished = commands_here.run(command, "--help")

    assert finished.returncode == 0
    assert finished.stdout.startswith(f"usage: gatehouse {command}")


def test_version_is_printed(commands: Commands) -> None:
    finished = commands.run("--version")

    assert re.fullmatch(r"gatehouse \d+\.\d+\.\d+(\.dev\d+(\+[0-9a-f]{12})?)?\n", finished.stdout)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["serve", "--workers", "0"], "argument --workers: it must be a whole number of at least 1"),
        (["serve", "--workers", "two"], "argument --workers: it must be a whole number of at least 1"),
        (["keys"], "the following arguments are required: action"),
        (["keys", "lose"], "invalid choice: 'lose'"),
        (["owner"], "the following arguments are required: email"),
    ],
)
def test_a_wrong_argument_is_named_together_with_the_usage(
    commands_here: CommandsHere, arguments: list[str], error: str
) -> None:
    finished = commands_here.run(*arguments)

    assert finished.returncode == 2
    assert finished.stderr.startswith("usage: gatehouse")
    assert error in finished.stderr


@pytest.mark.parametrize("command", ["config", "routes", "serve", "migrate", "doctor"])
def test_a_wrong_setting_stops_every_command_with_one_line(commands_here: CommandsHere, command: str) -> None:
    finished = commands_here.run(command, BIND="here")

    assert finished.returncode == 1
    assert finished.stdout == ""
    assert one_line(finished.stderr) == (
        "gatehouse: GATEHOUSE_BIND takes host:port. Change it, or unset it for its default."
    )


def test_an_unknown_setting_is_reported_and_stops_nothing(commands_here: CommandsHere) -> None:
    finished = commands_here.run("config", BINDD="127.0.0.1:80")

    assert finished.returncode == 0
    assert one_line(finished.stderr) == (
        "gatehouse: GATEHOUSE_BINDD is set, but there is no such setting. Is GATEHOUSE_BIND meant?"
    )


def test_config_shows_every_setting_with_its_sentence_and_no_secret(commands: Commands) -> None:
    finished = commands.run("config", SMTP_URL="smtp://me:hush@mail.example.com", LOG_LEVEL="debug")

    assert finished.returncode == 0
    assert re.search(r"^GATEHOUSE_LOG_LEVEL +debug\n +The lowest level that is logged\.$", finished.stdout, re.M)
    assert re.search(r"^GATEHOUSE_SMTP_URL +smtp://me:\*\*\*@mail\.example\.com$", finished.stdout, re.MULTILINE)
    assert re.search(r"^GATEHOUSE_OWNER_EMAIL +\(not set\)$", finished.stdout, re.MULTILINE)
    assert not shows(finished.stdout, "hush")
    assert MASTER_KEY not in finished.stdout


def test_routes_lists_every_route_and_who_may_call_it(commands: Commands) -> None:
    finished = commands.run("routes")

    assert finished.returncode == 0
    assert re.search(r"^GET +/health/ready +public", finished.stdout, re.MULTILINE)
    assert "/dev/mailbox" not in finished.stdout


def test_routes_with_files_says_where_the_handler_of_each_is(commands: Commands) -> None:
    finished = commands.run("routes", "--files")

    assert finished.returncode == 0
    assert re.search(
        r"^GET +/health/ready +entrypoints/http/platform/health\.py:\d+ \w+$", finished.stdout, re.MULTILINE
    )
    assert len(finished.stdout.splitlines()) == len(commands.run("routes").stdout.splitlines())


def test_routes_in_development_mode_lists_those_of_development_as_well(commands_here: CommandsHere) -> None:
    assert "/dev/mailbox" in commands_here.run("routes", DEV="on").stdout


def test_a_closed_output_pipe_is_not_an_error(commands: Commands) -> None:
    reader, writer = os.pipe()
    os.close(reader)

    finished = subprocess.run(
        [GATEHOUSE, "config"], check=False, stdout=writer, stderr=subprocess.PIPE, env=clean_environment(), text=True
    )
    os.close(writer)

    assert finished.returncode == 0
    assert finished.stderr == ""


def test_a_plan_lists_the_pending_migrations_and_applies_none(
    commands: Commands, commands_here: CommandsHere, empty_database_url: str
) -> None:
    database = address(empty_database_url)

    planned = commands.run("migrate", "--plan", DATABASE_URL=database)
    again = commands_here.run("migrate", "--plan", DATABASE_URL=database)

    assert planned.returncode == 0
    assert planned.stdout.splitlines() == [
        *(f"Would apply {migration}." for migration in MIGRATIONS),
        f"Pending migrations: {len(MIGRATIONS)}. To apply them, run `gatehouse migrate`.",
    ]
    assert again.stdout == planned.stdout


def test_migrate_brings_the_schema_up_to_date_once(
    commands: Commands, commands_here: CommandsHere, empty_database_url: str
) -> None:
    database = address(empty_database_url)

    migrated = commands.run("migrate", DATABASE_URL=database)
    again = commands_here.run("migrate", DATABASE_URL=database)
    planned = commands_here.run("migrate", "--plan", DATABASE_URL=database)

    assert migrated.returncode == again.returncode == planned.returncode == 0
    assert migrated.stdout.splitlines()[-1] == f"Migrations applied: {len(MIGRATIONS)}."
    assert again.stdout == planned.stdout == "Nothing to do: the schema is up to date.\n"


@pytest.mark.parametrize("arguments", [["keys", "list"], ["owner", "ann@example.com"]])
def test_commands_that_need_the_schema_are_refused_without_it(
    commands_here: CommandsHere, empty_database_url: str, arguments: list[str]
) -> None:
    finished = commands_here.run(*arguments, DATABASE_URL=address(empty_database_url))

    assert finished.returncode == 1
    assert one_line(finished.stderr) == (
        f"gatehouse: The database's schema lacks {len(MIGRATIONS)} of the migrations of this version."
        " Run `gatehouse migrate`; `gatehouse migrate --plan` lists them."
    )


def test_an_unreachable_database_is_one_line_without_its_address(commands_here: CommandsHere, tmp_path: Path) -> None:
    finished = commands_here.run("keys", "list", DATABASE_URL=f"postgresql://me:hush@/db?host={tmp_path}")

    assert finished.returncode == 1
    assert re.fullmatch(
        r"gatehouse: The database cannot be reached: .+\. Check that it runs, and GATEHOUSE_DATABASE_URL\.",
        one_line(finished.stderr),
    )
    assert not shows(finished.stderr, "hush")


def test_no_command_opens_an_external_database_without_a_master_key(commands_here: CommandsHere) -> None:
    finished = commands_here.run("keys", "list", MASTER_KEYS="")

    assert finished.returncode == 1
    assert one_line(finished.stderr).startswith(
        "gatehouse: GATEHOUSE_MASTER_KEYS is missing, and secrets are never stored"
    )


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        ("hush", "Master key 1 has 3 bytes; it takes 32, in base64."),
        (f"{MASTER_KEY},?", "Master key 2 is not base64."),
    ],
    # The key, and with it the id of the test, would differ in every run.
    ids=["too short", "no base64"],
)
def test_a_wrong_master_key_is_one_line_that_does_not_repeat_it(
    commands_here: CommandsHere, keys: str, error: str
) -> None:
    finished = commands_here.run("keys", "list", MASTER_KEYS=keys)

    assert finished.returncode == 1
    assert one_line(finished.stderr) == f"gatehouse: GATEHOUSE_MASTER_KEYS is wrong. {error}"


def test_a_new_master_key_has_32_bytes_and_is_never_the_same(commands: Commands, commands_here: CommandsHere) -> None:
    first, second = (made_by.run("keys", "generate").stdout for made_by in (commands, commands_here))

    assert len(base64.b64decode(first)) == 32
    assert first != second


def test_signing_keys_are_listed_and_rotated(
    commands: Commands, commands_here: CommandsHere, connection: Connection
) -> None:
    before = commands_here.run("keys", "list")
    rotated = commands.run("keys", "rotate")
    after = commands_here.run("keys", "list")

    assert before.stdout == "There are no signing keys yet. `gatehouse serve` makes them at its first start.\n"
    rotations = dict(re.findall(r"^Key (\S+) signs by (\S+) from now on\.$", rotated.stdout, re.MULTILINE))
    states = {tuple(line.split()[1:3]): line.split()[0] for line in after.stdout.splitlines()}
    assert set(rotations.values()) == {"RS256", "ES256"}
    assert states.keys() == {(kind, state) for kind in ("RS256", "ES256") for state in ("active", "next", "retired")}
    assert {states[kind, "active"]: kind for kind in ("RS256", "ES256")} == rotations
    entries = connection.execute(
        "SELECT action, target_type, target_id, details, user_agent FROM platform_audit_entries ORDER BY id"
    ).fetchall()
    assert [entry[:4] for entry in entries] == [
        ("signing_key.rotated", "key", kid, {"algorithm": kind}) for kid, kind in rotations.items()
    ]
    assert entries[0][4].startswith("gatehouse keys rotate (")
    assert re.search(r" retired +made .+ UTC, published until .+ UTC$", after.stdout, re.MULTILINE)


def test_a_list_into_a_closed_pipe_is_not_an_error(commands: Commands) -> None:
    reader, writer = os.pipe()
    os.close(reader)

    finished = subprocess.run(
        [GATEHOUSE, "keys", "list"],
        check=False,
        stdout=writer,
        stderr=subprocess.PIPE,
        env=clean_environment() | commands.environment,
        cwd=commands.folder,
        text=True,
    )
    os.close(writer)

    assert (finished.returncode, finished.stderr) == (0, "")


def test_a_master_key_is_replaced_by_rewrapping_what_it_encrypted(
    commands: Commands, commands_here: CommandsHere, connection: Connection
) -> None:
    new = commands_here.run("keys", "generate").stdout.strip()
    commands_here.run("keys", "rotate")

    too_early = commands_here.run("keys", "list", MASTER_KEYS=new)
    rewrapped = commands.run("keys", "rewrap", MASTER_KEYS=f"{new},{MASTER_KEY}")
    with_new = commands_here.run("keys", "list", MASTER_KEYS=new)
    with_old = commands_here.run("keys", "list")

    assert rewrapped.stdout.splitlines()[-1] == (
        "Secrets re-encrypted: 7. The first key of GATEHOUSE_MASTER_KEYS is now the only one in use."
    )
    assert with_new.returncode == 0
    [(target, details)] = connection.execute(
        "SELECT target_id, details FROM platform_audit_entries WHERE action = 'secrets.rewrapped'"
    ).fetchall()
    assert (details, len(bytes.fromhex(target))) == ({"secrets": 7}, 8)
    for refused in (too_early, with_old):
        assert refused.returncode == 1
        assert one_line(refused.stderr).endswith(
            "Put the master key back that the database was used with: GATEHOUSE_MASTER_KEYS."
        )


def test_rewrapping_without_the_old_key_reports_and_records_what_is_left(
    commands_here: CommandsHere, connection: Connection
) -> None:
    commands_here.run("keys", "rotate")

    finished = commands_here.run("keys", "rewrap", MASTER_KEYS=commands_here.run("keys", "generate").stdout.strip())

    assert finished.returncode == 1
    assert finished.stderr.startswith(
        "gatehouse: server_secrets.value_sealed: 1 could not be read with these keys and 0 were in use."
    )
    entries = "SELECT details FROM platform_audit_entries WHERE action = 'secrets.rewrapped'"
    assert connection.execute(entries).fetchall() == [({"secrets": 0, "left": 7},)]


def test_nothing_is_rewrapped_in_a_schema_that_cannot_record_it(
    commands_here: CommandsHere, connection: Connection
) -> None:
    commands_here.run("keys", "rotate")
    keys = commands_here.run("keys", "generate").stdout.strip() + f",{MASTER_KEY}"
    sealed = "SELECT value_sealed FROM server_secrets ORDER BY name"
    before = connection.execute(sealed).fetchall()
    connection.execute("DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)")

    refused = commands_here.run("keys", "rewrap", MASTER_KEYS=keys)

    assert refused.returncode == 1
    assert "Run `gatehouse migrate`" in one_line(refused.stderr)
    assert connection.execute(sealed).fetchall() == before


def test_a_new_owner_gets_a_password_that_is_shown_once(commands: Commands, connection: Connection) -> None:
    finished = commands.run("owner", "Ann@Example.com")

    assert finished.returncode == 0
    assert re.fullmatch(r"ann@example\.com is now a platform owner\. Password: \S{16}\n", finished.stdout)
    owners = connection.execute("SELECT email FROM users WHERE is_platform_owner AND email_verified_at IS NOT NULL")
    assert owners.fetchall() == [("ann@example.com",)]


def test_an_owners_password_can_come_from_standard_input(commands: Commands) -> None:
    finished = commands.run("owner", "ann@example.com", "--password-stdin", stdin="correct horse\n")

    assert finished.returncode == 0
    assert (
        finished.stdout
        == "ann@example.com is now a platform owner. The new account has the password that you entered.\n"
    )


def test_an_existing_user_becomes_an_owner_and_keeps_the_password(
    commands_here: CommandsHere, connection: Connection
) -> None:
    commands_here.run("owner", "ann@example.com")
    before = connection.execute("SELECT password_hash FROM users").fetchall()

    finished = commands_here.run("owner", "ann@example.com")

    assert finished.stdout == ("ann@example.com is now a platform owner. The existing account keeps its password.\n")
    assert connection.execute("SELECT password_hash FROM users").fetchall() == before
    # The second time changes nothing. No user did it: the entry says who ran the command.
    entries = connection.execute("SELECT action, actor_user_id, user_agent FROM platform_audit_entries").fetchall()
    assert [(action, actor, agent.partition(" (")[0]) for action, actor, agent in entries] == [
        ("platform_owner.promoted", None, "gatehouse owner")
    ]


@pytest.mark.parametrize(
    ("email", "password", "error"),
    [
        ("ann", "correct horse", "email: This is not a valid email address."),
        ("ann@example.com", "short", "password: A password has at least 8 characters."),
        ("ann@example.com", "iloveyou1", f"password: {COMMON}"),
        ("ann@engines.example", "Ann-Engines-1", f"password: {EXPECTED}"),
    ],
)
def test_an_invalid_owner_is_refused_with_one_line(
    commands_here: CommandsHere, email: str, password: str, error: str
) -> None:
    finished = commands_here.run("owner", email, "--password-stdin", stdin=f"{password}\n")

    assert finished.returncode == 1
    assert finished.stdout == ""
    assert one_line(finished.stderr) == f"gatehouse: {error}"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_command_ends_by_the_signal_without_output(
    commands: Commands, empty_database_url: str, number: signal.Signals
) -> None:
    with psycopg.connect(empty_database_url, autocommit=True) as other_replica:
        other_replica.execute("SELECT pg_advisory_lock(hashtext('gatehouse.migrations'))")
        waiting = subprocess.Popen(
            [GATEHOUSE, "migrate"],
            env=clean_environment() | commands.environment | {"GATEHOUSE_DATABASE_URL": address(empty_database_url)},
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(lambda: _waits_for_a_lock(other_replica))

        waiting.send_signal(number)
        _, error = waiting.communicate(timeout=60)

    assert waiting.returncode == -number
    assert error == ""


def _waits_for_a_lock(connection: RawConnection) -> bool:
    waiting = (
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'SELECT pg_try_advisory%'"
    )
    return connection.execute(waiting).fetchone() is not None

"""Importing a file of accounts into a real database, and the reports about it."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
import trio

from adapters.crypto.password_schemes import stored_form
from adapters.domain_names import IdnaDomainNames
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.accounts.user_import import Problem
from entrypoints.operator import user_import
from entrypoints.operator.user_import import UserImportRun
from tests.clock import SettableClock
from tests.processes import Commands, without_progress
from tests.terminals import Terminal
from tests.world.builder import PASSWORD, PASSWORD_HASH
from tests.world.world import World

TO_ASCII = IdnaDomainNames().to_ascii

BCRYPT = "$2y$04$xUFcg2BTSN0uwUMs/b3Fn.N4n4W/OdGZo.YFMGsWt8TVB3ko.1FbK"
BCRYPT_PASSWORD = "Пароль correct horse 🗝"


class Ticks:
    """A stopwatch that advances by a second each time it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


class Importer:
    """Imports lines from a file."""

    def __init__(self, folder: Path, database: PostgresDatabase, clock: SettableClock) -> None:
        self.path = folder / "people.jsonl"
        self.database = database
        self.clock = clock
        self.out = io.StringIO()

    async def run(self, *lines: object, is_check: bool = False, **options: Any) -> UserImportRun:
        self.path.write_bytes(
            b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
        )
        with self.path.open("rb") as file:
            run = UserImportRun(file, stored_form, TO_ASCII, self.clock, self.out, **options)
            await run.run(None if is_check else self.database)
        return run


@pytest.fixture
def importer(tmp_path: Path, database: PostgresDatabase, clock: SettableClock) -> Importer:
    return Importer(tmp_path, database, clock)


def person(number: int, **values: object) -> dict[str, object]:
    return {"email": f"person.{number}@example.com", "hash": PASSWORD_HASH, **values}


def emails(connection: Connection) -> list[str]:
    """Return the addresses of each transaction in their own order, the earliest transaction first."""
    rows = connection.execute(
        "SELECT email FROM users ORDER BY xmin::text::bigint, substring(email FROM '\\d+')::int, email"
    )
    return [email for (email,) in rows]


class TestImporting:
    """The results of the lines."""

    async def test_every_column_has_the_value_of_the_line(
        self, importer: Importer, connection: Connection, clock: SettableClock
    ) -> None:
        await importer.run(
            person(1, hash=BCRYPT, verified=True, created_at="2020-01-01T00:00:00Z"), person(2, hash=None)
        )

        rows = connection.execute(
            "SELECT email_verified_at, password_hash, created_at::text, updated_at FROM users ORDER BY email"
        ).fetchall()
        assert rows[0] == (clock(), BCRYPT, "2020-01-01 00:00:00+00", clock())
        assert rows[1][:2] == (None, None)

    async def test_batches_are_stored_one_after_the_other(
        self, importer: Importer, connection: Connection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(user_import, "BATCH_LINES", 10)

        run = await importer.run(*(person(number) for number in range(35)))

        assert emails(connection) == [f"person.{number}@example.com" for number in range(35)]
        assert (run.lines, run.added, run.is_at_end) == (35, 35, True)

    async def test_an_address_with_an_account_is_skipped_and_the_account_is_unchanged(
        self, importer: Importer, connection: Connection
    ) -> None:
        await importer.run(person(1))

        run = await importer.run(person(1, hash=None), person(2))

        assert (run.added, run.accepted) == (1, 2)
        assert connection.execute("SELECT count(*) FROM users WHERE password_hash IS NULL").fetchone() == (0,)

    async def test_the_first_of_several_lines_with_the_same_address_is_imported(
        self, importer: Importer, connection: Connection
    ) -> None:
        run = await importer.run(person(1, hash=BCRYPT), person(1), {"email": "PERSON.1@example.com", "hash": None})

        assert (run.added, run.accepted) == (1, 3)
        assert connection.execute("SELECT password_hash FROM users").fetchall() == [(BCRYPT,)]

    async def test_an_invalid_line_is_reported_by_its_number_and_stops_nothing(
        self, importer: Importer, connection: Connection
    ) -> None:
        run = await importer.run(
            person(1),
            b"not json\n",
            b"\n",
            person(2, hash="$1$secret$hash"),
            b'{"email": "' + b"x" * 100_000 + b'"}\n',
            person(3),
            b'{"email": "last@example.com", "hash": null}',
        )

        assert importer.out.getvalue().splitlines() == [
            "Line 2 is left out: it is not a JSON object.",
            "Line 4 is left out: its hash is malformed or of an unknown kind.",
            "Line 5 is left out: it is too long.",
        ]
        assert emails(connection) == ["person.1@example.com", "person.3@example.com", "last@example.com"]
        assert run.rejected == {Problem.NOT_JSON: 1, Problem.UNKNOWN_HASH: 1, Problem.TOO_LONG: 1}

    async def test_checking_changes_nothing(self, importer: Importer, connection: Connection) -> None:
        run = await importer.run(person(1), b"{}\n", is_check=True)

        assert emails(connection) == []
        assert run.summary(is_check=True) == [
            "Lines read: 2. Could be imported: 1. Left out: 1.",
            "        1  it has no email",
            "Nothing was changed. Existing accounts were not checked.",
        ]

    async def test_an_import_sends_no_mails_and_publishes_no_events(
        self, importer: Importer, connection: Connection
    ) -> None:
        await importer.run(person(1), person(2, verified=True))

        assert connection.execute("SELECT (SELECT count(*) FROM mails), (SELECT count(*) FROM events)").fetchone() == (
            0,
            0,
        )


class TestReports:
    """The progress and the summary."""

    async def test_a_log_gets_a_line_every_few_seconds(
        self, importer: Importer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(user_import, "BATCH_LINES", 1)

        await importer.run(*(person(number) for number in range(10, 20)), seconds=Ticks())

        assert importer.out.getvalue().splitlines() == [
            "5 lines, 50 %, 1 per second, about 5 s left",
            "10 lines, 100 %, 1 per second, about 0 s left",
        ]

    async def test_a_terminal_has_one_line_that_changes(
        self, importer: Importer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(user_import, "BATCH_LINES", 1)
        importer.out = Terminal()

        await importer.run(person(1), b"{}\n", seconds=Ticks())

        assert importer.out.getvalue().startswith("\r\x1b[K1 lines, ")
        assert "\r\x1b[KLine 2 is left out: it has no email.\n" in importer.out.getvalue()
        assert importer.out.getvalue().endswith("\r\x1b[K")

    async def test_the_summary_counts_everything(self, importer: Importer) -> None:
        run = await importer.run(person(1), person(1), b"{}\n", b"[]\n", b"[]\n")

        assert run.summary(is_check=False) == [
            "Lines read: 5. Imported: 1. Skipped, because the address is taken: 1. Left out: 3.",
            "        2  it is not a JSON object",
            "        1  it has no email",
        ]

    async def test_the_summary_of_an_interrupted_import_says_how_to_continue(self, importer: Importer) -> None:
        importer.path.write_bytes(b"")
        with importer.path.open("rb") as file:
            run = UserImportRun(file, stored_form, TO_ASCII, importer.clock, importer.out)

        assert run.summary(is_check=False)[-1].endswith("Run the command again: it skips imported accounts.")


class TestSigningIn:
    """Imported users sign in with their previous passwords."""

    async def test_an_imported_hash_is_accepted_and_replaced_by_a_new_one(
        self, world: World, importer: Importer
    ) -> None:
        await importer.run(person(1, hash=BCRYPT, verified=True))

        assert (await world.log_in("person.1@example.com", "wrong")).status == 401
        assert world.value("SELECT password_hash FROM users") == BCRYPT
        assert (await world.log_in("person.1@example.com", BCRYPT_PASSWORD)).status == 200
        assert world.value("SELECT password_hash FROM users").startswith("$argon2id$")
        assert (await world.log_in("person.1@example.com", BCRYPT_PASSWORD)).status == 200

    async def test_an_unverified_address_has_to_be_verified(self, world: World, importer: Importer) -> None:
        await importer.run(person(1))

        answer = await world.log_in("person.1@example.com", PASSWORD)

        assert answer.status == 401
        assert "Verify your email address" in answer.text

    async def test_the_link_that_verifies_an_imported_address_keeps_the_imported_password(
        self, world: World, importer: Importer
    ) -> None:
        await importer.run(person(1))
        await world.client.post("/api/auth/resend-verification", body={"email": "person.1@example.com"})
        path = f"/auth/verify-email?token={(await world.mail()).values['token']}"

        assert (await world.client.get(path, headers={"Accept": "application/json"})).status == 200

        assert (await world.log_in("person.1@example.com", PASSWORD)).status == 200

    async def test_who_was_blocked_is_deactivated_until_a_platform_owner_unlocks_the_account(
        self, world: World, importer: Importer
    ) -> None:
        await importer.run(person(1, hash=BCRYPT, verified=True, blocked=True), person(2, verified=True, blocked=False))
        blocked_id = world.value("SELECT id FROM users WHERE email = 'person.1@example.com'")

        assert (await world.log_in("person.1@example.com", BCRYPT_PASSWORD)).status == 401
        assert world.value("SELECT deactivated_at FROM users WHERE id = %s", blocked_id) == world.clock()
        assert (await world.log_in("person.2@example.com", PASSWORD)).status == 200
        world.user("owner@example.com", is_platform_owner=True)
        owner = await world.sign_in("owner@example.com")
        path = f"/api/platform/users/{blocked_id}/unlock"
        assert (await world.client.post(path, token=owner.access_token)).status == 204
        assert (await world.log_in("person.1@example.com", BCRYPT_PASSWORD)).status == 200

    async def test_the_lock_of_who_was_blocked_too_is_lifted_alone(self, world: World, importer: Importer) -> None:
        await importer.run(person(1, hash=BCRYPT, verified=True, blocked=True))
        blocked_id = world.value("UPDATE users SET locked_at = now() RETURNING id")
        world.user("owner@example.com", is_platform_owner=True)
        owner = await world.sign_in("owner@example.com")
        states: list[tuple[bool, bool]] = []

        for _ in range(2):
            await world.client.post(f"/api/platform/users/{blocked_id}/unlock", token=owner.access_token)
            [state] = world.rows(
                "SELECT locked_at IS NULL, deactivated_at IS NULL FROM users WHERE id = %s", blocked_id
            )
            states.append(state)

        assert states == [(True, False), (True, True)]

    async def test_a_hash_of_an_unknown_kind_is_a_wrong_password(self, world: World) -> None:
        world.user("ada@example.com", password_hash="$1$salt$hash")

        answer = await world.log_in("ada@example.com")

        assert answer.status == 401
        assert "Email address or password is wrong." in answer.text


async def test_an_import_from_a_silent_pipe_can_be_cancelled(importer: Importer) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as file:
        run = UserImportRun(file, stored_form, TO_ASCII, importer.clock, importer.out)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run.run, None)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        os.close(writing)

    assert nursery.cancel_scope.cancelled_caught


@pytest.mark.long
class TestCommand:
    """`gatehouse users import` as an operator uses it."""

    def test_a_file_without_an_invalid_line_ends_with_0(
        self, commands: Commands, tmp_path: Path, connection: Connection
    ) -> None:
        file = tmp_path / "people.jsonl"
        file.write_text(f"{json.dumps(person(1))}\n{json.dumps(person(2))}\n")

        finished = commands.run("users", "import", str(file))

        assert (finished.returncode, without_progress(finished.stderr)) == (0, "")
        assert finished.stdout == "Lines read: 2. Imported: 2. Skipped, because the address is taken: 0. Left out: 0.\n"
        assert len(emails(connection)) == 2

    def test_standard_input_with_an_invalid_line_imports_the_valid_ones_and_ends_with_1(
        self, commands: Commands, connection: Connection
    ) -> None:
        finished = commands.run("users", "import", "-", stdin=f"{{}}\n{json.dumps(person(1))}\n")

        assert (finished.returncode, finished.stderr) == (1, "Line 1 is left out: it has no email.\n")
        assert emails(connection) == ["person.1@example.com"]

    def test_checking_needs_no_database(self, commands: Commands) -> None:
        nowhere = "postgresql://nobody@127.0.0.1:1/nowhere"

        finished = commands.run("users", "import", "-", "--check", stdin=json.dumps(person(1)), DATABASE_URL=nowhere)

        assert finished.returncode == 0
        assert finished.stdout.startswith("Lines read: 1. Could be imported: 1. Left out: 0.")

    def test_a_missing_file_is_reported_with_one_line(self, commands: Commands) -> None:
        finished = commands.run("users", "import", "nowhere.jsonl")

        assert (finished.returncode, finished.stdout) == (1, "")
        assert finished.stderr == "gatehouse: nowhere.jsonl cannot be read: No such file or directory.\n"

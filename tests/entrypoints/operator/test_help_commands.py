"""`gatehouse users show|unlock|end-sessions` and `gatehouse mail list|retry`, on the database of an installation."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import pytest

from core.mail import mail as outbox
from core.mail.mail import MailTemplate
from tests.clock import SettableClock
from tests.processes import Commands, CommandsHere, Service, Services, commands, commands_here, services
from tests.shown_text import shows
from tests.world.builder import EMAIL, PASSWORD, Builder

Transact = Callable[..., Any]


__all__ = ["commands", "commands_here", "services"]

STRANGER = "eve@example.com"
HOSTILE = "Ann\x1b[31m\u202egpj\r\nNOT OK"
SMTP_URL = "smtp://127.0.0.1:9?from=id@example.com"


def send(service: Service, path: str, body: dict[str, str] | None = None, token: str = "") -> tuple[int, Any]:
    """Send a request to a server, and return its answer."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{service.port}{path}",
        data=json.dumps(body).encode() if body is not None else None,
        headers={"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refused:
        return refused.code, json.load(refused)


def queue(
    transact: Transact,
    builder: Builder,
    state: str,
    *,
    error: str | None = None,
    due_at: datetime | None = None,
    is_old_link: bool = False,
) -> UUID:
    """Send a mail that gets into a state after six attempts."""
    transact(outbox.send, EMAIL, MailTemplate.NEW_SIGN_IN, link="https://id.example.com/secret")
    mail_id = builder.value("SELECT id FROM mails ORDER BY id DESC LIMIT 1")
    builder.connection.execute(
        "UPDATE mails SET state = %s, attempts = 6, last_error = %s, due_at = coalesce(%s, due_at) WHERE id = %s",
        (state, error, due_at, mail_id),
    )
    if is_old_link:
        builder.connection.execute(
            "UPDATE mails SET template = 'magic_link', created_at = '2026-01-02 03:04+00' WHERE id = %s", (mail_id,)
        )
    return mail_id


def entries(builder: Builder) -> list[tuple[Any, ...]]:
    """Return the actions, actors and user agents of the platform's audit log."""
    return builder.connection.execute(
        "SELECT action, actor_user_id, user_agent FROM platform_audit_entries ORDER BY created_at, id"
    ).fetchall()


@pytest.mark.long
def test_an_operator_helps_a_user_beside_the_running_server_and_without_it(
    services: Services, commands: Commands, builder: Builder
) -> None:
    builder.user()
    service = services.ready(RATE_LIMITS="on")
    status, signed_in = send(service, "/api/auth/login", {"email": EMAIL, "password": PASSWORD})
    for _ in range(4):
        send(service, "/api/auth/login", {"email": EMAIL, "password": "a wrong password"})

    shown = commands.run("users", "show", EMAIL)
    unlocked = commands.run("users", "unlock", EMAIL)
    before, _ = send(service, "/api/user", token=signed_in["access_token"])
    ended = commands.run("users", "end-sessions", EMAIL)
    after, _ = send(service, "/api/user", token=signed_in["access_token"])
    service.stop()
    without_server = commands.run("users", "show", EMAIL)

    assert status == 200
    assert [one.returncode for one in (shown, unlocked, ended, without_server)] == [0, 0, 0, 0]
    assert re.search(r"^  limits +failed sign-ins in 15 minutes: 4$", shown.stdout, re.MULTILINE)
    assert re.search(r"^  sessions +1$", shown.stdout, re.MULTILINE)
    assert "refused  password  127.0.0.1  The password was wrong.  request " in shown.stdout
    assert unlocked.stdout.startswith(
        f"Limits lifted for {EMAIL}. Failed sign-ins that no longer count: 4; counts of mails: "
    )
    assert (before, after) == (200, 401)
    assert ended.stdout.startswith("Sessions ended: 1. ")
    assert re.search(r"^  limits +failed sign-ins in 15 minutes: 0$", without_server.stdout, re.MULTILINE)
    assert re.search(r"^  sessions +0$", without_server.stdout, re.MULTILINE)
    assert [action for action, _, _ in entries(builder)] == [
        "user.opened",
        "user.limits_lifted",
        "user.sessions_ended",
        "user.opened",
    ]


def test_an_entry_names_the_command_and_the_account_of_the_machine(
    commands_here: CommandsHere, builder: Builder
) -> None:
    builder.user()

    commands_here.run("users", "unlock", EMAIL)

    [(action, actor, user_agent)] = entries(builder)
    assert (action, actor) == ("user.limits_lifted", None)
    assert re.fullmatch(r"gatehouse users unlock \(\S+@\S+\)", user_agent)


@pytest.mark.parametrize("action", ["show", "unlock", "end-sessions"])
def test_an_unknown_address_is_named_with_the_exit_status_1(
    commands_here: CommandsHere, builder: Builder, action: str
) -> None:
    unknown = commands_here.run("users", action, STRANGER)
    invalid = commands_here.run("users", action, "eve")

    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert unknown.stderr.startswith("gatehouse: No account has ")
    assert (invalid.returncode, invalid.stderr) == (1, "gatehouse: email: This is not a valid email address.\n")
    assert entries(builder) == []


def test_an_account_that_nothing_limits_is_said_to_be_so(commands_here: CommandsHere, builder: Builder) -> None:
    builder.user()

    finished = commands_here.run("users", "unlock", EMAIL)

    assert finished.returncode == 0
    assert finished.stdout.splitlines() == [
        f"Nothing limited {EMAIL}.",
        f"Why sign-ins are refused: `gatehouse users show {EMAIL}`.",
    ]


def test_a_record_shows_what_helps_and_no_secret(
    commands_here: CommandsHere, builder: Builder, transact: Transact
) -> None:
    user_id = builder.user(is_verified=False, has_mfa=True)
    builder.connection.execute("UPDATE users SET name = %s", (HOSTILE,))
    builder.member(builder.organization("acme"), user_id, "admin")
    mail_id = queue(transact, builder, "failed", error="550 no\x1b]0;such user\x07")
    builder.connection.execute(
        """
        INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name, aaguid, backup_eligible,
                              transports, created_at)
        VALUES (%s, %s, 'id', 'key', 0, %s, '', false, '{}', now())
        """,
        (mail_id, user_id, HOSTILE),
    )

    shown = commands_here.run("users", "show", EMAIL).stdout

    assert shown.startswith(f"{EMAIL}\n  id              {user_id}\n  name            Ann\ufffd[31m\ufffdgpj NOT OK\n")
    assert "  address         not verified\n" in shown
    assert (
        "  signs in by     password; passkey Ann\ufffd[31m\ufffdgpj NOT OK; second factor, backup codes left: 0\n"
        in shown
    )
    assert "  organizations   acme (admin)\n" in shown
    assert f"    {mail_id}  " in shown
    assert "  failed  new_sign_in, attempts: 6, 550 no\ufffd]0;such user\ufffd\n" in shown
    assert f"Next: A mail was not delivered. To send it again: `gatehouse mail retry {mail_id}`.\n" in shown
    assert "Next: The address is not verified." in shown
    assert not set(shown) & {"\x1b", "\x07", "\r", "\u202e"}
    assert not shows(shown, "secret")
    assert not shows(shown, "argon2")


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("deactivated_at", "account         deactivated 2026-01-02 03:04 UTC, created "),
        ("closed_at", "account         closed by its user 2026-01-02 03:04 UTC, created "),
        ("disowned_at", "address         taken back by the organization of its domain: no link is mailed to it"),
    ],
)
def test_a_record_says_why_an_account_cannot_be_used(
    commands_here: CommandsHere, builder: Builder, column: LiteralString, text: str
) -> None:
    builder.user(is_platform_owner=True, password_hash=None)
    builder.connection.execute(f"UPDATE users SET {column} = '2026-01-02 03:04+00'")

    shown = commands_here.run("users", "show", EMAIL).stdout

    assert f"  {text}" in shown
    assert "  platform        owner\n" in shown
    assert "  signs in by     no password" in shown


def test_the_outbox_is_listed_by_states_without_contents(
    commands_here: CommandsHere, builder: Builder, transact: Transact, clock: SettableClock
) -> None:
    failed = queue(transact, builder, "failed", error="550 no such user")
    queued = queue(transact, builder, "queued", due_at=clock() + timedelta(hours=2))
    sent = queue(transact, builder, "sent")

    listed = commands_here.run("mail", "list", SMTP_URL=SMTP_URL)
    of_sent = commands_here.run("mail", "list", "--state", "sent", SMTP_URL=SMTP_URL)
    cut = commands_here.run("mail", "list", "--limit", "1", "--to", EMAIL)
    of_other = commands_here.run("mail", "list", "--to", STRANGER)

    assert listed.returncode == of_sent.returncode == of_other.returncode == 0
    lines = listed.stdout.splitlines()
    assert [line for line in lines if not line.startswith("  ")][:-2] == [
        "failed: 1 (given up)",
        "queued: 1 (waiting for the platform's mail server)",
        "routed: 0 (waiting for the mail servers of organizations)",
        "kept: 0 (kept, because no mail server was set)",
    ]
    assert lines[1].startswith(f"  {failed}  ")
    assert lines[1].endswith(f"  failed  new_sign_in, attempts: 6, 550 no such user, to {EMAIL}")
    assert re.search(rf"{queued}  .*  queued  new_sign_in, attempts: 6, due .* UTC, to {EMAIL}", listed.stdout)
    assert lines[-1].startswith("Next: `gatehouse doctor --mail-to ADDRESS` tests the mail server.")
    assert f"  {sent}  " in of_sent.stdout
    assert of_sent.stdout.endswith("Next: nothing. No mail waits.\n")
    assert "Set GATEHOUSE_SMTP_URL" in cut.stdout.splitlines()[-1]
    assert "failed: 0" in of_other.stdout
    assert not shows(listed.stdout + of_sent.stdout, "secret")


def test_more_mails_than_are_listed_are_counted(
    commands_here: CommandsHere, builder: Builder, transact: Transact
) -> None:
    for _ in range(3):
        queue(transact, builder, "failed")

    listed = commands_here.run("mail", "list", "--state", "failed", "--limit", "2").stdout.splitlines()

    assert listed[0] == "failed: 3 (given up)"
    assert listed[3] == "  The newest 2 are listed; --limit lists more."


def test_mails_are_retried_one_by_one_and_what_is_refused_is_named(
    commands_here: CommandsHere, builder: Builder, transact: Transact
) -> None:
    failed, sent = queue(transact, builder, "failed"), queue(transact, builder, "sent")

    both = commands_here.run("mail", "retry", str(failed), str(sent), SMTP_URL=SMTP_URL)
    unknown = commands_here.run("mail", "retry", "01a1f990-f0f7-7112-9326-d92f677e4ddf")
    invalid = commands_here.run("mail", "retry", "all\x1b[2J")

    assert both.returncode == 1
    lines = both.stdout.splitlines()
    assert lines[0].startswith(f"{failed}  ")
    assert lines[1] == f"{sent}  not retried: This mail was sent, or is being sent at this moment."
    assert lines[2:] == [
        "Mails that are due now: 1. Not retried: 1.",
        "Next: a running server sends them within some seconds. `gatehouse mail list` shows what is left.",
    ]
    assert builder.value("SELECT state FROM mails WHERE id = %s", failed) == "queued"
    assert (unknown.returncode, "There is no such mail." in unknown.stdout) == (1, True)
    assert invalid.returncode == 1
    assert invalid.stderr == "gatehouse: all\ufffd[2J is no id of a mail. `gatehouse mail list` shows the ids.\n"
    assert [action for action, _, _ in entries(builder)] == ["mail.retried"]


def test_all_mails_that_have_not_left_are_retried_together(
    commands_here: CommandsHere, builder: Builder, transact: Transact
) -> None:
    queue(transact, builder, "failed")
    queue(transact, builder, "failed", is_old_link=True)
    queue(transact, builder, "kept")

    finished = commands_here.run("mail", "retry", "all")
    nothing = commands_here.run("mail", "retry", "all")

    assert finished.returncode == 0, "a mail that is too old for a retry is no failure"
    assert finished.stdout.splitlines()[-2:] == [
        "Mails that are due now: 1. Not retried: 1.",
        "Next: no mail server is set, so the server will keep them. Set GATEHOUSE_SMTP_URL, and restart it.",
    ]
    assert nothing.stdout.splitlines()[-1] == "Mails that are due now: 0. Not retried: 1."
    assert len(entries(builder)) == 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["users"], "the following arguments are required: ACTION"),
        (["users", "show"], "the following arguments are required: email"),
        (["mail", "retry"], "the following arguments are required: id"),
        (["mail", "list", "--limit", "0"], "it must be a whole number from 1 to 500"),
        (["mail", "list", "--state", "discarded"], "invalid choice: 'discarded'"),
    ],
)
def test_a_wrong_argument_is_named(commands_here: CommandsHere, arguments: list[str], error: str) -> None:
    finished = commands_here.run(*arguments)

    assert finished.returncode == 2
    assert error in finished.stderr

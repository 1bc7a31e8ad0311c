"""What operators do for users by command, without a caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.transaction import Tools
from core.accounts import sign_in_failures
from core.accounts.users import UserUnknown
from core.errors import BadRequest
from core.mail import mail as outbox
from core.mail.mail import MailState, MailTemplate
from core.platform import commands, mails
from core.platform.mails import NOT_SENT, ListedMailState, MailContentGone, MailKept, MailUnknown
from tests.clock import SettableClock
from tests.world.builder import Builder, new_id

Transact = Callable[..., Any]


EMAIL = "ann@example.com"
NETWORK = "203.0.113.0/24"


@pytest.fixture
def tools(tools: Tools) -> Tools:
    """With limits, so that mails are counted."""
    return replace(tools, has_rate_limits=True)


@pytest.fixture
def user_id(connection: Connection, clock: SettableClock) -> UUID:
    """The account of a user."""
    return Builder(connection, clock).user(EMAIL)


def fail(transact: Transact, email: str = EMAIL) -> None:
    """Let a sign-in for an address fail."""
    transact(sign_in_failures.attempt, email, NETWORK)


def send(transact: Transact, connection: Connection, state: str, template: MailTemplate = MailTemplate.TEST) -> UUID:
    """Insert a mail in a state."""
    transact(outbox.send, EMAIL, template, link="https://id.example.com")
    [(mail_id,)] = connection.execute("SELECT id FROM mails ORDER BY id DESC LIMIT 1").fetchall()
    connection.execute("UPDATE mails SET state = %s, attempts = 6 WHERE id = %s", (state, mail_id))
    return mail_id


def entries(connection: Connection) -> list[tuple[Any, ...]]:
    """Return the entries of the platform's audit log."""
    return connection.execute(
        "SELECT action, target_id, actor_user_id, details FROM platform_audit_entries ORDER BY created_at, id"
    ).fetchall()


def test_opening_a_record_is_an_entry_without_an_actor(
    transact: Transact, connection: Connection, user_id: UUID
) -> None:
    record = transact(commands.open_record, " Ann@Example.com")

    assert record.user.email == EMAIL
    assert entries(connection) == [("user.opened", str(user_id), None, {"part": "account"})]


def test_no_record_is_opened_of_an_address_without_an_account(transact: Transact, connection: Connection) -> None:
    with pytest.raises(UserUnknown):
        transact(commands.open_record, EMAIL)

    assert entries(connection) == []


def test_unlocking_lifts_what_is_counted_for_the_address(
    transact: Transact, connection: Connection, user_id: UUID
) -> None:
    fail(transact)
    transact(outbox.send, EMAIL, MailTemplate.RESET_PASSWORD, link="https://id.example.com")

    done = transact(commands.unlock, "Ann@example.com")
    again = transact(commands.unlock, EMAIL)

    assert (done.email, done.has_account) == (EMAIL, True)
    assert (done.lifted.failed_sign_ins, done.lifted.mail_counts) == (1, 1)
    assert (again.lifted.failed_sign_ins, again.lifted.mail_counts) == (0, 0)
    assert [entry[:3] for entry in entries(connection)] == [("user.limits_lifted", str(user_id), None)] * 2


def test_an_address_without_an_account_is_unlocked_if_something_is_counted_for_it(
    transact: Transact, connection: Connection
) -> None:
    fail(transact)

    done = transact(commands.unlock, EMAIL)
    with pytest.raises(UserUnknown, match=r"No account has the address ann@example\.com, and nothing limits it\."):
        transact(commands.unlock, EMAIL)

    assert (done.has_account, done.lifted.failed_sign_ins) == (False, 1)
    assert [entry[0] for entry in entries(connection)] == ["address.limits_lifted"]


def test_mails_alone_are_reason_enough_to_unlock_an_address(transact: Transact) -> None:
    transact(outbox.send, EMAIL, MailTemplate.MAGIC_LINK, link="https://id.example.com")

    assert transact(commands.unlock, EMAIL).lifted.mail_counts == 1


def test_what_is_no_address_is_refused(transact: Transact) -> None:
    for command in (commands.open_record, commands.unlock, commands.end_sessions):
        with pytest.raises(BadRequest):
            transact(command, "ann")


def test_ending_sessions_of_an_unknown_address_is_refused(transact: Transact, user_id: UUID) -> None:
    assert transact(commands.end_sessions, EMAIL) == 0
    with pytest.raises(UserUnknown):
        transact(commands.end_sessions, "eve@example.com")


def test_the_outbox_is_shown_by_states(transact: Transact, connection: Connection) -> None:
    failed, kept = send(transact, connection, "failed"), send(transact, connection, "kept")
    send(transact, connection, "sent")

    found = transact(commands.outbox, NOT_SENT, None, 10)
    of_eve = transact(commands.outbox, NOT_SENT, "eve@example.com", 10)

    assert list(found) == list(NOT_SENT)
    assert {state.value: [mail.id for mail in page.mails] for state, page in found.items() if page.total} == {
        "failed": [failed],
        "kept": [kept],
    }
    assert not any(page.total for page in of_eve.values())
    assert transact(commands.outbox, [ListedMailState.SENT], EMAIL, 10)[ListedMailState.SENT].total == 1


def test_mails_that_have_failed_or_wait_long_are_retriable(
    transact: Transact, connection: Connection, clock: SettableClock
) -> None:
    failed, deferred = send(transact, connection, "failed"), send(transact, connection, "queued")
    connection.execute("UPDATE mails SET due_at = %s WHERE id = %s", (clock() + timedelta(hours=1), deferred))
    for state in ("queued", "sent", "kept"):
        send(transact, connection, state)

    assert {mail.id for mail in transact(commands.retriable)} == {failed, deferred}


def test_mails_beyond_a_page_are_retriable_up_to_a_limit(
    transact: Transact, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = [send(transact, connection, "failed") for _ in range(5)]
    monkeypatch.setattr(commands, "PAGE_MAILS", 2)

    assert [mail.id for mail in transact(commands.retriable)] == sent[::-1]
    monkeypatch.setattr(commands, "RETRIED_MAX", 3)
    assert [mail.id for mail in transact(commands.retriable)] == sent[:1:-1]


def test_a_retried_mail_is_due_at_once(transact: Transact, connection: Connection) -> None:
    failed = send(transact, connection, "failed")

    again = transact(mails.send_again, failed)

    assert (again.state, again.attempts) == (MailState.QUEUED, 0)
    assert [entry[:3] for entry in entries(connection)] == [("mail.retried", str(failed), None)]


def test_a_mail_that_cannot_be_sent_again_is_refused(
    transact: Transact, connection: Connection, clock: SettableClock
) -> None:
    kept = send(transact, connection, "kept")
    old = send(transact, connection, "failed", MailTemplate.MAGIC_LINK)
    clock.advance(timedelta(hours=1))

    with pytest.raises(MailKept):
        transact(mails.send_again, kept)
    with pytest.raises(MailContentGone):
        transact(mails.send_again, old)
    with pytest.raises(MailUnknown):
        transact(mails.send_again, new_id())
    assert entries(connection) == []

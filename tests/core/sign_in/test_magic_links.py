"""Asking for a link to sign in: the same work whoever has the address (pitfall 14), and what asking leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from core.accounts import registration
from core.accounts.return_targets import ReturnRequest
from core.mail import mail
from core.sign_in import magic_links
from tests.statements import recorded_statements

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.postgres.driver.connection import Connection

NOWHERE = ReturnRequest()
ACCOUNTS = ("verified@example.com", "unverified@example.com", "passwordless@example.com", "gone@example.com")
NOBODY = ("nobody@example.com", "no address at all")
MAILS_MAX = 100


@pytest.fixture
def accounts(transact: Callable[..., Any], connection: Connection) -> None:
    """An account of each kind, and nothing in the mail."""
    for email in ACCOUNTS:
        transact(registration.register, email, "hash", NOWHERE)
    connection.execute("UPDATE users SET email_verified_at = created_at WHERE email <> 'unverified@example.com'")
    connection.execute("UPDATE users SET password_hash = NULL WHERE email = 'passwordless@example.com'")
    connection.execute("UPDATE users SET deactivated_at = created_at WHERE email = 'gone@example.com'")
    connection.execute("DELETE FROM mails")
    connection.execute("DELETE FROM one_time_tokens")


@pytest.mark.usefixtures("accounts")
def test_asking_takes_the_same_statements_whoever_has_the_address(transact: Callable[..., Any]) -> None:
    taken: dict[str, list[str]] = {}
    for email in (*ACCOUNTS, *NOBODY):
        with recorded_statements() as statements:
            transact(magic_links.request, email, NOWHERE)
        taken[email] = statements

    assert len(taken["verified@example.com"]) >= 3
    for email, statements in taken.items():
        assert statements == taken["verified@example.com"], email


@pytest.mark.usefixtures("accounts")
def test_only_whoever_may_sign_in_gets_a_letter(transact: Callable[..., Any], connection: Connection) -> None:
    for email in (*ACCOUNTS, *NOBODY):
        transact(magic_links.request, email, NOWHERE)

    messages = [one.message.to for one in transact(mail.claim, MAILS_MAX)]
    assert messages == ["verified@example.com", "unverified@example.com", "passwordless@example.com"]
    stored = connection.execute("SELECT count(*), count(user_id) FROM one_time_tokens").fetchone()
    assert stored == (6, 3)

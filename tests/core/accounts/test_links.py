"""Asking for letters: the same work whoever has the address (pitfall 14), and what asking for nobody leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from core.accounts import password_reset, registration, verification
from core.accounts.return_targets import ReturnRequest
from core.mail import mail
from tests.statements import recorded_statements

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.postgres.driver.connection import Connection

NOWHERE = ReturnRequest()
ADDRESSES = {
    "verified@example.com": "verified and with a password",
    "unverified@example.com": "not verified",
    "passwordless@example.com": "without a password",
    "gone@example.com": "deactivated",
    "nobody@example.com": "unknown",
    "no address at all": "malformed",
}
MAILS_MAX = 100


@pytest.fixture
def accounts(transact: Callable[..., Any], connection: Connection) -> None:
    """An account of each kind, and nothing in the mail."""
    for email in list(ADDRESSES)[:4]:
        transact(registration.register, email, "hash", NOWHERE)
    connection.execute("UPDATE users SET email_verified_at = created_at WHERE email <> 'unverified@example.com'")
    connection.execute("UPDATE users SET password_hash = NULL WHERE email = 'passwordless@example.com'")
    connection.execute("UPDATE users SET deactivated_at = created_at WHERE email = 'gone@example.com'")
    connection.execute("DELETE FROM mails")
    connection.execute("DELETE FROM one_time_tokens")


@pytest.mark.usefixtures("accounts")
@pytest.mark.parametrize("ask", [password_reset.request, verification.resend])
def test_asking_for_a_letter_takes_the_same_statements_whoever_has_the_address(
    transact: Callable[..., Any], ask: Callable[..., None]
) -> None:
    taken: list[list[str]] = []

    for email in ADDRESSES:
        with recorded_statements() as statements:
            transact(ask, email, NOWHERE)
        taken.append(statements)

    assert [statement.split()[0] for statement in taken[0]] == ["SELECT", "SELECT", "INSERT", "INSERT"]
    assert taken == [taken[0]] * len(ADDRESSES)


@pytest.mark.usefixtures("accounts")
def test_a_letter_goes_to_accounts_alone(transact: Callable[..., Any]) -> None:
    for email in ADDRESSES:
        transact(password_reset.request, email, NOWHERE)
        transact(verification.resend, email, NOWHERE)

    messages = [(one.message.to, one.message.template.value) for one in transact(mail.claim, MAILS_MAX)]

    assert sorted(messages) == [
        ("passwordless@example.com", "choose_password"),
        ("unverified@example.com", "reset_password"),
        ("unverified@example.com", "verify_email"),
        ("verified@example.com", "reset_password"),
    ]


@pytest.mark.usefixtures("accounts")
def test_an_address_that_was_asked_for_in_vain_is_stored_nowhere(
    transact: Callable[..., Any], connection: Connection
) -> None:
    for email in ("gone@example.com", "nobody@example.com", "no address at all"):
        transact(password_reset.request, email, NOWHERE)

    assert connection.execute("SELECT DISTINCT recipient, state FROM mails").fetchall() == [("", "discarded")]
    assert connection.execute("SELECT DISTINCT email, user_id FROM one_time_tokens").fetchall() == [("", None)]


@pytest.mark.usefixtures("accounts")
def test_a_discarded_letter_is_forgotten_like_the_others(
    transact: Callable[..., Any], connection: Connection, clock: Any
) -> None:
    transact(password_reset.request, "nobody@example.com", NOWHERE)
    clock.advance(mail.RETENTION * 2)

    assert transact(mail.delete_old, MAILS_MAX) == 1
    assert connection.execute("SELECT count(*) FROM mails").fetchone() == (0,)


@pytest.mark.usefixtures("accounts")
def test_the_token_of_nobody_opens_nothing(transact: Callable[..., Any], connection: Connection) -> None:
    # Nobody was told it; whoever guessed it would still gain nothing.
    transact(password_reset.request, "nobody@example.com", NOWHERE)
    known = "6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11"
    connection.execute("UPDATE one_time_tokens SET token_hash = sha256(%s::bytea)", (known.encode(),))

    with pytest.raises(password_reset.links.LinkUnusable, match="not valid"):
        transact(password_reset.reset, known, "hash")

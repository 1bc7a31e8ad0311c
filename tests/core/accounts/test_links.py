"""Requesting mails: the same work for every address, and what a request for an unknown one stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from core.accounts import email_verification, password_reset, registration
from core.accounts.return_targets import ReturnRequest
from core.mail import mail
from tests.statements import recorded_statements

NO_RETURN = ReturnRequest()
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
    """An account of each kind, and an empty outbox."""
    for email in list(ADDRESSES)[:4]:
        transact(registration.register, email, "hash", NO_RETURN)
    connection.execute("UPDATE users SET email_verified_at = created_at WHERE email <> 'unverified@example.com'")
    connection.execute("UPDATE users SET password_hash = NULL WHERE email = 'passwordless@example.com'")
    connection.execute("UPDATE users SET deactivated_at = created_at WHERE email = 'gone@example.com'")
    connection.execute("DELETE FROM mails")
    connection.execute("DELETE FROM one_time_tokens")


@pytest.mark.usefixtures("accounts")
@pytest.mark.parametrize("request_mail", [password_reset.request, email_verification.resend])
def test_requesting_a_mail_executes_the_same_statements_for_every_address(
    transact: Callable[..., Any], request_mail: Callable[..., None]
) -> None:
    executed: list[list[str]] = []

    for email in ADDRESSES:
        with recorded_statements() as statements:
            transact(request_mail, email, NO_RETURN)
        executed.append(statements)

    # Another link to verify an address looks for the registration that it belongs to.
    reads = 3 if request_mail is email_verification.resend else 2
    # The last one marks that a mail is due.
    assert [statement.split()[0] for statement in executed[0]] == ["SELECT"] * reads + ["INSERT"] * 2 + ["SELECT"]
    assert executed == [executed[0]] * len(ADDRESSES)


@pytest.mark.usefixtures("accounts")
def test_mails_are_sent_only_to_active_accounts(transact: Callable[..., Any]) -> None:
    for email in ADDRESSES:
        transact(password_reset.request, email, NO_RETURN)
        transact(email_verification.resend, email, NO_RETURN)

    messages = [(one.message.to, one.message.template.value) for one in transact(mail.claim, MAILS_MAX)]

    assert sorted(messages) == [
        ("passwordless@example.com", "choose_password"),
        ("unverified@example.com", "reset_password"),
        ("unverified@example.com", "verify_email"),
        ("verified@example.com", "reset_password"),
    ]


@pytest.mark.usefixtures("accounts")
def test_a_requested_address_without_an_active_account_is_not_stored(
    transact: Callable[..., Any], connection: Connection
) -> None:
    for email in ("gone@example.com", "nobody@example.com", "no address at all"):
        transact(password_reset.request, email, NO_RETURN)

    assert connection.execute("SELECT DISTINCT recipient, state FROM mails").fetchall() == [("", "discarded")]
    assert connection.execute("SELECT DISTINCT email, user_id FROM one_time_tokens").fetchall() == [("", None)]


@pytest.mark.usefixtures("accounts")
def test_a_discarded_mail_is_deleted_like_the_others(
    transact: Callable[..., Any], connection: Connection, clock: Any
) -> None:
    transact(password_reset.request, "nobody@example.com", NO_RETURN)
    clock.advance(mail.RETENTION * 2)

    assert transact(mail.delete_old, MAILS_MAX) == 1
    assert connection.execute("SELECT count(*) FROM mails").fetchone() == (0,)


@pytest.mark.usefixtures("accounts")
def test_a_token_without_a_user_is_refused(transact: Callable[..., Any], connection: Connection) -> None:
    # The token was sent to no one; guessing it must gain nothing.
    transact(password_reset.request, "nobody@example.com", NO_RETURN)
    known = "6fd2e1a8-8f3b-4a39-9a0e-2f1d1a7d5c11"
    connection.execute("UPDATE one_time_tokens SET token_hash = sha256(%s::bytea)", (known.encode(),))

    with pytest.raises(password_reset.links.LinkUnusable, match="not valid"):
        transact(password_reset.reset, known, "hash")

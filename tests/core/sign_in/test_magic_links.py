"""Requesting a sign-in link: the same work for every address, and what a request stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from core.accounts import registration
from core.accounts.return_targets import ReturnRequest, recall_browser, requesting
from core.mail import mail
from core.sign_in import magic_links
from tests.shown_text import shows
from tests.statements import recorded_statements

NO_RETURN = ReturnRequest()
ACCOUNTS = ("verified@example.com", "unverified@example.com", "passwordless@example.com", "gone@example.com")
UNKNOWN = ("nobody@example.com", "no address at all")
MAILS_MAX = 100


@pytest.fixture
def accounts(transact: Callable[..., Any], connection: Connection) -> None:
    """An account of each kind, and an empty outbox."""
    for email in ACCOUNTS:
        transact(registration.register, email, "hash", NO_RETURN)
    connection.execute("UPDATE users SET email_verified_at = created_at WHERE email <> 'unverified@example.com'")
    connection.execute("UPDATE users SET password_hash = NULL WHERE email = 'passwordless@example.com'")
    connection.execute("UPDATE users SET deactivated_at = created_at WHERE email = 'gone@example.com'")
    connection.execute("DELETE FROM mails")
    connection.execute("DELETE FROM one_time_tokens")


@pytest.mark.usefixtures("accounts")
def test_a_request_executes_the_same_statements_for_every_address(transact: Callable[..., Any]) -> None:
    executed: dict[str, list[str]] = {}
    for email in (*ACCOUNTS, *UNKNOWN):
        with recorded_statements() as statements:
            transact(magic_links.request, email, NO_RETURN)
        executed[email] = statements

    assert len(executed["verified@example.com"]) >= 3
    for email, statements in executed.items():
        assert statements == executed["verified@example.com"], email


@pytest.mark.usefixtures("accounts")
def test_only_accounts_that_may_sign_in_get_a_mail(transact: Callable[..., Any], connection: Connection) -> None:
    for email in (*ACCOUNTS, *UNKNOWN):
        transact(magic_links.request, email, NO_RETURN)

    messages = [one.message.to for one in transact(mail.claim, MAILS_MAX)]
    assert messages == ["verified@example.com", "unverified@example.com", "passwordless@example.com"]
    stored = connection.execute("SELECT count(*), count(user_id) FROM one_time_tokens").fetchone()
    assert stored == (6, 3)


def test_a_link_is_bound_to_the_browser_that_requested_it() -> None:
    browser = requesting("the value of its cookie", return_to="/app")
    stored = recall_browser(browser.stored())

    assert stored is not None
    assert stored == browser
    assert not shows(str(browser.stored()), "cookie")
    assert stored.is_bound_to("the value of its cookie")
    assert not stored.is_bound_to("another value")
    assert not stored.is_bound_to(None)

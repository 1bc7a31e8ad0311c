"""Open registrations as values, and links whose registration has ended."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.accounts import email_verification, registration
from core.accounts.links import LinkUnusable
from core.accounts.open_registrations import OpenRegistration
from core.accounts.return_targets import ReturnRequest, requesting
from core.mail import mail
from core.sign_in import registration_links

EMAIL = "ada@example.com"
NO_ID = UUID(int=0)
BACK = {"org_slug": "acme", "service_slug": "shop", "redirect_uri": None}


def registered(
    *, ip_address: str | None = None, country: str | None = None, city: str | None = None, **data: Any
) -> OpenRegistration:
    """Return a registration."""
    return OpenRegistration(
        id=NO_ID,
        user_id=NO_ID,
        email=EMAIL,
        password_hash="the hash",
        data=data,
        ip_address=ip_address,
        geo_country=country,
        geo_city=city,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        expires_at=None,
    )


def test_it_names_its_origin_as_far_as_it_is_known() -> None:
    assert registered().origin == ""
    assert registered(ip_address="192.0.2.1").origin == "192.0.2.1"
    assert registered(ip_address="192.0.2.1", country="DE").origin == "192.0.2.1 (DE)"
    assert registered(ip_address="192.0.2.1", country="DE", city="Berlin").origin == "192.0.2.1 (Berlin, DE)"


def test_it_knows_its_browser_and_where_it_leads() -> None:
    browser = requesting("the value of its cookie", return_to="/app")
    kept = registered(**BACK, **browser.stored())

    assert kept.browser is not None
    assert kept.browser.is_bound_to("the value of its cookie")
    assert kept.stored_way == {**BACK, **browser.stored()}
    assert registered().browser is None
    assert registered().stored_way == {}


def test_its_password_is_not_printed() -> None:
    assert "the hash" not in repr(registered())


@pytest.fixture
def token(transact: Callable[..., Any], connection: Connection) -> str:
    """The token of a link whose registration has ended."""
    transact(registration.register, EMAIL, "hash", ReturnRequest())
    connection.execute("DELETE FROM open_registrations")
    [one] = transact(mail.claim, 10)
    return one.message.values["token"]


def test_a_registration_that_has_ended_is_not_confirmed(
    transact: Callable[..., Any], connection: Connection, token: str
) -> None:
    with pytest.raises(LinkUnusable):
        transact(email_verification.confirm, token)

    assert connection.execute("SELECT email_verified_at, used_at FROM users, one_time_tokens").fetchall() == [
        (None, None)
    ]


def test_the_password_of_a_registration_that_has_ended_is_not_compared(
    transact: Callable[..., Any], connection: Connection, token: str
) -> None:
    with pytest.raises(LinkUnusable):
        transact(registration_links.begin, token, "192.0.2.0/24")

    assert connection.execute("SELECT count(*) FROM sign_in_failures").fetchone() == (0,)


def test_disowning_a_registration_that_has_ended_uses_its_link_up(
    transact: Callable[..., Any], connection: Connection, token: str
) -> None:
    transact(email_verification.disown, token)

    assert connection.execute("SELECT used_at IS NOT NULL FROM one_time_tokens").fetchall() == [(True,)]


def test_the_browser_of_a_registration_is_known_at_its_link_as_long_as_it_is_open(
    transact: Callable[..., Any], connection: Connection
) -> None:
    browser = requesting("the value of its cookie", return_to="/app")
    transact(registration.register_evenly, EMAIL, "hash", ReturnRequest(), browser)
    [one] = transact(mail.claim, 10)

    assert transact(email_verification.inspect_unproved, one.message.values["token"]).registering_browser == browser
    connection.execute("DELETE FROM open_registrations")
    assert transact(email_verification.inspect_unproved, one.message.values["token"]).registering_browser is None


def test_an_attempt_that_was_not_compared_does_not_count(transact: Callable[..., Any], connection: Connection) -> None:
    transact(registration.register, EMAIL, "hash", ReturnRequest())
    [one] = transact(mail.claim, 10)
    attempt = transact(registration_links.begin, one.message.values["token"], "192.0.2.0/24")
    assert connection.execute("SELECT count(*) FROM sign_in_failures").fetchone() == (1,)

    transact(registration_links.give_up, attempt)

    assert connection.execute("SELECT count(*) FROM sign_in_failures").fetchone() == (0,)

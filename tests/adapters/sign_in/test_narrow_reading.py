"""What is known of a service and of a browser's session is read in less time, and says what the full statements say."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.sessions.browser_sessions import PostgresBrowserSessions
from adapters.postgres.sign_in.places import PostgresSignInPlaces
from core.sessions.browser_sessions import BrowserSession
from core.sign_in.places import Place
from tests.clock import SettableClock
from tests.statements import recorded_statements
from tests.transactions import transaction_on
from tests.world.builder import Builder

# What happened to a service since it was read as open to everyone, without customers.
CLOSED: Final = (
    "UPDATE services SET access = 'members'",
    "UPDATE services SET access = 'assigned'",
    "UPDATE services SET customers = 'listed'",
    "UPDATE services SET customers = 'any'",
    "DELETE FROM services",
)
PROVED: Final = (
    "UPDATE sessions SET amr = '{pwd,mfa}'",
    "UPDATE sessions SET authenticated_at = authenticated_at + interval '1 minute'",
    "UPDATE sessions SET bounded_until = created_at + interval '1 hour'",
    "UPDATE sessions SET confined_to = (SELECT id FROM organizations), lacks_connection = true",
)
ENDED: Final = (
    "UPDATE sessions SET revoked_at = created_at",
    "UPDATE sessions SET expires_at = created_at",
    "UPDATE sessions SET refreshed_at = refreshed_at - interval '31 days'",
    "UPDATE users SET deactivated_at = created_at",
    "UPDATE users SET locked_at = created_at",
    "DELETE FROM sessions",
)


@pytest.fixture
def user_id(builder: Builder) -> UUID:
    builder.service(builder.organization("acme"))
    return builder.user("ada@acme.example")


def place(connection: Connection, clock: SettableClock, user_id: UUID, *, is_open: bool) -> Place:
    [[slug]] = connection.execute("SELECT coalesce(max(slug), 'gone') FROM services").fetchall()
    places = PostgresSignInPlaces(transaction_on(connection, now=clock()))
    return places.defer(user_id, "acme", slug, holds=True, is_open=is_open)()


def test_the_place_of_an_open_service_is_read_by_one_statement(
    connection: Connection, clock: SettableClock, user_id: UUID
) -> None:
    with connection.transaction():
        full = place(connection, clock, user_id, is_open=False)
        with recorded_statements() as statements:
            narrow = place(connection, clock, user_id, is_open=True)

    assert narrow == full
    assert full.service is not None
    assert len(statements) == 2


@pytest.mark.parametrize("change", CLOSED)
def test_a_service_that_is_closed_meanwhile_is_read_as_it_is_now(
    connection: Connection, clock: SettableClock, user_id: UUID, change: str
) -> None:
    with connection.transaction():
        connection.execute(change.encode())

        assert place(connection, clock, user_id, is_open=True) == place(connection, clock, user_id, is_open=False)


@pytest.fixture
def browser(connection: Connection, clock: SettableClock, user_id: UUID) -> BrowserSession:
    now = clock()
    with connection.transaction():
        connection.execute(
            """
            INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                                  created_at)
            VALUES (gen_random_uuid(), %s, 'password', '{pwd}', %s, 'hash', %s, %s, %s)
            """,
            (user_id, now, now, now + timedelta(hours=12), now),
        )
        connection.execute(
            """
            INSERT INTO browser_sessions (session_id, secret_hash, stays_signed_in)
            SELECT id, 'a', false
            FROM   sessions
            """
        )
        found = PostgresBrowserSessions(transaction_on(connection, now=now)).by_secret_hash(b"a")
    assert found is not None
    return found


@pytest.mark.parametrize("change", PROVED)
def test_what_a_session_has_proved_meanwhile_is_read_again(
    connection: Connection, clock: SettableClock, browser: BrowserSession, change: str
) -> None:
    with connection.transaction():
        connection.execute(change.encode())
        sessions = PostgresBrowserSessions(transaction_on(connection, now=clock()))
        found = sessions.defer_lock_known(browser)()

        assert found == sessions.lock(browser.session_id)
    assert found != browser


@pytest.mark.parametrize("change", ENDED)
def test_a_session_that_has_ended_meanwhile_is_not_found(
    connection: Connection, clock: SettableClock, browser: BrowserSession, change: str
) -> None:
    with connection.transaction():
        connection.execute(change.encode())
        sessions = PostgresBrowserSessions(transaction_on(connection, now=clock()))

        assert sessions.defer_lock_known(browser)() is None
        assert sessions.lock(browser.session_id) is None

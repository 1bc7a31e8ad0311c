"""The faster statements about a service and a browser's session say what the full statements say."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

import psycopg
import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.openid.clients import PostgresClients
from adapters.postgres.services.services import PostgresServices
from adapters.postgres.sessions.browser_sessions import PostgresBrowserSessions
from adapters.postgres.sign_in.places import PostgresSignInPlaces
from core.sessions.browser_sessions import BrowserSession
from core.sign_in.places import Place
from tests.clock import SettableClock
from tests.postgres import connected
from tests.statements import recorded_statements
from tests.transactions import transaction_on
from tests.world.builder import Builder

# What makes a service one that is not open to everyone, or has customers.
CLOSED: Final = (
    "UPDATE services SET access = 'members'",
    "UPDATE services SET access = 'assigned'",
    "UPDATE services SET customers = 'listed'",
    "UPDATE services SET customers = 'any'",
)
# What the user is to the organization, and to its only service.
_JOINS: Final = "INSERT INTO memberships (id, organization_id, user_id, role, created_at"
_COMES: Final = "INSERT INTO service_users (service_id, organization_id, user_id, first_login_at, origin"
IS_MEMBER: Final = (
    f"{_JOINS}, confirmed_at)"
    " SELECT gen_random_uuid(), o.id, u.id, 'member', o.created_at, o.created_at FROM organizations o, users u"
)
COMES: Final = (
    f"{_COMES}, last_login_at)"
    " SELECT s.id, s.organization_id, u.id, s.created_at, 'self', s.created_at FROM services s, users u"
)
USERS: Final = (
    "SELECT",
    f"{_JOINS}) SELECT gen_random_uuid(), o.id, u.id, 'member', o.created_at FROM organizations o, users u",
    IS_MEMBER,
    f"{_JOINS}, confirmed_at, suspended_at)"
    " SELECT gen_random_uuid(), o.id, u.id, 'member', o.created_at, o.created_at, o.created_at"
    " FROM organizations o, users u",
    f"{_COMES}) SELECT s.id, s.organization_id, u.id, s.created_at, 'key' FROM services s, users u",
    COMES,
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


def places(connection: Connection, clock: SettableClock) -> PostgresSignInPlaces:
    return PostgresSignInPlaces(transaction_on(connection, now=clock()))


def service(connection: Connection) -> tuple[str, UUID]:
    [[slug, client_id]] = connection.execute("SELECT slug, client_id FROM services").fetchall()
    return slug, client_id


@pytest.mark.parametrize("user", USERS)
def test_the_place_of_an_open_service_is_read_by_its_client_id_in_one_statement(
    connection: Connection, clock: SettableClock, user_id: UUID, user: str
) -> None:
    slug, client_id = service(connection)
    with connection.transaction():
        connection.execute(user.encode())
        full = places(connection, clock).defer(user_id, "acme", slug, holds=True)()
        with recorded_statements() as statements:
            narrow = places(connection, clock).defer_of_client(user_id, client_id)()

    assert narrow == full
    assert full.service is not None
    assert len(statements) == 1


@pytest.mark.parametrize("user", USERS)
def test_a_place_says_whether_the_user_knows_its_organization(
    connection: Connection, clock: SettableClock, user_id: UUID, user: str
) -> None:
    _, client_id = service(connection)
    with connection.transaction():
        connection.execute(user.encode())
        place = places(connection, clock).defer_of_client(user_id, client_id)()
        clients = PostgresClients(transaction_on(connection, now=clock()))

        assert place.organization_id is not None
        assert clients.is_organization_known_to(place.organization_id, user_id) == place.is_known


@pytest.mark.parametrize("change", CLOSED)
def test_a_service_that_is_not_open_is_read_as_it_is(
    connection: Connection, clock: SettableClock, user_id: UUID, change: str
) -> None:
    slug, client_id = service(connection)
    with connection.transaction():
        connection.execute(change.encode())
        by_slug = places(connection, clock).defer(user_id, "acme", slug, holds=True)()

        assert places(connection, clock).defer_of_client(user_id, client_id)() == by_slug


@pytest.mark.parametrize("is_member", [False, True])
@pytest.mark.parametrize("origin", ["key", "self", "membership"])
def test_a_later_visit_leaves_what_the_first_one_would(
    connection: Connection, clock: SettableClock, user_id: UUID, *, origin: str, is_member: bool
) -> None:
    found = service(connection)
    with connection.transaction():
        connection.execute(COMES.encode())
        connection.execute("UPDATE service_users SET origin = %s", (origin,))
        if is_member:
            connection.execute(IS_MEMBER.encode())
        there = places(connection, clock).defer_of_client(user_id, found[1])().service
        assert there is not None
        left: list[list[tuple[object, ...]]] = []
        for name in ("link_user", "note_visit"):
            connection.execute("SAVEPOINT visit")
            services = PostgresServices(transaction_on(connection, now=clock()))
            getattr(services, name)(there, user_id, at=clock() + timedelta(days=1))
            left.append(connection.execute("SELECT * FROM service_users").fetchall())
            connection.execute("ROLLBACK TO SAVEPOINT visit")

    assert left[0] == left[1]
    assert len(left[0]) == 1


def test_the_link_of_a_user_who_comes_again_stays_while_they_sign_in(
    connection: Connection, database_url: str, clock: SettableClock, user_id: UUID
) -> None:
    _, client_id = service(connection)
    connection.execute(COMES.encode())
    with connected(database_url) as other, other.transaction():
        assert not places(other, clock).defer_of_client(user_id, client_id)().is_first_visit
        connection.execute("SET lock_timeout = '50ms'")

        with pytest.raises(psycopg.errors.LockNotAvailable):
            connection.execute("DELETE FROM service_users")


def test_an_unknown_client_has_no_place(connection: Connection, clock: SettableClock, user_id: UUID) -> None:
    with connection.transaction():
        assert places(connection, clock).defer_of_client(user_id, user_id)() == Place()


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

"""Sessions in PostgreSQL: which are alive, which are revoked, and the cost of finding a caller among a million."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from adapters.crypto.randomness import SystemRandomness
from adapters.postgres.accounts.names import OF_SESSION_WITH_NAMES
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.sessions import callers as sql
from core.sessions.sessions import ABSOLUTE_LIFETIME, IDLE_LIFETIME, Session
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.plans import EXPLAIN, nodes_of

Transact = Callable[..., Any]


SECOND = timedelta(seconds=1)
A_MILLION_SESSIONS = Path(__file__).with_name("a_million_sessions.sql")
# A few for each of the seventeen tables, some of which are searched twice for a session of a service or with two
# groups; and 21 assignments of the service.
PAGES_MAX = 72
# With the customer, its organization and the vendor's, the membership there, 21 assignments and two groups.
PAGES_OF_CUSTOMER_MAX = 80
# Of an account's own session: four of the tables, each by a key.
PAGES_OF_OWN_MAX = 24
FOUND_BY = {
    "customer_assignments": {"customer_assignments_pkey"},
    "customer_users": {"customer_users_pkey", "customer_users_of_member"},
    # Either of them has both columns of the condition, as with memberships.
    "directory_group_members": {"directory_group_members_by_user", "directory_group_members_of_user"},
    "directory_groups": {"directory_groups_organization_id_id_key", "directory_groups_pkey"},
    "domain_routes": {"domain_routes_verified"},
    # Either of them has both columns of the condition.
    "memberships": {"memberships_organization_id_user_id_key", "memberships_of_user"},
    "organization_roles": {"organization_roles_pkey"},
    "organizations": {"organizations_pkey"},
    "plans": {"plans_one_default", "plans_pkey", "plans_service_id_id_key"},
    "service_assignments": {"service_assignments_pkey"},
    "service_users": {"service_users_pkey", "service_users_of_user"},
    "service_customers": {
        "service_customers_pkey",
        "service_customers_active",
        "service_customers_id_organization_id_key",
    },
    "services": {"services_pkey"},
    "sessions": {"sessions_pkey"},
    "subscriptions": {"subscriptions_of_user"},
    "upstream_connections": {"upstream_connections_pkey", "upstream_connections_organization_id_id_key"},
    "users": {"users_pkey"},
}
# What a refresh and a profile read beyond that.
READ_BESIDE = {
    "refresh": {"client_grants": {"client_grants_pkey"}},
    "profile": {
        "one_time_tokens": {"one_time_tokens_of_user"},
        "scim_profiles": {"scim_profiles_pkey", "scim_profiles_of_user"},
        # There are none, so that nothing is saved by an index.
        "identities": {None, "identities_of_user"},
    },
}
FREE_TIER = UUID("00000000-0000-7000-8000-000000000001")
new_id = SystemRandomness().new_id


@pytest.fixture
def ada(connection: Connection, clock: SettableClock) -> UUID:
    """The id of an account."""
    return account(connection, "ada@example.com", clock.now)


def account(connection: Connection, email: str, at: datetime, *, is_platform_owner: bool = False) -> UUID:
    user_id = new_id()
    connection.execute(
        "INSERT INTO users (id, email, is_platform_owner, created_at, updated_at) VALUES (%s, %s, %s, %s, %s)",
        (user_id, email, is_platform_owner, at, at),
    )
    return user_id


def session_of(user_id: UUID, at: datetime) -> Session:
    return Session(
        id=new_id(),
        user_id=user_id,
        organization_id=None,
        service_id=None,
        device_id=None,
        provider="password",
        amr=["pwd"],
        authenticated_at=at,
        refreshed_at=at,
        expires_at=at + ABSOLUTE_LIFETIME,
        ip_address="192.0.2.1",
        user_agent="curl/8.5.0",
        impersonator_id=None,
        created_at=at,
    )


def begin(transact: Transact, session: Session) -> UUID:
    transact(lambda uow: uow.sessions.add(session, refresh_hash=b"hash"))
    return session.id


def exchange(transact: Transact, session_id: UUID, *, old_hash: bytes = b"hash", new_hash: bytes = b"hash") -> bool:
    return transact(
        lambda uow: uow.sessions.exchange(session_id, old_hash=old_hash, new_hash=new_hash, remembered_max=3)
    )


def is_alive(transact: Transact, session_id: UUID) -> bool:
    def find(uow: UnitOfWork) -> bool:
        outcomes = {
            uow.callers.of_session(session_id) is not None,
            uow.sessions.find_refreshable(session_id) is not None,
        }
        [outcome] = outcomes
        return outcome

    return transact(find)


def test_a_session_is_listed_as_it_was_stored(transact: Transact, ada: UUID, clock: SettableClock) -> None:
    session = session_of(ada, clock.now)

    begin(transact, session)

    assert transact(lambda uow: uow.sessions.alive_of(ada)) == [session]


def test_a_session_is_alive_until_its_idle_lifetime_is_over(
    transact: Transact, ada: UUID, clock: SettableClock
) -> None:
    session_id = begin(transact, session_of(ada, clock.now))

    clock.advance(IDLE_LIFETIME - SECOND)
    assert is_alive(transact, session_id)

    clock.advance(SECOND)
    assert not is_alive(transact, session_id)
    assert transact(lambda uow: uow.sessions.alive_of(ada)) == []


def test_a_session_is_alive_until_its_absolute_end(transact: Transact, ada: UUID, clock: SettableClock) -> None:
    session = replace(session_of(ada, clock.now), expires_at=clock.now + SECOND)
    session_id = begin(transact, session)
    assert is_alive(transact, session_id)

    clock.advance(SECOND)

    assert not is_alive(transact, session_id)
    assert transact(lambda uow: uow.sessions.alive_of(ada)) == []


def test_an_exchange_restarts_the_idle_lifetime(transact: Transact, ada: UUID, clock: SettableClock) -> None:
    session_id = begin(transact, session_of(ada, clock.now))
    clock.advance(IDLE_LIFETIME - SECOND)

    exchange(transact, session_id)

    clock.advance(IDLE_LIFETIME - SECOND)
    assert is_alive(transact, session_id)


def test_the_last_exchanges_are_stored_newest_first(transact: Transact, ada: UUID, clock: SettableClock) -> None:
    session_id = begin(transact, session_of(ada, clock.now))
    moments = [clock.now + number * SECOND for number in range(1, 6)]
    for moment in moments:
        clock.now = moment
        assert exchange(transact, session_id)

    found = transact(lambda uow: uow.sessions.find_refreshable(session_id))

    assert (found.refresh_hash, found.exchanged_at) == (b"hash", moments[:1:-1])


def test_an_exchange_requires_the_current_token_and_a_live_session(
    transact: Transact, ada: UUID, clock: SettableClock
) -> None:
    session_id = begin(transact, session_of(ada, clock.now))

    assert not exchange(transact, session_id, old_hash=b"another", new_hash=b"next")
    assert exchange(transact, session_id, new_hash=b"next")
    assert not exchange(transact, session_id)

    transact(lambda uow: uow.sessions.revoke(session_id, user_id=ada))
    assert not exchange(transact, session_id, old_hash=b"next")


class TestRevoke:
    """A revocation returns the organization of each revoked session."""

    @pytest.fixture
    def organization_id(self, connection: Connection, clock: SettableClock) -> UUID:
        """An organization."""
        organization_id = new_id()
        connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            VALUES (%s, 'acme', 'Acme', 'active', %s, %s, %s)
            """,
            (organization_id, FREE_TIER, clock.now, clock.now),
        )
        return organization_id

    def test_one_session_is_revoked(
        self, transact: Transact, ada: UUID, clock: SettableClock, organization_id: UUID
    ) -> None:
        session_id = begin(transact, replace(session_of(ada, clock.now), organization_id=organization_id))

        assert transact(lambda uow: uow.sessions.revoke(session_id, user_id=ada)) == [organization_id]

        assert not is_alive(transact, session_id)
        assert transact(lambda uow: uow.sessions.revoke(session_id, user_id=ada)) == []

    def test_a_session_of_another_user_is_not_revoked(
        self, transact: Transact, ada: UUID, clock: SettableClock, connection: Connection
    ) -> None:
        session_id = begin(transact, session_of(ada, clock.now))
        bob = account(connection, "bob@example.com", clock.now)

        assert transact(lambda uow: uow.sessions.revoke(session_id, user_id=bob)) == []

        assert is_alive(transact, session_id)

    def test_all_sessions_but_one_are_revoked(
        self, transact: Transact, ada: UUID, clock: SettableClock, organization_id: UUID
    ) -> None:
        kept, *others = [begin(transact, session_of(ada, clock.now)) for _ in range(3)]
        begin(transact, replace(session_of(ada, clock.now), organization_id=organization_id))

        ended = transact(lambda uow: uow.sessions.revoke_all(ada, except_session_id=kept))

        assert sorted(ended, key=str) == sorted([None, None, organization_id], key=str)
        assert [is_alive(transact, session_id) for session_id in (kept, *others)] == [True, False, False]

    def test_the_sessions_of_a_device_are_revoked(
        self, transact: Transact, ada: UUID, clock: SettableClock, connection: Connection
    ) -> None:
        device_id = new_id()
        connection.execute(
            """
            INSERT INTO devices (id, user_id, name, device_type, last_used_at, created_at, updated_at)
            VALUES (%s, %s, 'Laptop', 'browser', %s, %s, %s)
            """,
            (device_id, ada, clock.now, clock.now, clock.now),
        )
        on_it = begin(transact, replace(session_of(ada, clock.now), device_id=device_id))
        elsewhere = begin(transact, session_of(ada, clock.now))

        assert transact(lambda uow: uow.sessions.revoke_of_device(device_id, user_id=ada)) == [None]

        assert [is_alive(transact, session_id) for session_id in (on_it, elsewhere)] == [False, True]

    def test_an_ended_session_is_not_revoked(self, transact: Transact, ada: UUID, clock: SettableClock) -> None:
        session_id = begin(transact, session_of(ada, clock.now))
        clock.advance(IDLE_LIFETIME)

        assert transact(lambda uow: uow.sessions.revoke(session_id, user_id=ada)) == []
        assert transact(lambda uow: uow.sessions.revoke_all(ada)) == []


@pytest.mark.plans
@pytest.mark.long
def test_among_a_million_sessions_a_caller_is_found_by_keys_in_a_few_pages(raw_connection: RawConnection) -> None:
    raw_connection.execute(A_MILLION_SESSIONS.read_bytes())
    for name, query in {
        "caller": sql.OF_SESSION,
        "refresh": sql.REFRESHABLE,
        "profile": OF_SESSION_WITH_NAMES,
    }.items():
        raw_connection.execute(f"PREPARE {name} (uuid, timestamptz, timestamptz) AS {numbered(query)}".encode())
        found_by = FOUND_BY | READ_BESIDE.get(name, {})
        # The seventh session of a user, which a platform owner began by impersonation, and the next, for a customer.
        for number, pages_max in {"500007": PAGES_MAX, "500008": PAGES_OF_CUSTOMER_MAX}.items():
            execution = f"EXECUTE {name} ('05000000-0000-7000-8000-000000{number}', now(), now() - interval '30 days')"
            for mode in ("force_generic_plan", "force_custom_plan"):
                raw_connection.execute(f"SET plan_cache_mode = {mode}".encode())

                nodes = list(nodes_of(explained(raw_connection, execution)))
                scans = [node for node in nodes if "Relation Name" in node]

                assert nodes[0]["Actual Rows"] == 1
                read = {node["Relation Name"] for node in scans if node["Actual Loops"]}
                assert read <= set(found_by) <= {node["Relation Name"] for node in scans}
                for node in scans:
                    if node["Actual Loops"]:
                        assert node.get("Index Name") in found_by[node["Relation Name"]]
                assert nodes[0]["Shared Hit Blocks"] + nodes[0]["Shared Read Blocks"] <= pages_max, (name, number, mode)


@pytest.mark.plans
@pytest.mark.long
def test_among_a_million_sessions_an_own_one_is_found_in_fewer_pages(raw_connection: RawConnection) -> None:
    raw_connection.execute(A_MILLION_SESSIONS.read_bytes())
    own = "UPDATE sessions SET service_id = NULL WHERE id = '05000000-0000-7000-8000-000000500006'"
    assert raw_connection.execute(own).rowcount == 1
    for name, query in {"own_caller": sql.OF_OWN_SESSION, "own_refresh": sql.OWN_REFRESHABLE}.items():
        raw_connection.execute(f"PREPARE {name} (uuid, timestamptz, timestamptz) AS {numbered(query)}".encode())
        execution = f"EXECUTE {name} ('05000000-0000-7000-8000-000000500006', now(), now() - interval '30 days')"
        for mode in ("force_generic_plan", "force_custom_plan"):
            raw_connection.execute(f"SET plan_cache_mode = {mode}".encode())

            nodes = list(nodes_of(explained(raw_connection, execution)))

            assert nodes[0]["Actual Rows"] == 1
            found_by = FOUND_BY | READ_BESIDE["refresh"]
            for node in nodes:
                if "Relation Name" in node and node["Actual Loops"]:
                    assert node.get("Index Name") in found_by[node["Relation Name"]]
            pages = nodes[0]["Shared Hit Blocks"] + nodes[0]["Shared Read Blocks"]
            assert 0 < pages <= PAGES_OF_OWN_MAX, (name, mode, pages)


def numbered(query: str) -> str:
    """Return a query with numbered placeholders, as PREPARE requires."""
    return query % {
        "session_id": "$1",
        "now": "$2",
        "used_since": "$3",
        "failing_after": "$2 - interval '7 days'",
        "purpose": "'change_email'",
    }


def explained(connection: RawConnection, statement: str) -> dict[str, Any]:
    """Execute a statement and return its plan."""
    [[[found]]] = connection.execute(EXPLAIN + statement.encode())
    return found["Plan"]

"""Each statement that reads callers finds the sessions of its kind alone, and says of them what the full one says."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adapters.postgres.accounts.names import PostgresPersonNames
from adapters.postgres.driver.connection import Connection
from adapters.postgres.openid.token_grants import PostgresAuthorizationCodes
from adapters.postgres.organizations.access import PostgresAccess
from adapters.postgres.session_kinds import SessionKind, SessionKinds
from adapters.postgres.sessions.callers import OF_OWN_SESSION, PostgresCallers, live_at
from adapters.postgres.sessions.sessions import PostgresSessions
from adapters.postgres.transaction import Tools
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.errors import Refusal
from core.openid.token_grants import AuthorizationCode
from core.secrets import hash_token
from core.sessions import refresh
from core.sessions.origins import BACKGROUND
from core.sessions.sessions import ABSOLUTE_LIFETIME
from tests.clock import SettableClock
from tests.transactions import transaction_on
from tests.world.builder import Builder

DRAWS: Final = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150)
CODE_HASH: Final = b"code"
PLAIN: Final = "the account's own"
DELETED: Final = (
    "UPDATE organizations SET status = 'deleting', deletes_at = created_at, status_before_deletion = 'active'"
)
SUSPENDED: Final = "UPDATE organizations SET status = 'suspended', deletes_at = NULL, status_before_deletion = NULL"
# What is written of a session, its user and its organizations, by what is drawn.
KINDS: Final = {
    PLAIN: "SELECT",
    "of a service": "UPDATE sessions SET organization_id = %(acme)s, service_id = %(service)s",
    "for a customer": """
        UPDATE sessions SET organization_id = %(acme)s, service_id = %(service)s, customer_id = %(customer)s
    """,
    "confined": "UPDATE sessions SET confined_to = %(acme)s, connection_id = %(connection)s",
    "confined elsewhere": "UPDATE sessions SET confined_to = %(globex)s, lacks_connection = true",
    "unproved": """
        UPDATE sessions SET confined_to = %(acme)s, connection_id = %(connection)s, confined_to_role = 'member'
    """,
    "impersonated": "UPDATE sessions SET impersonator_id = %(owner)s",
    "impersonated by nobody": "UPDATE sessions SET impersonator_id = %(stranger)s",
}
PLACES: Final = {
    "nowhere": "SELECT",
    "in its organization": "UPDATE sessions SET organization_id = %(acme)s WHERE service_id IS NULL",
    "in another": "UPDATE sessions SET organization_id = %(globex)s WHERE service_id IS NULL",
}
# What a service has of its own, one thing at a time; for a user who is no member, the rules are read.
EXTRAS: Final = (
    "UPDATE services SET access = 'members'",
    "UPDATE services SET access = 'assigned'",
    "UPDATE services SET individuals = 'others'",
    "UPDATE services SET individuals = 'none'",
    """
    UPDATE services
    SET    roles = '[{"name": "editor", "title": "Editor"}]', role_ids = jsonb_build_object('editor', %(user)s::text)
    """,
    "UPDATE services SET group_claims = '{all}'",
    """UPDATE services SET scopes = '[{"name": "read:things"}]'""",
    """UPDATE services SET claims = '[{"claim": "team", "from": "organization.name", "in_access_token": true}]'""",
)
CHANGES: Final = (
    *EXTRAS,
    "UPDATE sessions SET revoked_at = created_at",
    "UPDATE sessions SET expires_at = created_at",
    "UPDATE sessions SET refreshed_at = refreshed_at - interval '31 days'",
    "UPDATE users SET email_verified_at = email_verified_at + interval '1 day'",
    "UPDATE users SET email_verified_at = NULL",
    "UPDATE users SET changed_by_service_at = created_at WHERE id = %(user)s",
    "UPDATE users SET disowned_at = created_at",
    "UPDATE users SET deactivated_at = created_at",
    "UPDATE users SET locked_at = created_at WHERE id = %(user)s",
    "UPDATE users SET is_platform_support = true, mfa_enabled_at = created_at",
    "UPDATE memberships SET suspended_at = created_at WHERE user_id = %(user)s",
    "UPDATE memberships SET confirmed_at = NULL WHERE user_id = %(user)s",
    "DELETE FROM memberships WHERE user_id = %(user)s",
    "UPDATE memberships SET role = 'technician' WHERE user_id = %(user)s",
    SUSPENDED,
    DELETED,
    "UPDATE organizations SET mfa_required = true",
    "UPDATE organizations SET mfa_required = true, mfa_methods = 'phishing_resistant'",
    "INSERT INTO client_grants (session_id, scopes) SELECT id, '{openid}' FROM sessions ON CONFLICT DO NOTHING",
    """
    INSERT INTO client_grants (session_id, scopes, host)
    SELECT id, '{}', 'id.acme.example' FROM sessions
    ON     CONFLICT DO NOTHING
    """,
)


@dataclass(frozen=True)
class Scope:
    """What the sessions of all draws have in common; each is written and read in a transaction that is rolled back."""

    connection: Connection
    clock: SettableClock
    tools: Tools
    ids: dict[str, UUID]

    @contextmanager
    def session(self, *changes: str) -> Generator[tuple[UUID, str]]:
        """Yield the id and the refresh token of a session with these changes."""
        with self._rolled_back():
            session_id, now = self.tools.randomness.new_id(), self.clock()
            token = refresh.first_token(self._unit_of_work(), session_id).reveal()
            self.connection.execute(
                """
                INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at,
                                      expires_at, created_at)
                VALUES (%s, %s, 'password', '{pwd}', %s, %s, %s, %s, %s)
                """,
                (session_id, self.ids["user"], now, hash_token(token), now, now + ABSOLUTE_LIFETIME, now),
            )
            self._codes().add(CODE_HASH, self._code(session_id))
            for text in changes:
                self.connection.execute(text.encode(), self.ids)
            yield session_id, token

    def compare(self, kind: str, place: str, *changes: str) -> None:
        """Assert that both statements say the same of a session, and that the lean one finds only an own one."""
        described = (kind, place, changes)
        with self.connection.transaction(), self.session(KINDS[kind], PLACES[place], *changes) as (session_id, token):
            by_full = self.read(session_id, SessionKind.WHOLE)

            assert self.read(session_id, SessionKind.LIMITED) == by_full, described
            assert self.read(session_id, SessionKind.OWN) == by_full, described
            assert self.is_found_by_lean(session_id) == (kind == PLAIN and by_full[0] is not None), described
            refreshable = by_full[-1]
            by_code = replace(refreshable, client_grant=None) if refreshable is not None else None
            assert self._codes().defer_session(CODE_HASH)() == by_code, described
            refreshed = self.refreshed(session_id, token, SessionKind.WHOLE)
            assert self.refreshed(session_id, token, SessionKind.LIMITED) == refreshed, described
            assert self.refreshed(session_id, token, SessionKind.OWN) == refreshed, described

    def read(self, session_id: UUID, kind: SessionKind) -> tuple[Any, ...]:
        """Return all that is read of a session, by the statements for a kind first."""
        transaction = transaction_on(self.connection, now=self.clock())
        if kind is not SessionKind.OWN:
            transaction.session_kinds.add(session_id, kind)
        callers, access = PostgresCallers(transaction), PostgresAccess(transaction)
        return (
            callers.of_session(session_id),
            callers.subject(session_id),
            callers.defer_subject(session_id)(),
            PostgresPersonNames(transaction).of_session(session_id),
            access.context(session_id, "acme"),
            access.context(session_id, "unknown"),
            callers.defer_lock_parent(session_id, self.ids["user"])(),
            PostgresSessions(transaction).find_refreshable(session_id),
        )

    def is_found_by_lean(self, session_id: UUID) -> bool:
        """Return whether the lean statement finds a session."""
        return bool(
            self.connection.execute(OF_OWN_SESSION, {"session_id": session_id, **live_at(self.clock())}).rowcount
        )

    def refreshed(self, session_id: UUID, token: str, kind: SessionKind) -> tuple[Any, Sequence[Any]]:
        """Return what a refresh answers, and what it leaves of the session."""
        known = SessionKinds()
        if kind is not SessionKind.OWN:
            known.add(session_id, kind)
        with self._rolled_back():
            try:
                answer = refresh.refresh(self._unit_of_work(known), token)
            except Refusal as refused:
                return (type(refused), refused.message), ()
            columns = b"SELECT refresh_hash, refreshed_at, exchanged_at, organization_id FROM sessions"
            return answer, self.connection.execute(columns).fetchall()

    def _codes(self) -> PostgresAuthorizationCodes:
        return PostgresAuthorizationCodes(transaction_on(self.connection, now=self.clock()))

    def _code(self, session_id: UUID) -> AuthorizationCode:
        return AuthorizationCode(
            organization_id=self.ids["acme"],
            service_id=self.ids["service"],
            session_id=session_id,
            redirect_uri="https://shop.example/callback",
            scopes=[],
            audience=None,
            nonce=None,
            code_challenge=None,
            key_thumbprint=None,
            expires_at=self.clock(),
        )

    @contextmanager
    def _rolled_back(self) -> Generator[None]:
        self.connection.execute(b"SAVEPOINT drawn")
        try:
            yield
        finally:
            self.connection.execute(b"ROLLBACK TO SAVEPOINT drawn")
            self.connection.execute(b"RELEASE SAVEPOINT drawn")

    def _unit_of_work(self, known: SessionKinds | None = None) -> PostgresUnitOfWork:
        tools = replace(self.tools, session_kinds=known or SessionKinds())
        return PostgresUnitOfWork(self.connection, BACKGROUND, tools)


@pytest.fixture
def scope(builder: Builder, connection: Connection, clock: SettableClock, tools: Tools) -> Scope:
    acme, globex = builder.organization("acme"), builder.organization("globex")
    user, owner = builder.user("ada@acme.example"), builder.user("owner@example.com", is_platform_owner=True)
    builder.custom_role(acme, "technician", "org.members.view")
    builder.member(acme, user)
    builder.member(globex, user, "admin")
    service = builder.service(acme)
    customer = builder.customer(service, globex)
    connection.execute(b"UPDATE services SET individuals = 'all'")
    builder.mail_domain(acme, "acme.example")
    [[connection_id]] = connection.execute(b"SELECT id FROM upstream_connections").fetchall()
    stranger = builder.user("stranger@example.com")
    ids = {"acme": acme, "globex": globex, "user": user, "owner": owner, "service": service.id, "customer": customer}
    return Scope(connection, clock, tools, ids | {"connection": connection_id, "stranger": stranger})


@DRAWS
@given(
    kind=st.sampled_from(list(KINDS)),
    place=st.sampled_from(list(PLACES)),
    changes=st.lists(st.sampled_from(CHANGES), max_size=3, unique=True),
)
@example(kind=PLAIN, place="nowhere", changes=[DELETED, SUSPENDED])
def test_both_statements_say_the_same_of_every_session(scope: Scope, kind: str, place: str, changes: list[str]) -> None:
    scope.compare(kind, place, *changes)


@pytest.mark.parametrize("place", PLACES)
def test_both_say_the_same_of_an_own_session_whatever_is_changed(scope: Scope, place: str) -> None:
    for change in CHANGES:
        scope.compare(PLAIN, place, change)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_sessions_of_every_kind_are_drawn(scope: Scope, kind: str, place: str) -> None:
    scope.compare(kind, place)
    with scope.connection.transaction(), scope.session(KINDS[kind], PLACES[place]) as (session_id, _token):
        [caller, *_others] = scope.read(session_id, SessionKind.WHOLE)

        assert (caller is None) == (kind == "impersonated by nobody")
        assert (caller is not None and caller.place.customer is not None) == (kind == "for a customer")
        assert scope.is_found_by_lean(session_id) == (kind == PLAIN)


@pytest.mark.parametrize("extra", EXTRAS)
def test_what_a_service_has_of_its_own_is_read(scope: Scope, extra: str) -> None:
    scope.compare("of a service", "nowhere", extra)
    scope.compare("of a service", "nowhere", extra, "DELETE FROM memberships WHERE user_id = %(user)s")


def test_only_what_the_first_statement_has_not_found_is_remembered(scope: Scope) -> None:
    with scope.connection.transaction():
        for kind, is_limited, known in (
            (PLAIN, False, SessionKind.OWN),
            (PLAIN, True, SessionKind.OWN),
            ("of a service", True, SessionKind.OWN),
            ("of a service", False, SessionKind.LIMITED),
            ("confined", False, SessionKind.LIMITED),
            ("for a customer", False, SessionKind.WHOLE),
            ("for a customer", True, SessionKind.WHOLE),
        ):
            with scope.session(KINDS[kind]) as (session_id, _token):
                transaction = transaction_on(scope.connection, now=scope.clock())

                assert PostgresCallers(transaction).of_session(session_id, is_limited=is_limited) is not None

                assert transaction.session_kinds.of(session_id) is known, (kind, is_limited)


def test_the_sessions_that_were_used_last_stay_known() -> None:
    kinds, first, second, third = SessionKinds(sessions_max=2), *(UUID(int=number) for number in (1, 2, 3))
    kinds.add(first, SessionKind.LIMITED)
    kinds.add(second, SessionKind.LIMITED)
    assert kinds.of(first) is SessionKind.LIMITED

    kinds.add(third, SessionKind.WHOLE)

    assert len(kinds) == 2
    assert [kinds.of(each) for each in (first, second, third)] == [
        SessionKind.LIMITED,
        SessionKind.OWN,
        SessionKind.WHOLE,
    ]

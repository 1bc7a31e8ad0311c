"""Recording: an audit entry and an event of the same name, by one call, with their details and actors."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.transaction import Tools
from adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.events.actions import AlikeTargets, AuditAction, PlatformAction
from core.sessions.origins import BACKGROUND
from core.sessions.sessions import Session
from ports.events.recording import Recording
from ports.mailboxes import WorkKind
from tests.clock import SettableClock
from tests.sources.reading import ROOT

INVITATION = UUID("00000000-0000-7000-8000-00000000001e")
ACTOR = UUID("00000000-0000-7000-8000-0000000000ac")


@pytest.fixture
def organization(connection: Connection, clock: SettableClock) -> UUID:
    """An organization."""
    return add_organization(connection, clock, "acme")


def add_organization(connection: Connection, clock: SettableClock, slug: str) -> UUID:
    organization_id = uuid4()
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT %s, %s, 'Acme', 'active', id, %s, %s FROM tiers WHERE name = 'free'
        """,
        (organization_id, slug, clock.now, clock.now),
    )
    return organization_id


def add_user(connection: Connection, clock: SettableClock, email: str, *, is_platform_owner: bool = False) -> UUID:
    user_id = uuid4()
    connection.execute(
        """
        INSERT INTO users (id, email, email_verified_at, is_platform_owner, created_at, updated_at)
        VALUES (%s, %s, %s, %s, %s, %s)
        """,
        (user_id, email, clock.now, is_platform_owner, clock.now, clock.now),
    )
    return user_id


def add_session(
    transact: Callable[..., Any], clock: SettableClock, user_id: UUID, impersonator_id: UUID | None = None
) -> UUID:
    session = Session(
        id=uuid4(),
        user_id=user_id,
        organization_id=None,
        service_id=None,
        device_id=None,
        provider="password",
        amr=["pwd"],
        authenticated_at=clock.now,
        refreshed_at=clock.now,
        expires_at=clock.now + timedelta(hours=1),
        ip_address=None,
        user_agent=None,
        impersonator_id=impersonator_id,
        created_at=clock.now,
    )
    transact(lambda uow: uow.sessions.add(session, refresh_hash=b"hash"))
    return session.id


def record_in_session(
    connection: Connection, tools: Tools, session_id: UUID, organization: UUID, **arguments: Any
) -> None:
    """Record an invitation in a transaction of a session."""
    with connection.transaction():
        uow = PostgresUnitOfWork(connection, BACKGROUND, tools, session_id=session_id)
        uow.record(AuditAction.USER_INVITED, INVITATION, organization_id=organization, **arguments)


def entries(connection: Connection) -> list[tuple[Any, ...]]:
    """Read action, organization, target, actor and details of the audit entries."""
    return connection.execute(
        "SELECT action, organization_id, target_id, actor_user_id, details FROM audit_entries ORDER BY id"
    ).fetchall()


def events(connection: Connection) -> list[tuple[Any, ...]]:
    """Read type, organization, actor and data of the events."""
    return connection.execute(
        "SELECT type, organization_id, actor_user_id, actor_email, data FROM events ORDER BY id"
    ).fetchall()


def test_record_adds_one_audit_entry_and_one_event_of_the_same_name(
    transact: Callable[..., Any], connection: Connection, organization: UUID
) -> None:
    transact(
        lambda uow: uow.record(
            AuditAction.USER_INVITED,
            INVITATION,
            organization_id=organization,
            actor_user_id=ACTOR,
            actor_email="ada@example.org",
            role="admin",
        )
    )

    name = AuditAction.USER_INVITED.value
    assert entries(connection) == [(name, organization, str(INVITATION), ACTOR, {"role": "admin"})]
    assert events(connection) == [(name, organization, ACTOR, "ada@example.org", {"role": "admin"})]


def test_details_of_only_the_entry_or_only_the_event_are_not_in_the_other(
    transact: Callable[..., Any], connection: Connection, organization: UUID
) -> None:
    transact(
        lambda uow: uow.record(
            AuditAction.USER_INVITED,
            INVITATION,
            organization_id=organization,
            audit_only={"before": "member"},
            event_only={"user_id": "7"},
            role="admin",
        )
    )

    [(*_, details)] = entries(connection)
    [(*_, data)] = events(connection)
    assert details == {"role": "admin", "before": "member"}
    assert data == {"role": "admin", "user_id": "7"}


def test_without_a_session_there_is_no_actor(
    transact: Callable[..., Any], connection: Connection, organization: UUID
) -> None:
    transact(lambda uow: uow.record(AuditAction.USER_INVITED, INVITATION, organization_id=organization))

    [(*_, actor_of_entry, _)] = entries(connection)
    [(_, _, actor_of_event, email_of_event, _)] = events(connection)
    assert (actor_of_entry, actor_of_event, email_of_event) == (None, None, None)


def test_in_a_session_the_caller_is_the_actor(
    transact: Callable[..., Any], connection: Connection, tools: Tools, clock: SettableClock, organization: UUID
) -> None:
    ada = add_user(connection, clock, "ada@example.org")
    session_id = add_session(transact, clock, ada)

    record_in_session(connection, tools, session_id, organization)

    [(*_, actor_of_entry, details)] = entries(connection)
    [(_, _, actor_of_event, email_of_event, _)] = events(connection)
    assert (actor_of_entry, actor_of_event, email_of_event) == (ada, ada, "ada@example.org")
    assert details == {}


def test_a_named_actor_counts_more_than_the_caller(
    transact: Callable[..., Any], connection: Connection, tools: Tools, clock: SettableClock, organization: UUID
) -> None:
    session_id = add_session(transact, clock, add_user(connection, clock, "ada@example.org"))

    record_in_session(connection, tools, session_id, organization, actor_user_id=ACTOR, actor_email="grace@example.org")

    [(*_, actor_of_entry, _)] = entries(connection)
    [(_, _, actor_of_event, email_of_event, _)] = events(connection)
    assert (actor_of_entry, actor_of_event, email_of_event) == (ACTOR, ACTOR, "grace@example.org")


def test_the_audit_entry_names_the_impersonator_and_the_event_does_not(
    transact: Callable[..., Any], connection: Connection, tools: Tools, clock: SettableClock, organization: UUID
) -> None:
    ada = add_user(connection, clock, "ada@example.org")
    owner = add_user(connection, clock, "owner@example.org", is_platform_owner=True)
    session_id = add_session(transact, clock, ada, impersonator_id=owner)

    record_in_session(connection, tools, session_id, organization, role="admin")

    [(*_, actor_of_entry, details)] = entries(connection)
    [(_, _, actor_of_event, _, data)] = events(connection)
    assert (actor_of_entry, actor_of_event) == (ada, ada)
    assert details == {"role": "admin", "impersonator_id": str(owner), "impersonation_session": str(session_id)}
    assert data == {"role": "admin"}


RECORDERS: dict[str, Callable[[PostgresUnitOfWork, UUID], object]] = {
    "record": lambda uow, of: uow.record(AuditAction.USER_INVITED, INVITATION, organization_id=of),
    "record_each": lambda uow, of: uow.record_each(AuditAction.INVITATION_EXPIRED, [(of, INVITATION)]),
    "record_alike": lambda uow, of: uow.record_alike(
        AuditAction.INVITATION_EXPIRED, [AlikeTargets(targets=[(of, INVITATION)], details={"role": "admin"})]
    ),
    "record_elsewhere": lambda uow, of: uow.record_elsewhere(
        AuditAction.USER_INVITED, INVITATION, organization_id=of, audit_only={"before": "member"}
    ),
    "record_each_elsewhere": lambda uow, of: uow.record_each_elsewhere(
        AuditAction.USER_INVITED, [(of, INVITATION, {}, {})]
    ),
    "audit_elsewhere": lambda uow, of: uow.audit_elsewhere(AuditAction.USER_INVITED, INVITATION, organization_id=of),
    "audit": lambda uow, of: uow.audit(AuditAction.USER_INVITED, INVITATION, organization_id=of),
    "audit_platform": lambda uow, of: uow.audit_platform(PlatformAction.IMPERSONATION_ACTED, of),
    "mfa_events": lambda uow, _: uow.mfa_events.add(
        uow.caller.account.id, "e", is_success=True, details={"method": "x"}
    ),
}
LOGS = ("audit_entries", "platform_audit_entries", "mfa_events")


@pytest.mark.parametrize("name", RECORDERS)
def test_every_entry_of_every_log_has_the_impersonator_and_the_session(
    transact: Callable[..., Any],
    connection: Connection,
    tools: Tools,
    clock: SettableClock,
    organization: UUID,
    name: str,
) -> None:
    ada = add_user(connection, clock, "ada@example.org")
    owner = add_user(connection, clock, "owner@example.org", is_platform_owner=True)
    session_id = add_session(transact, clock, ada, impersonator_id=owner)

    with connection.transaction():
        RECORDERS[name](PostgresUnitOfWork(connection, BACKGROUND, tools, session_id=session_id), organization)

    both = {"impersonator_id": str(owner), "impersonation_session": str(session_id)}
    found = [details for log in LOGS for [details] in connection.execute(f"SELECT details FROM {log}".encode())]
    assert [both.items() <= details.items() for details in found] == [True]


def test_all_that_writes_to_a_log_is_tested_here() -> None:
    # What writes events alone is no log.
    # What is done for a customer is written by `audit_elsewhere`.
    others = {"publish", "publish_of_users", "publish_to_each", "tell_vendor", "audit_at_customer"}
    written = {
        f"{path.relative_to(ROOT)}: {table}"
        for layer in ("adapters", "core", "actors", "entrypoints")
        for path in (ROOT / layer).rglob("*.py")
        for table in re.findall(r"INSERT INTO (\w+)", path.read_text())
        if table in LOGS
    }

    methods = {name for name, _ in inspect.getmembers(Recording, inspect.isfunction) if not name.startswith("_")}
    assert methods - others == set(RECORDERS) - {"mfa_events"}
    # Those merge what `Transaction.impersonation` says.
    assert written == {
        "adapters/postgres/events/actions.py: audit_entries",
        "adapters/postgres/events/actions.py: platform_audit_entries",
        "adapters/postgres/credentials/mfa.py: mfa_events",
    }


def test_record_each_adds_an_audit_entry_and_an_event_for_each_target_without_an_actor(
    transact: Callable[..., Any], connection: Connection, clock: SettableClock, organization: UUID
) -> None:
    other_organization, other_invitation = add_organization(connection, clock, "globex"), uuid4()
    targets = [(organization, INVITATION), (other_organization, other_invitation)]

    transact(lambda uow: uow.record_each(AuditAction.INVITATION_EXPIRED, targets))

    name = AuditAction.INVITATION_EXPIRED.value
    assert sorted(entries(connection)) == sorted(
        (name, organization_id, str(target_id), None, {}) for organization_id, target_id in targets
    )
    assert sorted(events(connection)) == sorted(
        (name, organization_id, None, None, {"invitation_id": str(target_id)}) for organization_id, target_id in targets
    )


def test_record_each_takes_no_more_statements_for_more_targets(
    connection: Connection, tools: Tools, organization: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    uow = PostgresUnitOfWork(connection, BACKGROUND, tools)
    statements: list[object] = []
    monkeypatch.setattr(connection, "execute_later", lambda *statement: statements.append(statement))

    uow.record_each(AuditAction.INVITATION_EXPIRED, [(organization, uuid4()) for _ in range(50)])

    # The marks, the entries and the events.
    assert len(statements) == 3
    assert uow.made_due == {WorkKind.EVENTS}

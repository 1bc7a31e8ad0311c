"""The unit of work: audit entries, events and mails are committed with their change, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from core.errors import DatabaseFailed, NotFound
from core.events.actions import AuditAction
from core.events.events import EventType
from core.mail import mail
from core.mail.mail import MailTemplate
from core.secrets import Secret
from core.sessions.origins import Origin
from ports.mailboxes import WorkKind
from ports.unit_of_work import UnitOfWork
from tests.clock import SettableClock
from tests.mailboxes import RecordedMailboxes

SERVICE = UUID("00000000-0000-7000-8000-00000000005e")
ACTOR = UUID("00000000-0000-7000-8000-0000000000ac")


@pytest.fixture
def organization(connection: Connection, clock: SettableClock) -> UUID:
    """An organization."""
    row = connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT %s, 'acme', 'Acme', 'active', id, %s, %s FROM tiers WHERE name = 'free'
        RETURNING id
        """,
        (uuid4(), clock.now, clock.now),
    ).fetchone()
    assert row is not None
    return row[0]


def create_service(uow: UnitOfWork, organization: UUID, **details: Any) -> None:
    """Add an audit entry, an event and a mail."""
    uow.audit(
        AuditAction.SERVICE_CREATED, SERVICE, organization_id=organization, actor_user_id=ACTOR, success=True, **details
    )
    uow.publish(
        EventType.SERVICE_CREATED,
        organization_id=organization,
        actor_user_id=ACTOR,
        actor_email="ada@example.org",
        **details,
    )
    mail.send(uow, "ada@example.org", MailTemplate.TEST, organization_id=organization)


def counts(connection: Connection) -> list[int]:
    row = connection.execute(
        "SELECT (SELECT count(*) FROM audit_entries), (SELECT count(*) FROM events), (SELECT count(*) FROM mails)"
    ).fetchone()
    assert row is not None
    return list(row)


async def test_audit_entry_event_and_mail_are_committed_with_the_change_before_actors_are_told(
    database: PostgresDatabase, connection: Connection, mailboxes: RecordedMailboxes, organization: UUID
) -> None:
    await database.transact(create_service, organization)

    assert counts(connection) == [1, 1, 1]
    assert set(mailboxes.told) == {WorkKind.EVENTS, WorkKind.MAIL}


async def test_audit_entry_event_and_mail_are_rolled_back_with_the_change(
    database: PostgresDatabase, connection: Connection, mailboxes: RecordedMailboxes, organization: UUID
) -> None:
    def use_case(uow: UnitOfWork) -> None:
        create_service(uow, organization)
        raise NotFound

    with pytest.raises(NotFound):
        await database.transact(use_case)

    assert counts(connection) == [0, 0, 0]
    assert mailboxes.told == []


async def test_an_audit_entry_names_actor_action_target_and_origin(
    database: PostgresDatabase, connection: Connection, clock: SettableClock, organization: UUID
) -> None:
    origin = Origin(request_id="r1", ip_address="192.0.2.1", user_agent="Firefox")

    await database.on_behalf_of(origin).transact(create_service, organization, service_name="Shop")

    entry = connection.execute(
        """
        SELECT organization_id, actor_user_id, action, target_type, target_id, ip_address, user_agent, success, details,
               created_at
        FROM   audit_entries
        """
    ).fetchone()
    assert entry == (
        organization,
        ACTOR,
        "service.created",
        "service",
        str(SERVICE),
        "192.0.2.1",
        "Firefox",
        True,
        {"service_name": "Shop"},
        clock.now,
    )


def test_an_event_names_its_type_organization_and_actor(
    transact: Callable[..., Any], connection: Connection, clock: SettableClock, organization: UUID
) -> None:
    transact(create_service, organization, service_name="Shop")

    event = connection.execute(
        "SELECT type, organization_id, actor_user_id, actor_email, data, occurred_at FROM events"
    ).fetchone()
    assert event == (
        "service.created",
        organization,
        ACTOR,
        "ada@example.org",
        {"service_name": "Shop"},
        clock.now,
    )


def test_events_of_one_transaction_keep_their_order(transact: Callable[..., Any], connection: Connection) -> None:
    def use_case(uow: UnitOfWork) -> None:
        for number in range(100):
            uow.publish(EventType.USER_LOGOUT, number=number)

    transact(use_case)

    assert [data["number"] for (data,) in connection.execute("SELECT data FROM events ORDER BY id")] == list(range(100))


def test_the_time_does_not_change_within_a_transaction(transact: Callable[..., Any], clock: SettableClock) -> None:
    def use_case(uow: UnitOfWork) -> bool:
        before = uow.now
        clock.advance(timedelta(hours=1))
        return uow.now == before

    assert transact(use_case)


def test_every_transaction_has_its_own_time(transact: Callable[..., Any], clock: SettableClock) -> None:
    before = transact(lambda uow: uow.now)
    clock.advance(timedelta(hours=1))

    assert transact(lambda uow: uow.now) - before == timedelta(hours=1)


@pytest.mark.parametrize("method", ["audit", "publish"])
def test_a_secret_cannot_be_written_into_the_audit_log_or_an_event(
    transact: Callable[..., Any], connection: Connection, organization: UUID, method: str
) -> None:
    arguments = {"audit": (AuditAction.SERVICE_CREATED, SERVICE), "publish": (EventType.SERVICE_CREATED,)}[method]

    def use_case(uow: UnitOfWork) -> None:
        getattr(uow, method)(*arguments, organization_id=organization, nested=[{"client_secret": Secret("s3cret")}])

    with pytest.raises(TypeError):
        transact(use_case)

    assert counts(connection) == [0, 0, 0]


async def test_a_change_whose_audit_entry_cannot_be_written_is_rolled_back(
    database: PostgresDatabase, connection: Connection
) -> None:
    with pytest.raises(DatabaseFailed):
        await database.transact(create_service, uuid4())

    assert counts(connection) == [0, 0, 0]


def test_audit_entries_events_and_mails_of_an_organization_are_deleted_with_it(
    transact: Callable[..., Any], connection: Connection, organization: UUID
) -> None:
    transact(create_service, organization)

    connection.execute("DELETE FROM organizations WHERE id = %s", (organization,))

    assert counts(connection) == [0, 0, 0]


def test_the_database_refuses_an_unknown_status_of_an_organization(connection: Connection, organization: UUID) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        connection.execute("UPDATE organizations SET status = 'sleeping' WHERE id = %s", (organization,))

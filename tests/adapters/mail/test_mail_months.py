"""The outbox by month: every mail has an organization or the platform, and no mail that waits is left behind."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.mail.mail import MARK
from core.ids import PLATFORM
from core.mail import mail
from core.mail.mail import MailTemplate
from core.platform import log_months
from core.platform.log_months import Log
from tests.clock import SettableClock
from tests.log_partitions import MONTHS, id_at, make_months, partitions_read
from tests.plans import explained_statements
from tests.postgres import connected
from tests.world.builder import Builder

Transact = Callable[..., Any]


LOG = Log.MAILS


def insert(connection: Connection, organization_id: UUID | None, moment: datetime, *, state: str = "sent") -> UUID:
    """Insert a mail, None for one of the platform, and return its id."""
    mail_id = id_at(moment)
    connection.execute(
        """
        INSERT INTO mails (id, organization_id, recipient, template, state, attempts, due_at, created_at)
        VALUES (%s, %s, 'ada@example.com', 'test', %s, 0, %s, %s)
        """,
        (mail_id, organization_id or PLATFORM, state, moment, moment),
    )
    return mail_id


def queue(transact: Transact, clock: SettableClock, moment: datetime) -> None:
    """Queue a mail of the platform at a time."""
    clock.now = moment
    transact(mail.send, "ada@example.com", MailTemplate.TEST)


def test_a_mail_of_an_organization_that_is_gone_is_refused(transact: Transact) -> None:
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        transact(mail.send, "ada@example.com", MailTemplate.TEST, organization_id=UUID(int=7))


def test_the_mails_of_an_organization_are_deleted_with_it_in_all_months(
    connection: Connection, builder: Builder
) -> None:
    make_months(connection, LOG)
    acme = builder.organization("acme")
    for month in MONTHS:
        insert(connection, acme, month)
    other = insert(connection, None, MONTHS[0] + timedelta(days=1))

    connection.execute("DELETE FROM organizations WHERE id = %s", (acme,))

    assert connection.execute("SELECT id FROM mails").fetchall() == [(other,)]


def test_a_deletion_waits_for_a_mail_that_is_being_written(
    connection: Connection, builder: Builder, clock: SettableClock, database_url: str
) -> None:
    acme = builder.organization("acme")
    with connected(database_url) as writing, writing.transaction():
        writing.execute(MARK, (clock(), [acme]))
        connection.execute("SET lock_timeout = '1ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            connection.execute("DELETE FROM organizations WHERE id = %s", (acme,))


def test_a_mail_that_waits_for_years_keeps_its_month_and_is_sent(
    connection: Connection, transact: Transact, clock: SettableClock
) -> None:
    make_months(connection, LOG)
    queue(transact, clock, MONTHS[0] + timedelta(days=1))
    for month in MONTHS[1:]:
        insert(connection, None, month)
    clock.now = MONTHS[-1] + timedelta(days=40)
    transact(mail.delete_old, 1_000)
    while transact(log_months.drop_next, LOG, LOG.kept_for) is not None:
        pass

    [claimed] = transact(mail.claim, 10)

    assert claimed.message.to == "ada@example.com"
    assert transact(mail.record_sent, claimed)
    transact(mail.delete_old, 1_000)
    dropped = 0
    while transact(log_months.drop_next, LOG, LOG.kept_for) is not None:
        dropped += 1
    assert dropped >= len(MONTHS) - 1


@pytest.mark.one_server
def test_a_mail_is_changed_in_its_month_alone(connection: Connection, transact: Transact, clock: SettableClock) -> None:
    make_months(connection, LOG)
    for month in MONTHS:
        insert(connection, None, month + timedelta(days=2))
    queue(transact, clock, MONTHS[-1] + timedelta(days=1))
    clock.now = datetime(2028, 12, 3, tzinfo=UTC)
    connection.execute("VACUUM ANALYZE mails")
    [claimed] = transact(mail.claim, 10)

    with explained_statements(connection) as plans:
        transact(mail.record_sent, claimed)
        transact(lambda uow: uow.platform_mails.lock(claimed.id, hides_owners=False))

    assert plans
    for plan in plans:
        assert partitions_read(plan, LOG) <= {"mails_2028_12"}

"""What is due, found by one statement: the same as the leases of the actors find, without what is leased."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.billing.provider import BillingMode
from core.platform import polling
from core.webhooks.events import RETENTION
from ports.mailboxes import WorkKind
from tests.clock import SettableClock
from tests.marks import mark_due
from tests.plans import explained_statements, rows_read, tables_read_whole
from tests.world.builder import Builder

LATER = timedelta(minutes=5)
ORDINARY = """
    INSERT INTO mail_dues AS due (organization_id, queued_at) VALUES (%(organization)s, %(at)s)
    ON CONFLICT (organization_id) DO UPDATE SET queued_at = least(due.queued_at, excluded.queued_at)
"""
ROUTED = """
    WITH server AS (
        INSERT INTO mail_servers (organization_id, host, port, tls, from_name, from_email, created_at, updated_at)
        VALUES (%(organization)s, 'a', 25, 'none', 'a', 'a@example.org', now(), now())
        ON CONFLICT DO NOTHING)
    INSERT INTO mail_dues AS due (organization_id, routed_at) VALUES (%(organization)s, %(at)s)
    ON CONFLICT (organization_id) DO UPDATE SET routed_at = least(due.routed_at, excluded.routed_at)
"""
EVENT = """
    INSERT INTO events (id, type, organization_id, data, occurred_at)
    VALUES ((left(first_id_at(%(at)s)::text, 14) || substr(gen_random_uuid()::text, 15))::uuid,
            'user.login.success', '00000000-0000-0000-0000-000000000000', '{}', %(at)s)
"""
WEBHOOK = """
    WITH webhook AS (
        INSERT INTO webhooks (id, organization_id, name, url, events, secret_sealed, created_at, updated_at)
        VALUES (gen_random_uuid(), %(organization)s, gen_random_uuid(), 'https://a', '{user.invited}', '', now(), now())
        RETURNING id, organization_id)
    INSERT INTO webhook_queues (webhook_id, organization_id, due_at) SELECT id, organization_id, %(at)s FROM webhook
"""
LOGOUT = """
    INSERT INTO logout_queues (service_id, organization_id, due_at) VALUES (%(service)s, %(organization)s, %(at)s)
"""
STREAM = """
    INSERT INTO siem_streams (id, organization_id, provider, endpoint, options, enabled, position, due_at, created_at,
                              updated_at)
    VALUES (gen_random_uuid(), %(organization)s, 'http', 'https://a', '{}', true, 0, %(at)s, now(), now())
"""
CANCELLATION = """
    INSERT INTO billing_cancellations (id, mode, due_at, created_at)
    VALUES (gen_random_uuid(), 'sandbox', %(at)s, now())
"""
CHECK = """
    WITH customer AS (
        INSERT INTO billing_customers (id, mode, organization_id, created_at, updated_at)
        VALUES ('cus', 'sandbox', %(organization)s, now(), now()))
    INSERT INTO billing_subscriptions (id, customer_id, mode, organization_id, outcome, check_at, created_at,
                                       updated_at)
    VALUES ('sub', 'cus', 'sandbox', %(organization)s, 'parked', %(at)s, now(), now())
"""
DELIVERY = """
    WITH customer AS (
        INSERT INTO sandbox_customers (id, organization_id, name, idempotency_key, created_at)
        VALUES ('cus', %(organization)s, 'a', 'key', now()))
    INSERT INTO sandbox_deliveries (id, customer_id, body, due_at, created_at)
    VALUES (gen_random_uuid(), 'cus', '{}', %(at)s, now())
"""
JOB = """
    WITH maker AS (
        INSERT INTO users (id, email, created_at, updated_at)
        VALUES (gen_random_uuid(), gen_random_uuid() || '@example.org', now(), now())
        RETURNING id)
    INSERT INTO bulk_jobs (id, organization_id, kind, details, maker_id, session_id, rows, due_at, created_at)
    SELECT gen_random_uuid(), %(organization)s, 'members.remove', '{}', id, gen_random_uuid(), 1, %(at)s, now()
    FROM   maker
"""
INVITATION = """
    INSERT INTO invitations (id, organization_id, email, role, status, token_hash, token_sealed, proof_hash, created_at,
                             expires_at)
    VALUES (gen_random_uuid(), %(organization)s, gen_random_uuid() || '@example.org', 'member', 'pending',
            sha256(gen_random_uuid()::text::bytea), '', '', %(at)s, %(at)s)
"""
# What makes work due at a time, and the table of its lease and of the organization that has to be active, if any.
WORK = {
    "mail": (WorkKind.MAIL, ORDINARY, None, True),
    "routed mail": (WorkKind.ROUTED_MAIL, ROUTED, "mail_servers", True),
    "an event": (WorkKind.EVENTS, EVENT, None, False),
    "a delivery": (WorkKind.DELIVERIES, WEBHOOK, "webhook_queues", True),
    "a logout": (WorkKind.LOGOUTS, LOGOUT, "logout_queues", True),
    "a stream": (WorkKind.STREAMS, STREAM, "siem_streams", True),
    "a cancellation": (WorkKind.BILLING, CANCELLATION, None, False),
    "a check": (WorkKind.BILLING, CHECK, "billing_customers", False),
    "a job": (WorkKind.BULK_JOBS, JOB, "bulk_jobs", False),
    "an invitation": (WorkKind.INVITATIONS, INVITATION, None, True),
    "an event of the sandbox": (WorkKind.SANDBOX, DELIVERY, None, False),
}


@pytest.fixture
def organization(builder: Builder) -> UUID:
    return builder.organization()


@pytest.fixture
def make_due(connection: Connection, builder: Builder, organization: UUID) -> Callable[[str, datetime], None]:
    """Makes work due at a time, by a statement."""
    service = builder.service(organization).id
    connection.execute("DELETE FROM service_user_changes")

    def make_due(statement: str, at: datetime) -> None:
        connection.execute(statement.encode(), {"organization": organization, "service": service, "at": at})

    return make_due


def due(transact: Callable[..., Any], mode: BillingMode = BillingMode.SANDBOX) -> dict[WorkKind, datetime]:
    """Return from when on work is due, by its kind."""
    return {WorkKind(kind): due_at for kind, due_at in transact(polling.due, mode).items()}


def test_nothing_is_due_in_an_empty_database(transact: Callable[..., Any]) -> None:
    assert due(transact) == {}


@pytest.mark.parametrize("work", WORK)
def test_work_is_due_from_its_time_on_unless_it_is_leased_or_its_organization_suspended(
    work: str,
    make_due: Callable[[str, datetime], None],
    builder: Builder,
    organization: UUID,
    transact: Callable[..., Any],
    connection: Connection,
    clock: SettableClock,
) -> None:
    kind, statement, leased_table, needs_organization = WORK[work]
    at = clock() + LATER

    make_due(statement, at)

    assert due(transact) == {kind: at}
    builder.set_organization_status(organization, "suspended")
    assert due(transact) == ({} if needs_organization else {kind: at})
    builder.set_organization_status(organization, "active")
    if leased_table is not None:
        connection.execute(f"UPDATE {leased_table} SET leased_until = %s".encode(), (at,))
        assert due(transact) == {}
        clock.advance(LATER)
        assert due(transact) == {kind: at}


def test_events_of_an_organization_are_due_since_it_was_marked(
    organization: UUID, transact: Callable[..., Any], connection: Connection, clock: SettableClock
) -> None:
    marked_at = clock() - LATER
    # It is due for both, and what is to be sealed is due at once.
    sealing = {WorkKind.SEALING: clock()}
    mark_due(connection, organization)
    connection.execute("UPDATE log_dues SET events_at = %s", (marked_at,))
    mark_due(connection, organization)
    assert due(transact) == sealing | {WorkKind.EVENTS: marked_at}

    # The clock of PostgreSQL may be ahead.
    connection.execute("UPDATE log_dues SET events_at = %s", (clock() + LATER,))
    assert due(transact) == sealing | {WorkKind.EVENTS: clock()}
    connection.execute("UPDATE log_dues SET events = false")
    assert due(transact) == sealing


def test_what_is_due_first_counts(
    make_due: Callable[[str, datetime], None], transact: Callable[..., Any], clock: SettableClock
) -> None:
    for statement in (ORDINARY, ROUTED, EVENT, WEBHOOK, CANCELLATION):
        for at in (clock() + LATER, clock(), clock() + 2 * LATER):
            make_due(statement, at)

    kinds = (WorkKind.MAIL, WorkKind.ROUTED_MAIL, WorkKind.EVENTS, WorkKind.DELIVERIES, WorkKind.BILLING)
    assert due(transact) == dict.fromkeys(kinds, clock())


def test_a_mail_server_that_failed_is_due_at_its_next_attempt(
    make_due: Callable[[str, datetime], None],
    transact: Callable[..., Any],
    connection: Connection,
    clock: SettableClock,
) -> None:
    make_due(ROUTED, clock())

    connection.execute("UPDATE mail_servers SET next_attempt_at = %s", (clock() + LATER,))

    assert due(transact) == {WorkKind.ROUTED_MAIL: clock() + LATER}


def test_invitations_of_other_organizations_are_found_behind_many_of_suspended_ones(
    organization: UUID,
    builder: Builder,
    make_due: Callable[[str, datetime], None],
    transact: Callable[..., Any],
    connection: Connection,
    clock: SettableClock,
) -> None:
    suspended = builder.organization("suspended")
    builder.set_organization_status(suspended, "suspended")
    connection.execute(
        """
        INSERT INTO invitations (id, organization_id, email, role, status, token_hash, token_sealed, proof_hash,
                                 created_at, expires_at)
        SELECT gen_random_uuid(), %s, number || '@example.org', 'member', 'pending',
               sha256(gen_random_uuid()::text::bytea), '', '', %s, %s
        FROM   generate_series(1, 1001) AS number
        """,
        (suspended, clock() - 2 * LATER, clock() - LATER),
    )

    make_due(INVITATION, clock())
    assert due(transact) == {WorkKind.INVITATIONS: clock()}
    # One that was not expired within a minute is found by the sweeper's own look.
    clock.advance(timedelta(minutes=1))
    assert due(transact) == {}
    make_due(INVITATION, clock() + LATER)
    assert due(transact) == {WorkKind.INVITATIONS: clock() + LATER}
    builder.set_organization_status(organization, "suspended")
    assert due(transact) == {}


def test_what_never_becomes_due_is_left_out(
    make_due: Callable[[str, datetime], None],
    transact: Callable[..., Any],
    connection: Connection,
    clock: SettableClock,
) -> None:
    for statement in (EVENT, WEBHOOK, STREAM, CANCELLATION, CHECK, DELIVERY):
        make_due(statement, clock())

    connection.execute("UPDATE webhooks SET is_active = false")
    connection.execute("UPDATE siem_streams SET enabled = false")
    connection.execute("UPDATE events SET occurred_at = %s", (clock() - RETENTION,))

    # The sandbox has nothing to do for a provider with money.
    assert due(transact, BillingMode.LIVE) == {}


def test_entries_to_seal_changes_to_count_and_sessions_of_customers_to_check_are_due(
    organization: UUID, builder: Builder, transact: Callable[..., Any], connection: Connection, clock: SettableClock
) -> None:
    service = builder.service(organization).id
    builder.link(organization, service, builder.user())
    connection.execute(
        """
        INSERT INTO customer_rechecks (id, service_id, reason, created_at)
        VALUES (gen_random_uuid(), %s, 'individuals', %s)
        """,
        (service, clock()),
    )
    mark_due(connection, organization)
    connection.execute("UPDATE log_dues SET events = false")

    kinds = (WorkKind.SERVICE_USERS, WorkKind.SEALING, WorkKind.CUSTOMER_SESSIONS)
    assert due(transact) == dict.fromkeys(kinds, clock())

    connection.execute("UPDATE customer_rechecks SET due_at = %s", (clock() + LATER,))
    assert due(transact)[WorkKind.CUSTOMER_SESSIONS] == clock() + LATER


@pytest.mark.one_server
@pytest.mark.long
def test_however_much_waits_or_is_done_the_first_rows_of_indexes_are_read(
    transact: Callable[..., Any], connection: Connection, clock: SettableClock
) -> None:
    # A tenth of the organizations has something that waits, and the marks of all others come first in the tables.
    connection.execute(
        """
        WITH made AS (
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            SELECT gen_random_uuid(), 'org-' || n, 'Org', 'active', (SELECT id FROM tiers WHERE name = 'free'), now(),
                   now()
            FROM   generate_series(1, 20000) AS n
            RETURNING id, substr(slug, 5)::integer > 18000 AS waits),
        mails AS (
            INSERT INTO mail_dues (organization_id, queued_at, routed_at)
            SELECT id, CASE WHEN waits THEN %(at)s::timestamptz END, CASE WHEN waits THEN %(at)s::timestamptz END
            FROM   made
            ORDER BY waits)
        INSERT INTO log_dues (organization_id, entries, events, events_at)
        SELECT id, waits, waits, %(at)s FROM made ORDER BY waits
        """,
        {"at": clock() + LATER},
    )
    connection.execute("ANALYZE")

    with explained_statements(connection) as plans:
        transact(polling.due, BillingMode.SANDBOX)

    [plan] = [plan for plan in plans if rows_read(plan, "mail_dues")]
    assert tables_read_whole(plan).isdisjoint({"mail_dues", "log_dues", "mails", "events", "organizations"})
    # The first row of an index, and the first marks.
    assert rows_read(plan, "mail_dues") == 1
    assert 1 <= rows_read(plan, "log_dues") <= 100 + 1
    assert (rows_read(plan, "mails"), rows_read(plan, "events")) == (0, 0)


@pytest.mark.one_server
@pytest.mark.long
def test_however_much_waits_on_the_platform_the_first_row_of_an_index_is_read(
    transact: Callable[..., Any], connection: Connection, clock: SettableClock
) -> None:
    connection.execute(
        """
        INSERT INTO events (id, type, organization_id, data, occurred_at, position)
        SELECT (left(first_id_at(%(at)s)::text, 14) || substr(gen_random_uuid()::text, 15))::uuid,
               'user.login.success', '00000000-0000-0000-0000-000000000000', '{}', %(at)s,
               CASE WHEN n <= 45000 THEN n ELSE 0 END
        FROM   generate_series(1, 50000) AS n
        """,
        {"at": clock() + LATER},
    )
    connection.execute("ANALYZE")

    with connection.transaction():
        assert due(transact) == {WorkKind.EVENTS: clock() + LATER}
        # A function asks for them, so that no plan shows what is read.
        [(sequentially, by_index)] = connection.execute(
            "SELECT sum(seq_tup_read), sum(idx_tup_fetch) FROM pg_stat_xact_user_tables WHERE relname ~ '^events_'"
        ).fetchall()

    assert sequentially == 0
    # Of the index of each partition.
    assert 1 <= by_index <= 2

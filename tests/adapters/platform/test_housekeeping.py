"""Housekeeping in PostgreSQL: only ended rows are deleted, through an index, and without waiting for locks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.platform.housekeeping import PostgresHousekeeping
from adapters.postgres.platform.retention import LOGS
from core.platform import housekeeping
from core.platform.housekeeping import Leftover
from tests.clock import SettableClock
from tests.leftovers import DAY, DEVICE, IDS, KINDS, USER, put, put_owners
from tests.plans import explained_statements, nodes_of, rows_read, tables_read_whole
from tests.postgres import connected
from tests.transactions import transaction_on

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MOMENT = timedelta(seconds=1)
MANY = 20_000
# With these go rows or values of logs. On a cluster, what changes all shards of a log waits for another one that does.
WITH_LOGS = (Leftover.INVITATIONS, Leftover.UNPROVED_ACCOUNTS)
leftovers = pytest.mark.parametrize("leftover", Leftover)


@pytest.fixture(autouse=True)
def owner(connection: Connection) -> None:
    """The owners of all rows."""
    put_owners(connection, NOW)


def put_many(connection: Connection, leftover: Leftover) -> None:
    """Insert very many rows, of which one ended in each of the last seconds."""
    connection.execute(
        b"WITH ends AS (SELECT %(now)s::timestamptz - n * interval '1 s' AS ended FROM generate_series(1, %(many)s) n)"
        + KINDS[leftover].insert.encode(),
        {**IDS, "now": NOW, "many": MANY},
    )


def remaining(connection: Connection, leftover: Leftover) -> list[datetime]:
    """Return when the remaining rows end, except for the owner's device and the organization's event."""
    ends = KINDS[leftover].ends
    rows = connection.execute(f"SELECT {ends} FROM {leftover.value} WHERE {ends} <> %s ORDER BY 1".encode(), (NOW,))
    return [ended for (ended,) in rows]


def lock_rows(connection: Connection, leftover: Leftover) -> None:
    """Lock all rows; of a log, which may lie on several nodes, one organization's rows after another's."""
    if leftover not in LOGS:
        connection.execute(f"SELECT FROM {leftover.value} FOR UPDATE".encode())
        return
    for organization in connection.execute("SELECT id FROM organizations").fetchall():
        connection.execute(
            f"SELECT 1 FROM {leftover.value} WHERE organization_id = %s FOR UPDATE".encode(), organization
        )


def test_an_ended_row_is_deleted_after_its_retention(
    connection: Connection, transact: Callable[..., Any], clock: SettableClock, subtests: pytest.Subtests
) -> None:
    for leftover in Leftover:
        with subtests.test(leftover=leftover):
            ends = [NOW - KINDS[leftover].kept_for - MOMENT * seconds for seconds in (-1, 0, 1)]
            put(connection, leftover, NOW + DAY, *ends)
            assert clock() == NOW

            assert transact(housekeeping.sweep, leftover, leftover.kept_for, 10) == 2

            assert remaining(connection, leftover) == [ends[0], NOW + DAY]


def test_a_batch_deletes_the_oldest_rows_up_to_its_limit(connection: Connection, subtests: pytest.Subtests) -> None:
    for leftover in Leftover:
        with subtests.test(leftover=leftover):
            ends = [NOW - DAY * days for days in (5, 4, 3, 2, 1)]
            put(connection, leftover, *ends)

            assert PostgresHousekeeping(transaction_on(connection)).delete(leftover, NOW - MOMENT, 2) == 2

            assert remaining(connection, leftover) == ends[2:]


@pytest.mark.parametrize(
    "kinds",
    [
        pytest.param([kind for kind in Leftover if kind not in WITH_LOGS], id="by themselves"),
        pytest.param(WITH_LOGS, id="with logs", marks=pytest.mark.one_server),
    ],
)
def test_concurrent_sweeps_delete_different_rows_without_waiting(
    connection: Connection, database_url: str, subtests: pytest.Subtests, kinds: Sequence[Leftover]
) -> None:
    for leftover in kinds:
        with subtests.test(leftover=leftover):
            ends = [NOW - DAY * days for days in (5, 4, 3, 2, 1)]
            put(connection, leftover, *ends)

            with connected(database_url) as other, other.transaction():
                other.execute("SET lock_timeout = '1ms'")
                with connection.transaction():
                    assert PostgresHousekeeping(transaction_on(connection)).delete(leftover, NOW - MOMENT, 3) == 3
                    assert PostgresHousekeeping(transaction_on(other)).delete(leftover, NOW - MOMENT, 3) == 2

            assert remaining(connection, leftover) == []


def test_a_locked_row_is_left_for_the_next_sweep(
    connection: Connection, database_url: str, subtests: pytest.Subtests
) -> None:
    for leftover in Leftover:
        with subtests.test(leftover=leftover):
            put(connection, leftover, NOW - DAY)

            with connected(database_url) as holder, holder.transaction():
                lock_rows(holder, leftover)
                assert PostgresHousekeeping(transaction_on(connection)).delete(leftover, NOW - MOMENT, 3) == 0

            assert PostgresHousekeeping(transaction_on(connection)).delete(leftover, NOW - MOMENT, 3) == 1


@pytest.mark.one_server
@leftovers
@pytest.mark.long
def test_a_sweep_of_a_large_table_uses_an_index(leftover: Leftover, connection: Connection) -> None:
    put_many(connection, leftover)
    connection.execute(f"ANALYZE {leftover.value}".encode())

    with explained_statements(connection) as plans:
        PostgresHousekeeping(transaction_on(connection)).delete(leftover, NOW - MOMENT * (MANY - 1_000), 500)

    assert plans
    for plan in plans:
        read_whole = tables_read_whole(plan)
        assert leftover.value not in read_whole
        # Some have a row or two in this test.
        assert {table for table in read_whole if row_count(connection, table) > 2} == set()
        assert not [node for node in nodes_of(plan) if "Sort" in node["Node Type"] and node["Actual Rows"] > 500]


def row_count(connection: Connection, table: str) -> int:
    [(count,)] = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchall()
    return count


SECURITY_LOG = """
    INSERT INTO mfa_events (id, user_id, event_type, success, details, created_at)
    SELECT gen_random_uuid(), %(user)s, kind, true, '{}', %(at)s
    FROM   unnest(%(kinds)s::text[]) AS kind, generate_series(1, %(rows)s)
"""


def test_the_security_log_is_kept_and_what_shortens_it_leaves_what_it_has_of_anonymizations(
    connection: Connection,
) -> None:
    long_ago = {"user": USER, "at": NOW - 4_000 * DAY}
    connection.execute(SECURITY_LOG, {**long_ago, "kinds": ["mfa_enabled", "user_anonymized"], "rows": 2})
    aggregate = PostgresHousekeeping(transaction_on(connection, now=NOW))

    by_default = aggregate.delete(Leftover.MFA_EVENTS, NOW - Leftover.MFA_EVENTS.kept_for, 10)
    shortened = aggregate.delete(Leftover.MFA_EVENTS, NOW - 400 * DAY, 10)
    overdue = aggregate.overdue(dict.fromkeys(Leftover, NOW - 400 * DAY))

    assert (by_default, shortened) == (0, 2)
    assert connection.execute("SELECT event_type FROM mfa_events").fetchall() == [("user_anonymized",)] * 2
    assert Leftover.MFA_EVENTS not in overdue


@pytest.mark.one_server
def test_shortening_the_security_log_reads_nothing_of_the_anonymizations_that_stay(connection: Connection) -> None:
    connection.execute(
        SECURITY_LOG, {"user": USER, "at": NOW - 4_000 * DAY, "kinds": ["user_anonymized"], "rows": MANY}
    )
    connection.execute(SECURITY_LOG, {"user": USER, "at": NOW - DAY, "kinds": ["mfa_enabled"], "rows": MANY})
    connection.execute("VACUUM ANALYZE mfa_events")

    with explained_statements(connection) as plans:
        PostgresHousekeeping(transaction_on(connection, now=NOW)).delete(Leftover.MFA_EVENTS, NOW - 400 * DAY, 500)

    assert [rows_read(plan, "mfa_events") for plan in plans] == [0]


def test_deleting_a_device_deletes_its_tokens_and_keeps_its_sessions(connection: Connection) -> None:
    put(connection, Leftover.DEVICE_TOKENS, NOW + DAY)
    put(connection, Leftover.SESSIONS, NOW + DAY)
    connection.execute("UPDATE sessions SET device_id = %s", (DEVICE,))

    assert PostgresHousekeeping(transaction_on(connection)).delete(Leftover.DEVICES, NOW, 10) == 1

    assert remaining(connection, Leftover.DEVICE_TOKENS) == []
    assert set(connection.execute("SELECT device_id FROM sessions").fetchall()) == {(None,)}


def test_the_addresses_in_deleted_events_are_kept_for_an_anonymization(
    connection: Connection, transact: Callable[..., Any]
) -> None:
    put(connection, Leftover.EVENTS, NOW - DAY, NOW - 2 * DAY)
    connection.execute("UPDATE events SET actor_email = 'eve@example.com' WHERE occurred_at = %s", (NOW - DAY,))
    connection.execute("UPDATE events SET actor_email = 'old@example.com' WHERE occurred_at = %s", (NOW - 2 * DAY,))

    assert transact(housekeeping.sweep, Leftover.EVENTS, MOMENT, 10) == 2

    assert connection.execute("SELECT user_id::text, email FROM known_addresses ORDER BY email").fetchall() == [
        (USER, "eve@example.com"),
        (USER, "old@example.com"),
    ]


def test_the_deliveries_of_an_event_that_is_deleted_are_deleted_with_it(connection: Connection) -> None:
    put(connection, Leftover.WEBHOOK_DELIVERIES, NOW + DAY)

    assert PostgresHousekeeping(transaction_on(connection)).delete(Leftover.EVENTS, NOW, 10) == 1

    assert remaining(connection, Leftover.WEBHOOK_DELIVERIES) == []


def test_every_kind_of_leftover_is_tested() -> None:
    assert set(KINDS) == set(Leftover)


# Rows of accounts that stay, in the tables with which the deletion compares.
OF_OTHERS = """
    WITH people AS (
        INSERT INTO users (id, email, email_verified_at, created_at, updated_at)
        SELECT gen_random_uuid(), n || '@example.org', %(now)s, %(now)s, %(now)s FROM generate_series(1, %(many)s) n
        RETURNING id
    ), memberships AS (
        INSERT INTO memberships (id, organization_id, user_id, role, created_at)
        SELECT gen_random_uuid(), %(organization)s, id, 'member', %(now)s FROM people
    ), sessions AS (
        INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                              created_at)
        SELECT gen_random_uuid(), id, 'password', '{}', %(now)s, '', %(now)s, %(now)s, %(now)s FROM people
    ), devices AS (
        INSERT INTO devices (id, user_id, name, device_type, last_used_at, created_at, updated_at)
        SELECT gen_random_uuid(), id, '', 'cli', %(now)s, %(now)s, %(now)s FROM people
    ), login_events AS (
        INSERT INTO login_events (id, user_id, organization_id, provider, success, risk_score, risk_factors, created_at)
        SELECT gen_random_uuid(), id, id, 'password', true, 0, '{}', %(now)s FROM people
    ), audit_entries AS (
        INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, success, details,
                                   created_at)
        SELECT gen_random_uuid(), %(organization)s, id, 'x', 'service', '', true, '{}', %(now)s FROM people
    ), platform_audit_entries AS (
        INSERT INTO platform_audit_entries (id, actor_user_id, action, target_type, target_id, success, details,
                                            created_at)
        SELECT gen_random_uuid(), id, 'x', 'user', id, true, '{}', %(now)s FROM people
    ), invitations AS (
        INSERT INTO invitations (id, organization_id, email, role, invited_by, status, token_hash, proof_hash,
                                 created_at, expires_at)
        SELECT gen_random_uuid(), %(organization)s, id || '@example.com', 'member', id, 'pending', id::text::bytea, '',
               %(now)s, %(now)s
        FROM   people
    )
    INSERT INTO one_time_tokens (token_hash, purpose, user_id, email, created_at, expires_at)
    SELECT id::text::bytea, 'magic_link', id, '', %(now)s, %(now)s FROM people
"""
FULL_TABLES = (
    *("users", "memberships", "sessions", "devices", "login_events", "audit_entries", "platform_audit_entries"),
    *("invitations", "one_time_tokens"),
)


@pytest.mark.one_server
@pytest.mark.long
def test_a_sweep_of_accounts_reads_those_that_go_and_none_of_the_others(connection: Connection) -> None:
    connection.execute(OF_OTHERS.encode(), {**IDS, "now": NOW, "many": MANY})
    put(connection, Leftover.UNPROVED_ACCOUNTS, *(NOW - MOMENT * n for n in range(1, 101)))
    for table in FULL_TABLES:
        connection.execute(f"ANALYZE {table}".encode())
    limit = Leftover.UNPROVED_ACCOUNTS.rows_max

    with explained_statements(connection) as plans:
        # Each statement runs twice: the first time to explain it.
        PostgresHousekeeping(transaction_on(connection)).delete(Leftover.UNPROVED_ACCOUNTS, NOW, limit)

    assert plans
    for plan in plans:
        assert tables_read_whole(plan).isdisjoint(FULL_TABLES)
        for table in FULL_TABLES:
            assert rows_read(plan, table) <= 2 * limit, table

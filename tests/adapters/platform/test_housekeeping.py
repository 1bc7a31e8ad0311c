"""Housekeeping in PostgreSQL: only ended rows are deleted, through an index, and without waiting for locks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from adapters.postgres.platform.housekeeping import PostgresHousekeeping
from core.platform import housekeeping
from core.platform.housekeeping import Leftover
from tests.plans import explained_statements, nodes_of, tables_read_whole
from tests.postgres import connected
from tests.transactions import transaction_on

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import LiteralString

    from adapters.postgres.driver.connection import Connection
    from tests.clock import SettableClock

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MOMENT = timedelta(seconds=1)
DAY = timedelta(days=1)
USER = "00000000-0000-7000-8000-00000000000a"
DEVICE = "00000000-0000-7000-8000-00000000000d"
ORGANIZATION = "00000000-0000-7000-8000-0000000000b0"
WEBHOOK = "00000000-0000-7000-8000-00000000000b"
SESSION = "00000000-0000-7000-8000-00000000000f"
EVENT = "00000000-0000-7000-8000-00000000000e"
IDS = {
    "user": USER,
    "device": DEVICE,
    "organization": ORGANIZATION,
    "webhook": WEBHOOK,
    "event": EVENT,
    "session": SESSION,
}
MANY = 20_000


@dataclass(frozen=True)
class Kind:
    """A statement that inserts rows of a kind with given ends, and how long the rows are kept after that."""

    ends: str
    kept_for: timedelta
    insert: LiteralString


# Each statement reads the times at which its rows end from `ends`.
KINDS = {
    Leftover.SIGN_IN_FAILURES: Kind(
        "created_at",
        timedelta(minutes=15),
        "INSERT INTO sign_in_failures (id, email_hash, network, created_at)"
        " SELECT gen_random_uuid(), '', '-', ended FROM ends",
    ),
    Leftover.MFA_CHALLENGES: Kind(
        "expires_at",
        DAY,
        "INSERT INTO mfa_challenges (id, user_id, context, created_at, expires_at)"
        " SELECT gen_random_uuid(), %(user)s, '{}', ended, ended FROM ends",
    ),
    Leftover.PASSKEY_CHALLENGES: Kind(
        "expires_at",
        DAY,
        "INSERT INTO passkey_challenges (id, purpose, challenge, created_at, expires_at)"
        " SELECT gen_random_uuid(), 'authenticate', '', ended, ended FROM ends",
    ),
    Leftover.DEVICE_TOKENS: Kind(
        "expires_at",
        DAY,
        "INSERT INTO device_tokens (token_hash, device_id, created_at, expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), %(device)s, ended, ended FROM ends",
    ),
    Leftover.ONE_TIME_TOKENS: Kind(
        "expires_at",
        30 * DAY,
        "INSERT INTO one_time_tokens (token_hash, purpose, email, created_at, expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), 'verify_email', '', ended, ended FROM ends",
    ),
    Leftover.SESSIONS: Kind(
        "expires_at",
        30 * DAY,
        "INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,"
        " created_at)"
        " SELECT gen_random_uuid(), %(user)s, 'password', '{}', ended, '', ended, ended, ended FROM ends",
    ),
    Leftover.BROWSER_RETURNS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO browser_returns (id_hash, target, expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), '/app', ended FROM ends",
    ),
    Leftover.AUTHORIZATION_REQUESTS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO authorization_requests (id_hash, organization_id, service_id, is_pushed, parameters, created_at,"
        " expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), %(user)s, %(device)s, true, '{}', ended, ended FROM ends",
    ),
    Leftover.AUTHORIZATION_CODES: Kind(
        "expires_at",
        DAY,
        "INSERT INTO authorization_codes (code_hash, organization_id, service_id, session_id, redirect_uri, scopes,"
        " created_at, expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), %(user)s, %(device)s, %(session)s, '', '{}', ended, ended"
        " FROM ends",
    ),
    Leftover.DEVICE_CODES: Kind(
        "expires_at",
        DAY,
        "INSERT INTO device_codes (device_code_hash, user_code_hash, organization_id, service_id, scopes, created_at,"
        " expires_at, interval_seconds)"
        " SELECT sha256(gen_random_uuid()::text::bytea), sha256(gen_random_uuid()::text::bytea), %(user)s,"
        " %(device)s, '{}', ended, ended, 5 FROM ends",
    ),
    Leftover.SINGLE_USES: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO single_uses (id_hash, expires_at) SELECT sha256(gen_random_uuid()::text::bytea), ended FROM ends",
    ),
    Leftover.UPSTREAM_SIGN_INS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO upstream_sign_ins (id, state_hash, provider, return_to, return_id, expires_at)"
        " SELECT gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), 'codehost', '', '', ended FROM ends",
    ),
    Leftover.MAIL_COUNTS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO mail_counts (key, sent_at, expires_at)"
        " SELECT sha256(gen_random_uuid()::text::bytea), '{}', ended FROM ends",
    ),
    Leftover.SAML_REQUESTS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO saml_requests (id, organization_id, service_id, message_id, state_hash, browser_hash, terms,"
        " created_at, expires_at)"
        " SELECT gen_random_uuid(), %(user)s, %(device)s, gen_random_uuid()::text,"
        " sha256(gen_random_uuid()::text::bytea), '', '{}', ended, ended FROM ends",
    ),
    Leftover.SAML_LOGOUTS: Kind(
        "expires_at",
        timedelta(),
        "INSERT INTO saml_logouts (id, state_hash, browser_hash, is_signed, named, has_begun, to_tell, status,"
        " created_at, expires_at)"
        " SELECT gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), '', true, '{}', true, '{}', '{}', ended,"
        " ended FROM ends",
    ),
    Leftover.BILLING_CHECKOUTS: Kind(
        "created_at",
        30 * DAY,
        "INSERT INTO billing_checkouts (id, mode, organization_id, service_id, user_id, plan_id, price_id, success_url,"
        " cancel_url, created_at)"
        " SELECT gen_random_uuid(), 'live', %(user)s, %(device)s, %(user)s, gen_random_uuid(), '', '', '', ended"
        " FROM ends",
    ),
    Leftover.BILLING_CANCELLATIONS: Kind(
        "created_at",
        90 * DAY,
        "INSERT INTO billing_cancellations (id, mode, created_at)"
        " SELECT gen_random_uuid()::text, 'live', ended FROM ends",
    ),
    Leftover.SANDBOX_SESSIONS: Kind(
        "expires_at",
        DAY,
        "INSERT INTO sandbox_sessions (id, kind, customer_id, return_url, expires_at, created_at)"
        " SELECT gen_random_uuid()::text, 'portal', 'cus_1', '', ended, ended FROM ends",
    ),
    Leftover.SETUP_LINKS: Kind(
        "expires_at",
        DAY,
        "INSERT INTO setup_links (id, organization_id, parts, secret_hash, created_by, created_at, expires_at)"
        " SELECT gen_random_uuid(), %(organization)s, '{domain}', sha256(random()::text::bytea), %(user)s, ended, ended"
        " FROM ends",
    ),
    Leftover.DEVICES: Kind(
        "last_used_at",
        365 * DAY,
        "INSERT INTO devices (id, user_id, name, device_type, last_used_at, created_at, updated_at)"
        " SELECT gen_random_uuid(), %(user)s, '', 'cli', ended, ended, ended FROM ends",
    ),
    Leftover.WEBHOOK_DELIVERIES: Kind(
        "created_at",
        90 * DAY,
        "INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at, created_at,"
        " updated_at)"
        " SELECT gen_random_uuid(), %(organization)s, %(webhook)s, %(event)s, 'webhook.test', ended, ended, ended"
        " FROM ends",
    ),
    Leftover.EVENTS: Kind(
        "occurred_at",
        90 * DAY,
        "INSERT INTO events (id, type, actor_user_id, actor_email, data, occurred_at)"
        " SELECT gen_random_uuid(), 'webhook.test', %(user)s, 'ada@' || ended::date || '.example', '{}', ended"
        " FROM ends",
    ),
    Leftover.SCIM_LOG_ENTRIES: Kind(
        "created_at",
        30 * DAY,
        "INSERT INTO scim_log_entries (id, organization_id, token_id, token_name, method, path, status, created_at)"
        " SELECT gen_random_uuid(), %(organization)s, gen_random_uuid(), '', 'GET', '', 404, ended FROM ends",
    ),
}
leftovers = pytest.mark.parametrize("leftover", Leftover)


@pytest.fixture(autouse=True)
def owner(connection: Connection) -> None:
    """A user with a device and an organization with a webhook and an event, the owners of all rows."""
    values = {**IDS, "now": NOW}
    connection.execute(
        "INSERT INTO users (id, email, created_at, updated_at) VALUES (%(user)s, 'ada@example.com', %(now)s, %(now)s)",
        values,
    )
    connection.execute(
        """
        INSERT INTO devices (id, user_id, name, device_type, last_used_at, created_at, updated_at)
        VALUES (%(device)s, %(user)s, '', 'cli', %(now)s, %(now)s, %(now)s)
        """,
        values,
    )
    # An organization and a service with the ids of the user and the device, and a customer of the sandbox.
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT %(user)s, 'acme', 'Acme', 'active', id, %(now)s, %(now)s FROM tiers WHERE name = 'free'
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
        SELECT %(organization)s, 'bolt', 'Bolt', 'active', id, %(now)s, %(now)s FROM tiers WHERE name = 'free'
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
        VALUES (%(device)s, %(user)s, 'shop', 'Shop', 'web', %(device)s, %(now)s, %(now)s)
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO sessions (id, user_id, provider, amr, authenticated_at, refresh_hash, refreshed_at, expires_at,
                              created_at)
        VALUES (%(session)s, %(user)s, 'password', '{}', %(now)s, '', %(now)s, %(now)s, %(now)s)
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO webhooks (id, organization_id, name, url, events, secret_sealed, created_at, updated_at)
        VALUES (%(webhook)s, %(organization)s, 'hook', 'https://example.com', '{webhook.test}', '', %(now)s, %(now)s)
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO sandbox_customers (id, organization_id, idempotency_key, name, created_at)
        VALUES ('cus_1', %(user)s, '', '', %(now)s)
        """,
        values,
    )
    connection.execute(
        """
        INSERT INTO events (id, type, organization_id, data, occurred_at)
        VALUES (%(event)s, 'webhook.test', %(organization)s, '{}', %(now)s)
        """,
        values,
    )


def put(connection: Connection, leftover: Leftover, *ends: datetime) -> None:
    """Insert rows that end at these times."""
    connection.execute(
        b"WITH ends AS (SELECT unnest(%(ends)s::timestamptz[]) AS ended) " + KINDS[leftover].insert.encode(),
        {**IDS, "ends": list(ends)},
    )


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


@leftovers
def test_an_ended_row_is_deleted_after_its_retention(
    leftover: Leftover, connection: Connection, transact: Callable[..., Any], clock: SettableClock
) -> None:
    ends = [NOW - KINDS[leftover].kept_for - MOMENT * seconds for seconds in (-1, 0, 1)]
    put(connection, leftover, NOW + DAY, *ends)
    assert clock() == NOW

    assert transact(housekeeping.sweep, leftover, leftover.kept_for, 10) == 2

    assert remaining(connection, leftover) == [ends[0], NOW + DAY]


@leftovers
def test_a_batch_deletes_the_oldest_rows_up_to_its_limit(leftover: Leftover, connection: Connection) -> None:
    ends = [NOW - DAY * days for days in (5, 4, 3, 2, 1)]
    put(connection, leftover, *ends)

    assert PostgresHousekeeping(transaction_on(connection)).delete(leftover, NOW - MOMENT, 2) == 2

    assert remaining(connection, leftover) == ends[2:]


@leftovers
def test_concurrent_sweeps_delete_different_rows_without_waiting(
    leftover: Leftover, connection: Connection, database_url: str
) -> None:
    ends = [NOW - DAY * days for days in (5, 4, 3, 2, 1)]
    put(connection, leftover, *ends)

    with connected(database_url) as other, other.transaction():
        other.execute("SET lock_timeout = '1ms'")
        with connection.transaction():
            assert PostgresHousekeeping(transaction_on(connection)).delete(leftover, NOW - MOMENT, 3) == 3
            assert PostgresHousekeeping(transaction_on(other)).delete(leftover, NOW - MOMENT, 3) == 2

    assert remaining(connection, leftover) == []


@leftovers
def test_a_locked_row_is_left_for_the_next_sweep(leftover: Leftover, connection: Connection, database_url: str) -> None:
    put(connection, leftover, NOW - DAY)

    with connected(database_url) as holder, holder.transaction():
        holder.execute(f"SELECT FROM {leftover.value} FOR UPDATE".encode())
        assert PostgresHousekeeping(transaction_on(connection)).delete(leftover, NOW - MOMENT, 3) == 0

    assert PostgresHousekeeping(transaction_on(connection)).delete(leftover, NOW - MOMENT, 3) == 1


@leftovers
@pytest.mark.long
def test_a_sweep_of_a_large_table_uses_an_index(leftover: Leftover, connection: Connection) -> None:
    put_many(connection, leftover)
    connection.execute(f"ANALYZE {leftover.value}".encode())

    with explained_statements(connection) as plans:
        PostgresHousekeeping(transaction_on(connection)).delete(leftover, NOW - MOMENT * (MANY - 1_000), 500)

    [plan] = plans
    # The table of users has one row in this test.
    assert tables_read_whole(plan) <= {"users"}
    assert not [node for node in nodes_of(plan) if "Sort" in node["Node Type"] and node["Actual Rows"] > 500]


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

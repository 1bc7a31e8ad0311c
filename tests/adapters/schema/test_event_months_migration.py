"""The migration that keeps events, deliveries and attempts by month, from a database of version 0.1.0 in use."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest

from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.schema import migrations
from adapters.postgres.webhooks.sequencing import PostgresEventSequencing
from core.ids import PLATFORM
from core.webhooks.events import RETENTION
from tests.ids import new_id, now
from tests.transactions import transaction_on

# The last migration before the months of events.
BEFORE = 61
FILL = """
    INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
    SELECT %(acme)s, 'acme', 'Acme', 'active', id, now(), now() FROM tiers WHERE name = 'free';
    INSERT INTO webhooks (id, organization_id, name, url, events, secret_sealed, created_at, updated_at)
    VALUES (%(hook)s, %(acme)s, 'hook', 'https://example.com', '{user.invited}', '', now(), now());
    INSERT INTO events (id, type, organization_id, data, occurred_at, position)
    VALUES (%(seen)s, 'user.invited', %(acme)s, '{}', now(), 7),
           (%(waits)s, 'user.invited', %(acme)s, '{}', now(), NULL),
           (%(platform)s, 'user.created', NULL, '{}', now(), 6);
    INSERT INTO webhook_deliveries (id, organization_id, webhook_id, event_id, event_type, queued_at, created_at,
                                    updated_at)
    VALUES (%(delivery)s, %(acme)s, %(hook)s, %(seen)s, 'user.invited', now(), now(), now());
    INSERT INTO webhook_attempts (id, organization_id, webhook_id, delivery_id, attempted_at, duration_ms,
                                  request_headers)
    VALUES (%(attempt)s, %(acme)s, %(hook)s, %(delivery)s, now(), 7, '{}');
    UPDATE event_sequencing SET last_position = 7, backlog_before = '2026-01-01'
"""
NAMES = ("acme", "hook", "seen", "waits", "platform", "delivery", "attempt")


@pytest.fixture
def ids() -> dict[str, UUID]:
    return {name: new_id() for name in NAMES}


@pytest.fixture
def upgraded(empty_database_url: str, ids: dict[str, UUID]) -> Iterator[RawConnection]:
    """A database that was upgraded while an event waited."""
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        migrations.migrate(connection, lambda _: None, migrations.known()[:BEFORE])
        for statement in FILL.split(";\n"):
            connection.execute(statement.encode(), ids)
        migrations.migrate(connection, lambda _: None)
        yield connection


def test_rows_stay_and_what_waits_is_handed_on_behind_the_old_positions(
    upgraded: RawConnection, ids: dict[str, UUID]
) -> None:
    names = {event_id: name for name, event_id in ids.items()}
    rows = upgraded.execute("SELECT id, organization_id, position FROM events").fetchall()
    events = {names[event_id]: (organization_id, position) for event_id, organization_id, position in rows}
    assert events == {"seen": (ids["acme"], 7), "waits": (ids["acme"], 0), "platform": (PLATFORM, 6)}

    connection = Connection(upgraded)
    with connection.transaction():
        sequencing = PostgresEventSequencing(transaction_on(connection, now=now()))
        sequencing.assign_positions(sequencing.waiting(10, after=None, kept_since=now() - RETENTION).events)

    assert upgraded.execute("SELECT position FROM events WHERE id = %s", (ids["waits"],)).fetchone() == (8,)
    assert upgraded.execute("SELECT count(*) FROM webhook_deliveries").fetchone() == (2,)


def test_what_is_deleted_takes_along_what_was_there_before(upgraded: RawConnection, ids: dict[str, UUID]) -> None:
    upgraded.execute("DELETE FROM organizations WHERE id = %s", (ids["acme"],))

    assert upgraded.execute(
        """
        SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM webhook_deliveries),
               (SELECT count(*) FROM webhook_attempts)
        """
    ).fetchone() == (1, 0, 0)

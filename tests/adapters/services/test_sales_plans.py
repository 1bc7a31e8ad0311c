"""Lists of what is sold: each query reads a part of an index, however much others have sold."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.services import sales, subscriptions
from tests.plans import explained, indexes_used, rows_read, tables_read_whole
from tests.world.builder import Builder

RARE: Final = UUID("03000000-0000-7000-8000-000000000001")
RARE_CHANGES: Final = 20
COUNTED_MAX: Final = 101
ADDED: Final = 20
CHANGES: Final = """
    INSERT INTO subscription_changes (organization_id, service_id, plan_id, kind, live, late, cents, currency, at,
                                      is_counted)
    SELECT %(organization)s, CASE WHEN n %% 1000 = 0 THEN %(rare)s::uuid ELSE md5((n %% 40)::text)::uuid END,
           md5((n %% 400)::text)::uuid, 'begun', 1, 0, 100, 'usd',
           '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 minute', true
    FROM   generate_series(1, 20000) AS n
"""
PEOPLE: Final = """
    WITH people AS (
        INSERT INTO users (id, email, created_at, updated_at)
        SELECT gen_random_uuid(), 'person-' || n || '@example.com', now(), now() FROM generate_series(1, 3000) AS n
        RETURNING id, email)
    INSERT INTO service_users (service_id, organization_id, user_id, email, first_login_at, last_login_at)
    SELECT s.id, s.organization_id, p.id, p.email, now(), now()
    FROM   people p
    JOIN   services s
           ON s.organization_id = CASE WHEN hashtext(p.email) %% 5 = 0 THEN %(organization)s ELSE %(other)s END
"""
SUBSCRIPTIONS: Final = """
    INSERT INTO subscriptions (id, organization_id, service_id, user_id, plan_id, status, created_at, updated_at)
    SELECT gen_random_uuid(), organization_id, service_id, user_id, %(plan)s, 'active', now(), now()
    FROM   service_users
    WHERE  organization_id = %(organization)s
"""


@pytest.mark.plans
def test_the_changes_of_a_service_are_read_in_their_index(
    builder: Builder, connection: Connection, raw_connection: RawConnection
) -> None:
    acme = builder.organization()
    raw_connection.execute(CHANGES, {"organization": acme, "rare": RARE})
    connection.execute("VACUUM ANALYZE subscription_changes")
    nothing = dict.fromkeys(("kind", "since", "until", "plan_id", "at", "id"))
    values: dict[str, Any] = {"organization_id": acme, "limit": 51, "counted_max": COUNTED_MAX, **nothing}

    for query in (sales.CHANGES, sales.COUNT):
        plan = explained(connection, query, values | {"service_id": RARE})

        assert "subscription_changes_by_service" in indexes_used(plan)
        assert rows_read(plan, "subscription_changes") == RARE_CHANGES


@pytest.mark.plans
def test_adding_changes_up_reads_no_others_that_wait(
    builder: Builder, connection: Connection, raw_connection: RawConnection
) -> None:
    acme = builder.organization()
    raw_connection.execute(CHANGES, {"organization": acme, "rare": RARE})
    # As after an import: when PostgreSQL counted rows, none waited.
    connection.execute("VACUUM ANALYZE subscription_changes")
    connection.execute("UPDATE subscription_changes SET is_counted = false WHERE at < '2026-01-02T00:00:00Z'")

    plan = explained(connection, sales.ADD_UP, {"limit": ADDED})

    assert tables_read_whole(plan) == set()
    assert rows_read(plan, "subscription_changes") <= 4 * ADDED
    assert connection.execute("SELECT count(*) FROM subscription_changes WHERE NOT is_counted").fetchall() == [
        (24 * 60 - 1 - ADDED,)
    ]


@pytest.mark.plans
def test_counting_the_subscriptions_of_many_people_reads_no_more_of_them_than_it_counts(
    builder: Builder, connection: Connection, raw_connection: RawConnection
) -> None:
    acme, other = builder.organization(), builder.organization("globex")
    plan_id = builder.plan(acme, builder.service(acme).id)
    builder.service(other)
    values: dict[str, Any] = {"organization": acme, "other": other, "plan": plan_id}
    raw_connection.execute(PEOPLE, values)
    raw_connection.execute(SUBSCRIPTIONS, values)
    connection.execute("VACUUM ANALYZE")
    nothing = dict.fromkeys(("user_ids", "statuses", "service_id", "plan_id"))

    plan = explained(
        connection,
        subscriptions.SOLD_COUNT,
        {"organization_id": acme, "part": "person-", "counted_max": COUNTED_MAX, **nothing},
    )

    assert "service_users" not in tables_read_whole(plan)
    assert rows_read(plan, "service_users") == COUNTED_MAX

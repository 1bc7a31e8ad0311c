"""Login analytics in PostgreSQL: every query reads one range of one index."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import LiteralString
from uuid import UUID

import pytest

from adapters.postgres.audit import analytics as sql
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.log_times import kept_values
from core.ids import ids_of_days
from tests.plans import explained, indexes_used, nodes_of, rows_read, tables_read_whole

ACME = UUID("02000000-0000-7000-8000-000000000001")
# 20,000 sign-ins of fifty organizations, one per hour and organization, from the beginning of 2026.
MANY = b"""
    INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
    SELECT ('02000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'org-' || n, 'Org', 'active', id, now(), now()
    FROM   generate_series(1, 50) AS n, tiers
    WHERE  tiers.name = 'free';
    INSERT INTO users (id, email, created_at, updated_at)
    VALUES ('01000000-0000-7000-8000-000000000001', 'ada@example.com', now(), now());
    INSERT INTO services (id, organization_id, slug, name, service_type, client_id, created_at, updated_at)
    VALUES ('03000000-0000-7000-8000-000000000001', '02000000-0000-7000-8000-000000000001', 'shop', 'Shop', 'web',
            gen_random_uuid(), now(), now());
    INSERT INTO login_events (id, user_id, organization_id, service_id, provider, success, risk_score,
                              risk_factors, created_at)
    SELECT overlay(gen_random_uuid()::text placing left(first_id_at(at)::text, 13) from 1)::uuid,
           '01000000-0000-7000-8000-000000000001',
           ('02000000-0000-7000-8000-' || lpad((1 + n % 50)::text, 12, '0'))::uuid,
           '03000000-0000-7000-8000-000000000001', 'password', true, 0, '{}',
           at
    FROM   generate_series(0, 19999) AS n
    CROSS  JOIN LATERAL (SELECT '2026-01-01T00:00:00Z'::timestamptz + n / 50 * interval '1 hour') AS moments (at)
"""
NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAYS: dict[str, object] = {
    "organization_id": ACME,
    "start": "2026-01-03",
    "end": "2026-01-05",
    "log_from": "2025-03-01",
    **kept_values(NOW),
    **dict(zip(("from_id", "end_id"), ids_of_days(date(2026, 1, 3), date(2026, 1, 5)), strict=True)),
}
HOURS_OF_DAYS = 3 * 24
# Ids are made up to an hour before the time of their row.
EARLIER = 1
# And up to a minute after it.
NEXT = 1
# One organization has sign-ins in four hundred hours.
DAYS_OF_ONE = 17
# Beside them.
NEIGHBOURS = 2
# The query by day also reads the first and the last sign-in, which bound the days.
EDGES = ("first", "last")


@pytest.mark.one_server
def test_every_query_reads_a_range_of_one_index(connection: Connection, raw_connection: RawConnection) -> None:
    raw_connection.execute(MANY)
    connection.execute("VACUUM ANALYZE")
    queries: tuple[tuple[LiteralString, dict[str, object], int], ...] = (
        (sql.BY_DAY, DAYS, HOURS_OF_DAYS + 3 * (EARLIER + NEXT) + len(EDGES)),
        (sql.BY_SERVICE, DAYS, HOURS_OF_DAYS + EARLIER + NEXT),
        (sql.BY_PROVIDER, DAYS, HOURS_OF_DAYS + EARLIER + NEXT),
        (sql.RECENT, {"organization_id": ACME, "limit": 10, **kept_values(NOW)}, 10),
    )
    for query, values, rows in queries:
        plan = explained(connection, query, values)

        assert "login_events" not in tables_read_whole(plan)
        assert indexes_used(plan) & {"login_events_newest_of_organization", "login_events_pkey"}
        assert rows_read(plan, "login_events") == rows


@pytest.mark.one_server
def test_days_before_the_first_and_after_the_last_sign_in_are_not_generated(
    connection: Connection, raw_connection: RawConnection
) -> None:
    raw_connection.execute(MANY)
    all_days = DAYS | {"start": "0001-01-01", "end": "9999-12-31"}
    without_sign_ins = UUID("02000000-0000-7000-8000-000000000099")

    for organization_id, days_generated in ((ACME, DAYS_OF_ONE + NEIGHBOURS), (without_sign_ins, 0)):
        plan = explained(connection, sql.BY_DAY, all_days | {"organization_id": organization_id})

        [series] = [node for node in nodes_of(plan) if node["Node Type"] == "Function Scan"]
        assert series["Actual Rows"] * series["Actual Loops"] == days_generated

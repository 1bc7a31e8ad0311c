"""The search for organizations and for anything else, and the overview, read indexes of large tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.log_times import kept_values
from adapters.postgres.platform import organization_records, overview, search
from core.ids import FIRST_ID
from core.platform.organization_records import Matches, OrganizationFilter
from tests.postgres import Databases

pytestmark = pytest.mark.long

ORGANIZATIONS = 10_000
NOW = datetime(2026, 2, 3, tzinfo=UTC)
ID = UUID("0191d3c1-0000-7000-8000-00000000000f")


@pytest.fixture(scope="module")
def fleet(databases: Databases) -> Iterator[Connection]:
    """A database with very many organizations, for tests that only explain queries."""
    with databases.for_plans() as url, databases.connection(url) as connection:
        connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            SELECT gen_random_uuid(), 'place-' || n, 'Place ' || n, 'active', (SELECT min(id::text)::uuid FROM tiers),
                   now() - n * interval '1 minute', now()
            FROM   generate_series(1, %s) AS n
            """,
            (ORGANIZATIONS,),
        )
        connection.execute("ANALYZE organizations")
        yield connection


def test_a_rare_text_is_found_by_its_groups_of_characters(fleet: Connection) -> None:
    plan = plan_of(fleet, organization_records.WITH_NAME, text="place-4711", limit=201)

    assert "organizations_letter_groups" in plan


def test_a_page_is_read_in_the_order_of_its_index(fleet: Connection) -> None:
    statement = organization_records.page_of(OrganizationFilter(), Matches())
    for status in (None, "active"):
        kept = kept_values(NOW)
        plan = plan_of(fleet, statement, status=status, tier_id=None, at=None, id=None, limit=26, **kept)

        assert "Seq Scan on organizations" not in plan
        assert "organizations_newest" in plan or "organizations_of_status" in plan


def test_what_is_read_of_the_largest_tables_is_a_range_of_an_index(fleet: Connection) -> None:
    # On empty tables as on large ones, where no other way is left.
    fleet.execute("SET enable_seqscan = off")
    for statement, index, values in (
        (
            search.BY_REQUEST,
            "login_events_before_of_request",
            {"request_id": "a", "hides_owners": True, "limit": 10, "kept_id": FIRST_ID},
        ),
        (
            overview.FAILING_WEBHOOKS,
            "webhook_queues_lost",
            {"since": NOW, "webhooks_max": 9, "limit": 5},
        ),
        (overview.GONE_WEBHOOKS, "webhooks_gone", {"since": NOW, "limit": 5, "counted_max": 10}),
        (overview.FAILING_STREAMS, "siem_streams_failing", {"limit": 5}),
    ):
        assert index in plan_of(fleet, statement, **values), index


def plan_of(connection: Connection, statement: str, **values: Any) -> str:
    rows = connection.execute(b"EXPLAIN " + statement.encode(), values).fetchall()
    return "\n".join(line for (line,) in rows)

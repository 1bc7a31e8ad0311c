"""Jobs in PostgreSQL: what a page or a form reads of them does not grow with the jobs of other organizations."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.organizations.bulk_jobs import PostgresBulkJobs
from core.organizations.bulk_jobs import UNFINISHED_MAX, JobKind
from tests.plans import explained_statements, rows_read, tables_read_whole
from tests.postgres import Databases
from tests.transactions import transaction_on
from tests.world.builder import new_id

# 1,000 organizations with six jobs each, one of which goes on, and as many of the platform as of one of them.
MANY = b"""
    INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
    SELECT gen_random_uuid(), 'org-' || n, 'Org', 'active', tiers.id, now(), now()
    FROM   generate_series(1, 1000) AS n, tiers WHERE tiers.name = 'free';
    INSERT INTO users (id, email, created_at, updated_at) VALUES (gen_random_uuid(), 'a@example.com', now(), now());
    INSERT INTO bulk_jobs (id, organization_id, kind, details, maker_id, session_id, state, rows, due_at, created_at)
    SELECT gen_random_uuid(), o.id, 'members.change', '{}', u.id, gen_random_uuid(),
           CASE n WHEN 1 THEN 'running' ELSE 'finished' END, 1, now(), now() - n * interval '1 day'
    FROM   (SELECT id FROM organizations UNION ALL SELECT NULL) AS o, users u, generate_series(1, 6) AS n
"""


@pytest.fixture(scope="module")
def many(databases: Databases) -> Iterator[Connection]:
    """Very many jobs of others."""
    with databases.for_plans() as url, databases.raw_connection(url) as connection:
        connection.execute(MANY)
        connection.execute("VACUUM ANALYZE")
        yield Connection(connection)


@pytest.mark.parametrize("whose", ["an organization", "the platform"])
def test_the_jobs_of_one_are_found_without_those_of_others(many: Connection, whose: str) -> None:
    [[organization_id]] = many.execute("SELECT id FROM organizations WHERE slug = 'org-500'").fetchall()
    found: UUID | None = organization_id if whose == "an organization" else None
    jobs = PostgresBulkJobs(transaction_on(many))

    with explained_statements(many) as plans:
        page = jobs.page(found, [*JobKind], after=None, limit=26)
        after = jobs.page(found, [*JobKind], after=page[2].position, limit=26)
        counts = jobs.count(found, [*JobKind], counted_max=10_000), jobs.count_unfinished(found)
        shown = jobs.find(found, page[0].id), jobs.find(new_id(), page[0].id)

    assert [len(page), len(after), *counts] == [6, 3, 6, 1]
    assert shown == (page[0], None)
    assert len(plans) == 6
    for plan in plans:
        assert "bulk_jobs" not in tables_read_whole(plan), plan
        assert rows_read(plan, "bulk_jobs") <= 6 + UNFINISHED_MAX, plan

"""Searching audit logs in PostgreSQL: every condition is a range of an index, however long the log is."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from adapters.postgres.audit.entry_search import PostgresAuditSearches
from adapters.postgres.driver.connection import Connection
from core.audit.entry_search import LOOKED_AT_MAX, EntrySearch
from core.ids import moment_of
from core.log_times import LogTimes
from tests.plans import explained_statements, rows_read, tables_read_whole
from tests.transactions import transaction_on

ACME = UUID("02000000-0000-7000-8000-000000000001")
FIRST = UUID("01900000-0000-7000-8000-000000000001")
DAY = timedelta(days=1)
USER = "01910000-0000-7000-8000-000000000001"
# 60,000 entries of two organizations, most of them of acme; what is searched for is rare or none.
MANY = """
    INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
    SELECT ('02000000-0000-7000-8000-00000000000' || n)::uuid, 'org-' || n, 'Org', 'active', id, now(), now()
    FROM   generate_series(1, 2) AS n, tiers
    WHERE  tiers.name = 'free';
    INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, ip_address,
                               request_id, success, details, created_at)
    SELECT ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
           ('02000000-0000-7000-8000-00000000000' || CASE WHEN n % 10 = 0 THEN 2 ELSE 1 END)::uuid,
           CASE n % 3 WHEN 0 THEN NULL ELSE ('01910000-0000-7000-8000-00000000000' || n % 3)::uuid END,
           CASE n % 2 WHEN 0 THEN 'user.invited' ELSE 'service.updated' END, 'user', (n % 5000)::text,
           '192.0.2.' || (n % 2), md5(n::text), true, '{}', now()
    FROM   generate_series(1, 60000) AS n
"""


@pytest.mark.one_server
@pytest.mark.long
def test_a_search_reads_a_part_of_a_range_alone(connection: Connection) -> None:
    for statement in MANY.split(";"):
        connection.execute(statement.encode())
    connection.execute("VACUUM ANALYZE audit_entries")
    searches = PostgresAuditSearches(transaction_on(connection))

    for search in (
        EntrySearch(),
        EntrySearch(actor=USER),
        EntrySearch(actor="system"),
        EntrySearch(actor="api_key:0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"),
        EntrySearch(action="user.invited"),
        EntrySearch(action="user.invited", actor=USER, ip_address="192.0.2.1"),
        EntrySearch(target_type="user", target_id="7"),
        EntrySearch(request_id="no such request", actor=USER),
        EntrySearch(ip_address="192.0.2.1", before_id=UUID("01900000-0000-7000-8000-000000030000")),
        EntrySearch(ip_address="192.0.2.1", times=LogTimes(since=moment_of(FIRST), until=moment_of(FIRST) + DAY)),
    ):
        with explained_statements(connection) as plans:
            found = searches.find(ACME, search, limit=25)

        assert len(found.entries) <= 25
        for plan in plans:
            assert "audit_entries" not in tables_read_whole(plan), search
            # Each of at most three ranges is counted to its limit.
            assert rows_read(plan, "audit_entries") <= 3 * 10_001 + LOOKED_AT_MAX, search

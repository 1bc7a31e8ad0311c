"""The audit log in PostgreSQL: entries are counted in advance, and every filter is a range of an index."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import pytest

from adapters.crypto.randomness import SystemRandomness
from adapters.postgres.audit import audit_log as sql
from adapters.postgres.audit.audit_log import MILESTONE_ENTRIES, PostgresAuditLog
from adapters.postgres.driver.connection import Connection, RawConnection
from core.audit import audit_log
from core.audit.audit_log import SETTLES_AFTER, AuditLogFilter
from core.events.actions import AuditAction, TargetType
from tests.clock import SettableClock
from tests.plans import explained, indexes_used, rows_read, tables_read_whole
from tests.postgres import connected
from tests.transactions import transaction_on

Transact = Callable[..., Any]


FREE_TIER = UUID("00000000-0000-7000-8000-000000000001")
ACME = UUID("02000000-0000-7000-8000-000000000001")
BOLT = UUID("02000000-0000-7000-8000-000000000002")
TARGET = "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"
# All entries of the organization, which are a hundredth of the table.
ENTRIES_READ_MAX = 600
PAGES_MAX = 600
new_id = SystemRandomness().new_id

# 60,000 entries of a hundred organizations; every fourth entry is of one action.
MANY = """
    INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
    SELECT ('02000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'org-' || n, 'Org', 'active', id, now(), now()
    FROM   generate_series(3, 100) AS n, tiers
    WHERE  tiers.name = 'free';
    INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, success, details,
                               created_at)
    SELECT ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
           ('02000000-0000-7000-8000-' || lpad((1 + n % 100)::text, 12, '0'))::uuid, NULL,
           CASE n / 100 % 4 WHEN 0 THEN 'user.invited' ELSE 'service.updated' END,
           CASE n / 100 % 4 WHEN 0 THEN 'user' ELSE 'service' END,
           (n / 400 % 10)::text, true, '{}', now()
    FROM   generate_series(1, 60000) AS n
"""
# A log of one organization that is long enough for two milestones, and a batch that ends at each of them.
LONG = b"""
    INSERT INTO audit_entries (id, organization_id, actor_user_id, action, target_type, target_id, success, details,
                               created_at)
    SELECT ('01900000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, '02000000-0000-7000-8000-000000000001', NULL,
           CASE n % 12 WHEN 0 THEN 'plan.created' ELSE 'user.invited' END,
           CASE n % 12 WHEN 0 THEN 'plan' ELSE 'user' END, n::text, true, '{}', now()
    FROM   generate_series(1, 24000) AS n
"""
LONG_ENTRIES = 24_000
BATCH_ENTRIES = 5_000
# The same with a tenth of the entries, and with milestones at a tenth of the distance.
SHORT = LONG.replace(b"24000", b"2400")
SHORT_ENTRIES = 2_400
SHORT_BATCH_ENTRIES = 500
SHORT_MILESTONE_ENTRIES = 1_000
VALUES: dict[str, object] = {
    "organization_id": ACME,
    "action": "user.invited",
    "kind": "user.invited",
    "target_type": "user",
    "target_id": "0",
    "limit": 50,
    "offset": 10,
}
TARGETED: dict[str, dict[str, object]] = {sql.PAGE_OF_TARGET: {"action": None, "offset": 0}}
KIND_OF: dict[str, dict[str, object]] = {sql.PAGE: {"kind": ""}, sql.PAGE_OF_TARGET_TYPE: {"kind": "user"}}
KINDS: tuple[tuple[LiteralString, str], ...] = (
    (sql.PAGE, "audit_entries_pkey"),
    (sql.PAGE_OF_ACTION, "audit_entries_action"),
    (sql.PAGE_OF_TARGET_TYPE, "audit_entries_target_type"),
    (sql.PAGE_OF_TARGET, "audit_entries_target"),
)


@pytest.fixture(autouse=True)
def organizations(connection: Connection, clock: SettableClock) -> None:
    """Two organizations; the clock is so far ahead that their entries have settled."""
    for organization_id, slug in ((ACME, "acme"), (BOLT, "bolt")):
        connection.execute(
            """
            INSERT INTO organizations (id, slug, name, status, tier_id, created_at, updated_at)
            VALUES (%s, %s, 'An organization', 'active', %s, now(), now())
            """,
            (organization_id, slug, FREE_TIER),
        )
    clock.now = datetime.now(UTC) + 2 * SETTLES_AFTER


def write(connection: Connection, organization_id: UUID = ACME, action: str = "plan.created", times: int = 1) -> None:
    for _ in range(times):
        connection.execute(
            """
            INSERT INTO audit_entries (id, organization_id, action, target_type, target_id, success, details,
                                       created_at)
            VALUES (%s, %s, %s, 'plan', %s, true, '{}', now())
            """,
            (new_id(), organization_id, action, TARGET),
        )


def totals(connection: Connection) -> set[tuple[UUID, str, int]]:
    rows = connection.execute("SELECT organization_id, kind, entries FROM audit_totals WHERE kind LIKE '%.%'")
    return set(rows.fetchall())


def total(connection: Connection, wanted: AuditLogFilter | None = None, organization_id: UUID = ACME) -> int:
    return PostgresAuditLog(transaction_on(connection)).page(
        organization_id, wanted or AuditLogFilter(), limit=1, offset=0
    )[0]


def test_entries_are_counted_by_organization_and_action(connection: Connection, transact: Transact) -> None:
    write(connection, times=2)
    write(connection, action="plan.deleted")
    write(connection, BOLT)

    assert transact(audit_log.count_next, 100) == 4

    assert totals(connection) == {(ACME, "plan.created", 2), (ACME, "plan.deleted", 1), (BOLT, "plan.created", 1)}


def test_each_entry_is_counted_once_in_several_batches(connection: Connection, transact: Transact) -> None:
    write(connection, times=5)

    assert [transact(audit_log.count_next, 2) for _ in range(5)] == [2, 2, 1, 0, 0]

    assert totals(connection) == {(ACME, "plan.created", 5)}
    assert total(connection) == 5


def test_entries_of_the_last_hour_are_counted_by_the_page(
    connection: Connection, transact: Transact, clock: SettableClock
) -> None:
    write(connection, times=2)
    clock.now = datetime.now(UTC) + timedelta(minutes=59)

    assert transact(audit_log.count_next, 100) == 0

    assert totals(connection) == set()
    assert total(connection) == 2


def test_the_total_is_correct_between_two_batches(connection: Connection, transact: Transact) -> None:
    write(connection, times=3)
    write(connection, action="plan.deleted", times=3)

    for _ in range(4):
        assert total(connection) == 6
        assert total(connection, AuditLogFilter(action=AuditAction.PLAN_DELETED)) == 3
        assert total(connection, AuditLogFilter(target_type=TargetType.PLAN)) == 6
        assert total(connection, AuditLogFilter(target_type=TargetType.USER)) == 0
        assert total(connection, AuditLogFilter(target_type=TargetType.PLAN, target_id=TARGET)) == 6
        assert total(connection, organization_id=BOLT) == 0
        transact(audit_log.count_next, 2)


def test_of_two_concurrent_counts_one_counts(connection: Connection, transact: Transact, database_url: str) -> None:
    write(connection, times=2)
    transact(audit_log.count_next, 1)

    with connected(database_url) as other, other.transaction():
        assert PostgresAuditLog(transaction_on(other)).count_next(UUID(int=2**128 - 1), 1) == 1
        assert transact(audit_log.count_next, 100) == 0

    assert totals(connection) == {(ACME, "plan.created", 2)}


def test_a_deleted_organization_leaves_no_totals(connection: Connection, transact: Transact) -> None:
    write(connection)
    write(connection, BOLT)
    transact(audit_log.count_next, 1)

    connection.execute("DELETE FROM organizations WHERE id = %s", (ACME,))
    transact(audit_log.count_next, 100)

    assert totals(connection) == {(BOLT, "plan.created", 1)}


@pytest.mark.parametrize(
    ("wanted", "condition"),
    [
        (AuditLogFilter(), "true"),
        (AuditLogFilter(action=AuditAction.USER_INVITED), "action = 'user.invited'"),
        (AuditLogFilter(action=AuditAction.PLAN_CREATED), "action = 'plan.created'"),
        (AuditLogFilter(target_type=TargetType.USER), "target_type = 'user'"),
        (AuditLogFilter(action=AuditAction.USER_INVITED, target_type=TargetType.USER), "target_type = 'user'"),
    ],
)
def test_a_page_is_the_same_before_and_after_its_entries_are_counted(
    connection: Connection, transact: Transact, wanted: AuditLogFilter, condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "MILESTONE_ENTRIES", SHORT_MILESTONE_ENTRIES)
    connection.execute(SHORT)
    entries = f"SELECT id FROM audit_entries WHERE {condition} AND organization_id = '{ACME}' ORDER BY id DESC"
    expected = [entry_id for (entry_id,) in connection.execute(entries.encode())]
    pages = PostgresAuditLog(transaction_on(connection))

    def check_all() -> None:
        for offset in (0, 7, 190, 300, 1_150, 1_200, 1_451, 2_180, SHORT_ENTRIES - 50, SHORT_ENTRIES - 3, 9_999):
            total, found = pages.page(ACME, wanted, limit=50, offset=offset)
            assert total == len(expected)
            assert [entry.id for entry in found] == expected[offset : offset + 50], offset

    check_all()
    while transact(audit_log.count_next, SHORT_BATCH_ENTRIES):
        check_all()
    # Entries that are younger than the counted ones come first.
    write(connection, times=60, action="user.invited")
    connection.execute("UPDATE audit_entries SET target_type = 'user' WHERE action = 'user.invited'")
    expected = [entry_id for (entry_id,) in connection.execute(entries.encode())]
    check_all()


@pytest.mark.one_server
@pytest.mark.long
def test_a_deep_page_is_found_from_a_milestone(connection: Connection, transact: Transact) -> None:
    connection.execute(LONG)
    while transact(audit_log.count_next, BATCH_ENTRIES):
        pass
    connection.execute("VACUUM ANALYZE")
    milestones = connection.execute("SELECT kind, entries FROM audit_milestones WHERE kind IN ('', 'plan') ORDER BY 2")
    assert milestones.fetchall() == [("", MILESTONE_ENTRIES), ("", 2 * MILESTONE_ENTRIES)]

    for offset, skipped in ((12_000, 1_950), (23_000, 950)):
        plan = explained(connection, sql.PAGE, VALUES | {"kind": "", "offset": offset})

        assert plan["Actual Rows"] == 50
        assert rows_read(plan, "audit_entries") <= skipped + 2 * 50


def test_a_deleted_organization_leaves_no_milestones(connection: Connection, transact: Transact) -> None:
    connection.execute(LONG)
    transact(audit_log.count_next, LONG_ENTRIES)

    connection.execute("DELETE FROM organizations WHERE id = %s", (ACME,))

    assert connection.execute("SELECT count(*) FROM audit_milestones").fetchone() == (0,)


@pytest.mark.one_server
@pytest.mark.long
def test_a_page_of_a_long_log_is_a_range_of_an_index(
    connection: Connection, raw_connection: RawConnection, transact: Transact
) -> None:
    raw_connection.execute(MANY)
    transact(audit_log.count_next, 40_000)
    connection.execute("VACUUM ANALYZE")
    for query, index in KINDS:
        values = VALUES | KIND_OF.get(query, {}) | TARGETED.get(query, {})

        plan = explained(connection, query, values)

        assert plan["Actual Rows"] == (50 if query is not sql.PAGE_OF_TARGET else 15)
        assert "audit_entries" not in tables_read_whole(plan)
        assert index in indexes_used(plan)
        assert rows_read(plan, "audit_entries") <= ENTRIES_READ_MAX
        assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] <= PAGES_MAX

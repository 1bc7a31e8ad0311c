"""Copies the rows into the database, batch by batch, and reports the progress.

A batch bounds the memory, here and in PostgreSQL, which keeps every row of a COPY until its foreign keys are checked. A
table that gets many rows gets them in one transaction, without indexes, foreign keys and triggers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Final, LiteralString, TypeAlias, cast
from uuid import UUID

from psycopg import sql

from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.vault import MasterKey, Vault
from adapters.postgres.audit.audit_log import PostgresAuditLog
from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.service_api.users import PostgresServiceUsers
from adapters.postgres.transaction import Transaction
from core.audit.audit_log import SETTLES_AFTER
from core.sessions.origins import BACKGROUND
from ops.seeding.population import CannotSeed, Plan, address, identifier, slug
from ops.seeding.rows import Table, tables
from ops.seeding.unburdened import without_indexes

Say: TypeAlias = Callable[[str], None]


BATCH_ROWS: Final = 20_000
# How many lines the driver gets at once.
BLOCK_LINES: Final = 1_000
REPORT_SECONDS: Final = 5.0
# From this many rows on it is faster to create the indexes afterwards.
BULK_ROWS_MIN: Final = 100_000
# How many audit entries are counted between two reports; the milestones are further apart than the actor's.
COUNTED_ROWS: Final = 500_000


def seed(connection: RawConnection, plan: Plan, say: Say, *, bulk_rows_min: int = BULK_ROWS_MIN) -> None:
    """Seed a database that was not seeded before; the connection is in autocommit mode."""
    _require_unseeded(connection)
    # A crash of the machine may lose the last transactions, which nothing depends on.
    connection.execute("SET synchronous_commit = off")
    tier_ids = [str(row[0]) for row in connection.execute("SELECT id FROM tiers ORDER BY price_cents, name")]
    filled = [table for table in tables(plan, tier_ids) if table.total]
    for table in filled:
        if table.total < bulk_rows_min:
            _fill(connection, table, say)
            continue
        with without_indexes(connection, table.name, say) as is_fresh:
            _fill(connection, table, say, is_frozen=is_fresh)
    for table in filled:
        _vacuum(connection, table.name, say)
    if plan.memberships:
        _count_members(connection)
        _note_other_members(connection)
        _vacuum(connection, "membership_totals", say)
    if plan.end_users:
        _count_service_users(connection, say)
        _vacuum(connection, "service_user_milestones", say)
    if plan.audit_entries:
        _count_audit_entries(connection, say)
        _vacuum(connection, "audit_totals", say)


def _require_unseeded(connection: RawConnection) -> None:
    found = connection.execute(
        "SELECT EXISTS (SELECT FROM users WHERE email = %s) OR EXISTS (SELECT FROM organizations WHERE slug = %s)",
        (address(0), slug(0)),
    ).fetchone()
    if found != (False,):
        raise CannotSeed(
            "This database was seeded before, perhaps not to the end. Use an empty one: drop it and create it again, or"
            " name another with GATEHOUSE_DATABASE_URL or GATEHOUSE_DATA_DIR."
        )


def _fill(connection: RawConnection, table: Table, say: Say, *, is_frozen: bool = False) -> None:
    copy_in = sql.SQL("COPY {} ({}) FROM STDIN (FREEZE {})").format(
        sql.Identifier(table.name), sql.SQL(cast("LiteralString", table.columns)), sql.Literal(is_frozen)
    )
    began_at = reported_at = time.monotonic()
    for start in range(0, table.total, BATCH_ROWS):
        batch = range(start, min(start + BATCH_ROWS, table.total))
        with connection.cursor().copy(copy_in) as copy:
            for block in _blocks(table.lines(batch)):
                copy.write(block)
        now = time.monotonic()
        if now - reported_at >= REPORT_SECONDS or batch.stop == table.total:
            reported_at = now
            share, rate = batch.stop / table.total, batch.stop / max(now - began_at, 1e-9)
            say(f"{table.name}: {batch.stop:,} of {table.total:,} ({share:.0%}), {rate:,.0f} a second")


def _blocks(lines: Iterator[str]) -> Iterator[str]:
    while block := "".join(islice(lines, BLOCK_LINES)):
        yield block


def _vacuum(connection: RawConnection, name: str, say: Say) -> None:
    say(f"{name}: vacuum and statistics")
    # Not only ANALYZE: old rows of a real database are vacuumed, and autovacuum must not run during the measurements.
    connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(name)))


def _count_members(connection: RawConnection) -> None:
    """Count the members of the organizations: where many were copied, the trigger has counted none of them."""
    connection.execute(
        """
        INSERT INTO membership_totals (organization_id, members, changes, changed_at)
        SELECT   organization_id, count(*), 1, max(created_at)
        FROM     memberships
        GROUP BY organization_id
        ON CONFLICT (organization_id) DO UPDATE SET members = excluded.members
        """
    )


def _note_other_members(connection: RawConnection) -> None:
    """Note which organizations had other members than their founder: of many copied ones the trigger notes none."""
    connection.execute(
        """
        UPDATE organizations
        SET    had_other_members = true
        WHERE  id IN (SELECT organization_id FROM memberships WHERE role <> 'owner') AND NOT had_other_members
        """
    )


def _count_service_users(connection: RawConnection, say: Say) -> None:
    """Count the users of the services: where many were copied, the trigger has recorded none of them."""
    with connection.transaction():
        connection.execute("DELETE FROM service_user_changes")
        connection.execute("DELETE FROM service_user_milestones")
        connection.execute(
            """
            INSERT INTO service_user_milestones (service_id, user_id, users)
            SELECT service_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff', count(*) FROM service_users GROUP BY service_id
            """
        )
        # Accounts were copied without their triggers too, so that all of them have to be counted anew.
        connection.execute("DELETE FROM platform_figures")
    total = 0
    while added := _in_transaction(Connection(connection), lambda now: PostgresServiceUsers(now).add_milestones()):
        total += added
        say(f"service_user_milestones: {total:,} added")


def _count_audit_entries(connection: RawConnection, say: Say) -> None:
    """Count the entries as the actor does, but more of them at a time."""
    ours = Connection(connection)
    before_ms = int((datetime.now(UTC) - SETTLES_AFTER).timestamp() * 1000)
    before = UUID(identifier("audit", 0, before_ms))
    total = 0
    while counted := _in_transaction(ours, lambda now: PostgresAuditLog(now).count_next(before, COUNTED_ROWS)):
        total += counted
        say(f"audit_totals: {total:,} entries counted")


def _in_transaction(connection: Connection, count: Callable[[Transaction], int]) -> int:
    """Return what the aggregate counts, in a transaction of its own."""
    transaction = Transaction(
        connection=connection,
        now=datetime.now(UTC),
        origin=BACKGROUND,
        vault=Vault([MasterKey.generate()]),
        randomness=SystemRandomness(),
    )
    with connection.transaction():
        return count(transaction)

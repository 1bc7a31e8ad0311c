"""Rows on their way into the database: batch by batch, each in a transaction of its own, with a word about how far.

Memory is bounded by a batch, here and in PostgreSQL, which remembers every row of a transaction until it has checked
what the row refers to.
"""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, Final, LiteralString, cast

from psycopg import sql

from ops.seeding.population import CannotSeed, address, slug
from ops.seeding.rows import tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    import psycopg

    from ops.seeding.population import Plan
    from ops.seeding.rows import Table

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]
    Say: TypeAlias = Callable[[str], None]

BATCH_ROWS: Final = 20_000
# So many lines go to the driver in one piece.
BLOCK_LINES: Final = 1_000
REPORT_SECONDS: Final = 5.0


def seed(connection: Connection, plan: Plan, say: Say) -> None:
    """Fill a database that was not seeded before; the connection commits each statement by itself."""
    _insist_on_room(connection)
    # After a crash of the machine the last batches may be missing; nobody has built on them.
    connection.execute("SET synchronous_commit = off")
    tier_ids = [str(row[0]) for row in connection.execute("SELECT id FROM tiers ORDER BY price_cents, name")]
    filled = [table for table in tables(plan, tier_ids) if table.total]
    for table in filled:
        _fill(connection, table, say)
    for table in filled:
        say(f"{table.name}: vacuum and statistics")
        # Not only statistics: what a real database wrote long ago is vacuumed, and nobody has to do it while the first
        # figures are taken.
        connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(table.name)))


def _insist_on_room(connection: Connection) -> None:
    found = connection.execute(
        "SELECT EXISTS (SELECT FROM users WHERE email = %s) OR EXISTS (SELECT FROM organizations WHERE slug = %s)",
        (address(0), slug(0)),
    ).fetchone()
    if found != (False,):
        raise CannotSeed(
            "This database was seeded before, perhaps not to the end. Take an empty one: drop it and create it anew, or"
            " name another with GATEHOUSE_DATABASE_URL or GATEHOUSE_DATA_DIR."
        )


def _fill(connection: Connection, table: Table, say: Say) -> None:
    copy_in = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table.name), sql.SQL(cast("LiteralString", table.columns))
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

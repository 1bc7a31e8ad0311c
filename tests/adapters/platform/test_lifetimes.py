"""Every table of the schema says how long its rows live, and what it says is so."""

from __future__ import annotations

from adapters.postgres.driver.connection import Connection
from core.platform.housekeeping import Leftover
from core.platform.lifetimes import LIFETIMES, Counted, Expiring, Logged, OneRow, Owned
from core.platform.retention import Retention
from tests.postgres import Databases, connected

# A deletion of the owner deletes the row: the columns of the key are never null, or the row could live without it.
CASCADES = """
    SELECT EXISTS (
        SELECT
        FROM   pg_constraint c
        WHERE  c.contype = 'f' AND c.confdeltype = 'c'
          AND  c.conrelid = %(table)s::text::regclass AND c.confrelid = %(owner)s::text::regclass
          AND  NOT EXISTS (SELECT
                           FROM   pg_attribute a
                           WHERE  a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey) AND NOT a.attnotnull))
"""
TRIGGERED = r"""
    SELECT EXISTS (
        SELECT
        FROM   pg_trigger t
        JOIN   pg_proc p ON p.oid = t.tgfoid
        -- The bit says that it runs after a deletion.
        WHERE  t.tgrelid = %(owner)s::text::regclass AND t.tgtype & 8 <> 0
          AND  p.prosrc ~ format('DELETE FROM %%s\M', %(table)s::text))
"""
COLUMNS_OF_KEY = """
    SELECT array_agg(a.attname::text ORDER BY a.attnum)
    FROM   pg_index i
    JOIN   pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE  i.indrelid = %s::text::regclass AND i.indisprimary
"""


def tables(connection: Connection) -> set[str]:
    """Return the tables; a partition is a part of one."""
    rows = connection.execute(
        """
        SELECT relname::text
        FROM   pg_class
        WHERE  relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
        """
    )
    return {name for (name,) in rows}


def holds(connection: Connection, query: str, **values: str) -> bool:
    return connection.execute(query.encode(), values).fetchall() == [(True,)]


def test_every_table_says_how_long_its_rows_live(connection: Connection) -> None:
    existing = tables(connection)

    assert sorted(existing - LIFETIMES.keys()) == [], "name them in core/platform/lifetimes.py"
    assert sorted(LIFETIMES.keys() - existing) == []


def test_rows_that_live_with_an_owner_go_with_it(connection: Connection) -> None:
    owned = {table: lifetime for table, lifetime in LIFETIMES.items() if isinstance(lifetime, Owned)}

    assert len(owned) > 40
    left = [
        table
        for table, lifetime in owned.items()
        if not holds(connection, TRIGGERED if lifetime.has_trigger else CASCADES, table=table, owner=lifetime.owner)
    ]
    assert left == []


def test_the_check_of_owners_finds_a_row_that_would_stay(connection: Connection) -> None:
    # The first has no such key, the second may be null, the third is set to null.
    for table, owner in (("audit_seals", "users"), ("mails", "organizations"), ("branding_versions", "users")):
        assert not holds(connection, CASCADES, table=table, owner=owner), table
    assert not holds(connection, TRIGGERED, table="subscription_day", owner="organizations")
    assert not holds(connection, TRIGGERED, table="subscription_days", owner="users")


def test_every_owner_is_bounded_itself() -> None:
    for table, lifetime in LIFETIMES.items():
        seen = {table}
        while isinstance(lifetime, Owned):
            assert lifetime.owner not in seen, table
            seen.add(lifetime.owner)
            lifetime = LIFETIMES[lifetime.owner]  # noqa: PLW2901 - one owner after the other


def test_a_table_with_one_row_can_have_no_other(connection: Connection) -> None:
    single = [table for table, lifetime in LIFETIMES.items() if isinstance(lifetime, OneRow)]

    assert len(single) == 5
    for table in single:
        assert connection.execute(COLUMNS_OF_KEY.encode(), (table,)).fetchall() == [(["is_the_only_row"],)], table
        checks = connection.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'c' AND conrelid = %s::text::regclass",
            (table,),
        ).fetchall()
        assert ("CHECK (is_the_only_row)",) in checks, table


def test_sums_have_one_row_for_what_they_say(connection: Connection) -> None:
    for table, lifetime in LIFETIMES.items():
        if isinstance(lifetime, Counted):
            [(columns,)] = connection.execute(COLUMNS_OF_KEY.encode(), (table,)).fetchall()
            named = {column.removesuffix("_id").replace("provider", "method") for column in columns}
            assert named == set(lifetime.row_for_each.replace(" and ", ", ").split(", ")), table


def test_every_leftover_and_every_retention_belongs_to_a_table() -> None:
    expiring = [lifetime.leftover for lifetime in LIFETIMES.values() if isinstance(lifetime, Expiring | Logged)]

    assert sorted(leftover.value for leftover in expiring) == sorted(leftover.value for leftover in Leftover)
    for table, lifetime in LIFETIMES.items():
        if isinstance(lifetime, Expiring | Logged):
            assert lifetime.leftover.value == table
    assert {leftover.retention for leftover in expiring} - {None} == set(Retention)


def test_a_table_of_one_row_and_one_that_is_made_with_rows_have_statistics_from_the_first_moment_on(
    databases: Databases,
) -> None:
    one_row = [table for table, lifetime in LIFETIMES.items() if isinstance(lifetime, OneRow)]
    with databases.untouched() as url, connected(url) as connection:
        never_analyzed = connection.execute(
            """
            SELECT relname::text
            FROM   pg_class
            WHERE  relnamespace = 'public'::regnamespace AND relkind = 'r' AND reltuples < 0
            AND    (relname = ANY (%s::text[]) OR pg_relation_size(oid) > 0)
            """,
            (one_row,),
        ).fetchall()

    assert never_analyzed == [], "its migration has to say ANALYZE"

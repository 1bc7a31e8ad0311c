"""Removes indexes, foreign keys and triggers of a table while millions of rows are copied, and restores them.

It is one transaction: after any failure, a power cut included, the table is as it was before. What is removed is read
from the catalogue of PostgreSQL. No other connection can use the table meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final, LiteralString, TypeAlias, cast

from psycopg import sql

from adapters.postgres.driver.connection import RawConnection

Say: TypeAlias = Callable[[str], None]


# Enough to sort an index of twenty million rows in a few runs, and little enough to leave memory to others.
SORTING_MEMORY: Final = "256MB"
# Indexes of constraints stay: foreign keys may refer to them, and ids in ascending order cost little. The names are
# quoted for SQL.
INDEXES: Final = """
    SELECT   indexrelid::regclass::text, replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')
    FROM     pg_index i
    WHERE    indrelid = to_regclass(%s) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)
    ORDER BY 1
"""
FOREIGN_KEYS: Final = """
    SELECT   quote_ident(conname), pg_get_constraintdef(oid)
    FROM     pg_constraint
    WHERE    conrelid = to_regclass(%s) AND contype = 'f'
    ORDER BY 1
"""
IS_REFERRED_TO: Final = "SELECT EXISTS (SELECT FROM pg_constraint WHERE confrelid = to_regclass(%s) AND contype = 'f')"
# The index of each month, where the table is a log, with the log's index and the month.
INDEXES_OF_MONTHS: Final = """
    SELECT   x.relname, inhparent::regclass::text, m.indrelid
    FROM     pg_index i
    JOIN     pg_inherits ON inhparent = i.indexrelid
    JOIN     pg_index m ON m.indexrelid = inhrelid
    JOIN     pg_class x ON x.oid = inhrelid
    WHERE    i.indrelid = to_regclass(%s) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = i.indexrelid)
    ORDER BY 1
"""
INDEX_OF_MONTH: Final = """
    SELECT inhrelid::regclass::text
    FROM   pg_inherits
    JOIN   pg_index ON indexrelid = inhrelid
    WHERE  inhparent = to_regclass(%s) AND indrelid = %s
"""
HAS_MONTHS: Final = "SELECT relkind = 'p' FROM pg_class WHERE oid = to_regclass(%s)"


@contextmanager
def without_indexes(connection: RawConnection, name: str, say: Say) -> Generator[bool]:
    """Remove what slows down a COPY into the table, and restore it; yield whether COPY may freeze the rows."""
    table = sql.Identifier(name)
    with connection.transaction():
        # Only until the end of the transaction.
        connection.execute(sql.SQL("SET LOCAL maintenance_work_mem = {}").format(sql.Literal(SORTING_MEMORY)))
        connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(table))
        indexes = connection.execute(INDEXES, (name,)).fetchall()
        of_months = connection.execute(INDEXES_OF_MONTHS, (name,)).fetchall()
        foreign_keys = connection.execute(FOREIGN_KEYS, (name,)).fetchall()
        is_fresh = _truncated(connection, name)
        connection.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(table))
        for key, _ in foreign_keys:
            connection.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(table, _catalogued(key)))
        for index, _ in indexes:
            connection.execute(sql.SQL("DROP INDEX {}").format(_catalogued(index)))

        yield is_fresh

        for number, (index, definition) in enumerate(indexes, start=1):
            say(f"{name}: index {number} of {len(indexes)}, {index}")
            connection.execute(_catalogued(definition))
        _rename(connection, of_months)
        for number, (key, definition) in enumerate(foreign_keys, start=1):
            say(f"{name}: foreign key {number} of {len(foreign_keys)}, {key}")
            added = sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}")
            connection.execute(added.format(table, _catalogued(key), _catalogued(definition)))
        connection.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(table))


def _has_months(connection: RawConnection, name: str) -> bool:
    """Return whether the table is a log that is kept by month."""
    return connection.execute(HAS_MONTHS, (name,)).fetchone() == (True,)


def _truncated(connection: RawConnection, name: str) -> bool:
    """Truncate the table if it is empty and no other refers to it; COPY freezes rows only in a new file."""
    # A row that COPY freezes is written once; VACUUM would write the whole table a second time.
    is_empty = sql.SQL("SELECT NOT EXISTS (SELECT FROM {})").format(sql.Identifier(name))
    if connection.execute(is_empty).fetchone() != (True,):
        return False
    if connection.execute(IS_REFERRED_TO, (name,)).fetchone() != (False,):
        return False
    if _has_months(connection, name):
        return False
    connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(name)))
    return True


def _rename(connection: RawConnection, of_months: Sequence[tuple[str, str, int]]) -> None:
    """Give the indexes of months their previous names; PostgreSQL has made up others, even the names of each other."""
    for number, (_, index, month) in enumerate(of_months):
        [(made,)] = connection.execute(INDEX_OF_MONTH, (index, month)).fetchall()
        free = sql.Identifier(f"restored_{number}")
        connection.execute(sql.SQL("ALTER INDEX {} RENAME TO {}").format(_catalogued(made), free))
    for number, (name, _, _) in enumerate(of_months):
        free = sql.Identifier(f"restored_{number}")
        connection.execute(sql.SQL("ALTER INDEX {} RENAME TO {}").format(free, sql.Identifier(name)))


def _catalogued(text: str) -> sql.SQL:
    """Return SQL that PostgreSQL itself wrote."""
    return sql.SQL(cast("LiteralString", text))

"""A table without what would slow down millions of rows: indexes, foreign keys, triggers. They come back at the end.

All of it is one transaction: whatever goes wrong meanwhile, a power cut included, the table is as it was before. What
is taken away is read from the catalogue of PostgreSQL, which knows best. Nobody else can use the table meanwhile.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, LiteralString, cast

from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TypeAlias

    from adapters.postgres.driver.connection import RawConnection

    Say: TypeAlias = Callable[[str], None]

# An index of twenty million rows is sorted in a few pieces then, and the machine has room for something else.
SORTING_MEMORY: Final = "256MB"
# What a constraint made goes and comes with the constraint, and others may refer to it; in the order of an id it costs
# little. The names are quoted as SQL needs them.
INDEXES: Final = """
    SELECT   indexrelid::regclass::text, pg_get_indexdef(indexrelid)
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


@contextmanager
def unburdened(connection: RawConnection, name: str, say: Say) -> Generator[bool]:
    """Take away what slows a COPY into the table, and put it back; give whether rows may be frozen as they come."""
    table = sql.Identifier(name)
    with connection.transaction():
        # Until the end of the transaction only.
        connection.execute(sql.SQL("SET LOCAL maintenance_work_mem = {}").format(sql.Literal(SORTING_MEMORY)))
        connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(table))
        indexes = connection.execute(INDEXES, (name,)).fetchall()
        foreign_keys = connection.execute(FOREIGN_KEYS, (name,)).fetchall()
        is_fresh = _made_fresh(connection, name)
        connection.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(table))
        for key, _ in foreign_keys:
            connection.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(table, _catalogued(key)))
        for index, _ in indexes:
            connection.execute(sql.SQL("DROP INDEX {}").format(_catalogued(index)))

        yield is_fresh

        for number, (index, definition) in enumerate(indexes, start=1):
            say(f"{name}: index {number} of {len(indexes)}, {index}")
            connection.execute(_catalogued(definition))
        for number, (key, definition) in enumerate(foreign_keys, start=1):
            say(f"{name}: foreign key {number} of {len(foreign_keys)}, {key}")
            added = sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} {}")
            connection.execute(added.format(table, _catalogued(key), _catalogued(definition)))
        connection.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(table))


def _made_fresh(connection: RawConnection, name: str) -> bool:
    """Begin an empty table anew, if nothing refers to it: only in a new file can rows be frozen as they come."""
    # A row that is frozen as it comes is written once; VACUUM would write the whole table a second time.
    is_empty = sql.SQL("SELECT NOT EXISTS (SELECT FROM {})").format(sql.Identifier(name))
    if connection.execute(is_empty).fetchone() != (True,):
        return False
    if connection.execute(IS_REFERRED_TO, (name,)).fetchone() != (False,):
        return False
    connection.execute(sql.SQL("TRUNCATE {}").format(sql.Identifier(name)))
    return True


def _catalogued(text: str) -> sql.SQL:
    """Take a piece of SQL as PostgreSQL itself wrote it."""
    return sql.SQL(cast("LiteralString", text))

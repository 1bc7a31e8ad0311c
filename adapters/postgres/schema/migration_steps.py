"""What the pending migrations would do to a database, step by step: locks, rows, and about how long.

A step is a migration that runs in one transaction, or one statement of a migration that does not. The locks follow from
the text (`statement_locks.py`), the rows from the statistics of PostgreSQL; nothing is written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema.migration_files import Migration, MigrationStatement, statements
from adapters.postgres.schema.migration_history import MigrationPlan
from adapters.postgres.schema.statement_locks import Held, Lock, NotUnderstood, Work, locks, strongest
from core.lazy_dataclasses import dataclass

# Rows a second on a small server, rounded down; `ops/bench --migrations --full` measures what they follow from.
_ROWS_PER_SECOND: Final = {
    Work.NONE: math.inf,
    Work.READ: 1_000_000,
    Work.INDEX: 300_000,
    Work.CHANGE: 30_000,
    Work.REWRITE: 200_000,
}
_PROOF: Final = re.compile(
    r"ALTER TABLE (?P<table>\w+)\s[^;]*\bCHECK \((?P<column>\w+) IS NOT NULL\) NOT VALID", re.IGNORECASE
)
_NOT_NULL: Final = re.compile(r"ALTER TABLE (?P<table>\w+) ALTER COLUMN (?P<column>\w+) SET NOT NULL", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableUse:
    """What a step does with a table that exists already."""

    table: str
    rows: int
    lock: Lock
    work: Work

    @property
    def seconds(self) -> float:
        """About how long its rows take; at most that for changes, because the text does not say how many."""
        return self.rows / _ROWS_PER_SECOND[self.work]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step, and whether processes of the version whose schema the database has now work beside and after it."""

    name: str
    tables: tuple[TableUse, ...]
    seconds: float
    is_bound: bool
    """Whether the time is an upper bound, because the step changes rows."""
    is_understood: bool
    goes_with_previous: bool

    @property
    def blocking(self) -> tuple[TableUse, ...]:
        """The tables that nothing else can read or write until the end of the step."""
        return tuple(use for use in self.tables if use.lock is Lock.ACCESS_EXCLUSIVE)


def steps(connection: RawConnection, plan: MigrationPlan) -> list[Step]:
    """Return the steps of the pending migrations, in their order."""
    present = len(plan.applied)
    return [
        _step(connection, name, todo, proven=_proven(migration), goes_with_previous=_goes_with(migration, present))
        for migration in plan.pending
        for name, todo in _divided(migration)
    ]


def _proven(migration: Migration) -> set[tuple[str, str]]:
    """Return the columns, each with its table, that a constraint of the migration proves to be never null."""
    return {(proof["table"], proof["column"]) for proof in _PROOF.finditer(migration.sql)}


def _goes_with(migration: Migration, version: int) -> bool:
    return migration.compatible_from is not None and migration.compatible_from <= version


def _divided(migration: Migration) -> list[tuple[str, Sequence[MigrationStatement]]]:
    todo = statements(migration)
    if migration.is_transactional:
        return [(migration.id, todo)]
    return [(f"{migration.id}, {number} of {len(todo)}", [one]) for number, one in enumerate(todo, start=1)]


def _step(
    connection: RawConnection,
    name: str,
    todo: Sequence[MigrationStatement],
    *,
    proven: Collection[tuple[str, str]],
    goes_with_previous: bool,
) -> Step:
    found, seconds, is_understood = list[Held](), 0.0, True
    for statement in todo:
        try:
            taken = [each for held in locks(statement.sql) for each in _named(connection, held)]
        except NotUnderstood:
            is_understood = False
            continue
        declared = _NOT_NULL.fullmatch(statement.sql)
        if declared and (declared["table"], declared["column"]) in proven:
            # PostgreSQL believes the constraint, and reads no row.
            taken = [replace(held, work=Work.NONE) for held in taken]
        found += taken
        # Each statement goes through its tables by itself, so their times add up.
        seconds += sum(use.seconds for use in _used(connection, taken))
    tables = _used(connection, strongest(found))
    return Step(
        name=name,
        tables=tables,
        seconds=seconds,
        is_bound=any(use.work is Work.CHANGE and use.rows for use in tables),
        is_understood=is_understood,
        goes_with_previous=goes_with_previous,
    )


def _named(connection: RawConnection, held: Held) -> list[Held]:
    """Name the table of an index; an index that an earlier step of the plan makes has none yet."""
    if not held.index:
        return [held]
    rows = connection.execute(
        "SELECT indrelid::regclass::text FROM pg_index WHERE indexrelid = to_regclass(%s)", (held.index,)
    ).fetchall()
    return [replace(held, table=table, index="") for (table,) in rows]


def _used(connection: RawConnection, taken: Sequence[Held]) -> tuple[TableUse, ...]:
    rows = dict(
        connection.execute(
            """
            SELECT name, greatest(reltuples, pg_stat_get_live_tuples(oid), 0)::bigint
            FROM   unnest(%s::text[]) AS name
            JOIN   pg_class ON oid = to_regclass(name)
            WHERE  relkind = 'r'
            """,
            ([held.table for held in taken],),
        ).fetchall()
    )
    return tuple(
        TableUse(table=held.table, rows=rows[held.table], lock=held.lock, work=held.work)
        for held in taken
        if held.table in rows
    )

"""The migration files: numbered SQL in the folder beside this one, each executed by `migrations.py`.

Normally the whole file runs in one transaction. A file whose first line is `-- gatehouse: no transaction` runs outside
any, for statements such as `CREATE INDEX CONCURRENTLY`: each statement is committed by itself, and the migration is
recorded after the last one. After an interruption it starts again with its first statement. The author therefore:

- writes only statements that may run twice (`IF NOT EXISTS`, `IF EXISTS`, an `UPDATE` that skips the rows it has done);
- creates an index only as `CREATE [UNIQUE] INDEX CONCURRENTLY IF NOT EXISTS name ON …`. An interrupted one leaves an
  invalid index, which `IF NOT EXISTS` would accept as it is, so the runner first drops an invalid index of that name.
  For an index of a log by month it creates one on each partition, and last the log's own, which takes them over;
- does not use `REINDEX CONCURRENTLY`, which leaves invalid indexes under names that PostgreSQL chooses;
- quotes nothing with dollars: a block of PL/pgSQL would hide what has to be repeatable.

A file may say which versions work with its result, in a line `-- gatehouse: compatible from NNNN`: every version of
Gatehouse whose last migration is that one or a later one. Its processes may keep serving and start again. Without the
line, only versions that have the file work. The line is no part of the checksum.

Files are `NNNN_<what>.sql`, numbered, forward only, and never edited once released. A large table is locked for a
moment only: `ops/bench --migrations` checks that on a seeded database, by hand also with `--full`. A table of one row
is analyzed by its migration and read as a scalar, `(SELECT column FROM table)`, never joined
(ops/decisions/0055-nothing-is-compiled.md). `ops/dump-schema` renews `ops/schema.sql`. A new table gets a line in
`core/platform/lifetimes.py`, with a retention one in `core/platform/housekeeping.py`; personal data get one in
`adapters/postgres/privacy/personal_data.py`, a sealed column one in `rewrap.py`.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import resources
from typing import Final

from core.lazy_dataclasses import dataclass

NO_TRANSACTION: Final = "-- gatehouse: no transaction"

_FILE_NAME: Final = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql")
_COMPATIBLE_FROM: Final = re.compile(r"^-- gatehouse: compatible from (?P<version>\d{4})\s*$", re.MULTILINE)
# What a semicolon may stand in without ending a statement, and the semicolon itself.
_TOKEN: Final = re.compile(
    r"(?P<comment>--[^\n]*)|(?P<quoted>'[^']*'|\"[^\"]*\"|(?P<dollars>\$\w*\$).*?(?P=dollars))|(?P<end>;)", re.DOTALL
)
_INDEX_CREATION: Final = re.compile(r"CREATE\s+(UNIQUE\s+)?INDEX\b", re.IGNORECASE)
_INDEX_DELETION: Final = re.compile(r"DROP\s+INDEX\s+CONCURRENTLY\s+(IF\s+EXISTS\s+)?(?P<index>[a-z_][a-z0-9_]*)")
_REPEATABLE_INDEX_CREATION: Final = re.compile(
    r"CREATE\s+(UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+IF\s+NOT\s+EXISTS\s+(?P<index>[a-z_][a-z0-9_]*)"
    r"\s+ON\s+(?P<table>[a-z_][a-z0-9_]*)(?P<rest>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One step of the schema, as this version of Gatehouse knows it."""

    version: int
    name: str
    sql: str

    @property
    def id(self) -> str:
        """The name of its file, without the ending."""
        return f"{self.version:04d}_{self.name}"

    @property
    def checksum(self) -> str:
        """The fingerprint of the SQL, without line ends, trailing blanks, and the line about compatible versions."""
        lines = (line.rstrip() for line in self.sql.strip().splitlines())
        text = "\n".join(line for line in lines if not _COMPATIBLE_FROM.match(line))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def is_transactional(self) -> bool:
        """Whether the file runs in one transaction."""
        return self.sql.partition("\n")[0].rstrip() != NO_TRANSACTION

    @property
    def compatible_from(self) -> int | None:
        """The oldest schema whose versions work with the one after it; None when only versions that have it do."""
        match = _COMPATIBLE_FROM.search(self.sql)
        return int(match["version"]) if match else None

    def __str__(self) -> str:
        return self.id if self.is_transactional else f"{self.id} (no transaction)"


@dataclass(frozen=True, slots=True)
class IndexCreation:
    """The parts of a statement that creates an index concurrently."""

    kind: str
    index: str
    table: str
    rest: str

    @property
    def at_once(self) -> str:
        """The statement that does not let others write meanwhile."""
        return f"CREATE {self.kind}INDEX IF NOT EXISTS {self.index} ON {self.table}{self.rest}"

    def of_partition(self, partition: str) -> MigrationStatement:
        """Return the statement for a partition of the table, whose index is named after it."""
        index = self.index.replace(self.table, partition, 1)
        return MigrationStatement(
            f"CREATE {self.kind}INDEX CONCURRENTLY IF NOT EXISTS {index} ON {partition}{self.rest}"
        )


@dataclass(frozen=True, slots=True)
class MigrationStatement:
    """One statement of a migration, without comments beside it."""

    sql: str

    @property
    def is_concurrent(self) -> bool:
        """Whether PostgreSQL lets others read and write the table meanwhile."""
        return "CONCURRENTLY" in self.sql

    @property
    def index(self) -> str | None:
        """The name of the index that it creates; None when it does something else."""
        return creation.index if (creation := self.index_creation) is not None else None

    @property
    def dropped_index(self) -> str | None:
        """The name of the index that it drops beside the use of its table; None when it does something else."""
        return match["index"] if (match := _INDEX_DELETION.match(self.sql)) else None

    @property
    def table(self) -> str | None:
        """The table of the index that it creates; None when it does something else."""
        return creation.table if (creation := self.index_creation) is not None else None

    @property
    def index_creation(self) -> IndexCreation | None:
        """What it creates an index of; None when it does something else."""
        if not _INDEX_CREATION.match(self.sql):
            return None
        match = _REPEATABLE_INDEX_CREATION.match(self.sql)
        assert match is not None, f"outside a transaction, write CREATE INDEX CONCURRENTLY IF NOT EXISTS: {self.sql}"
        return IndexCreation(match[1] or "", match["index"], match["table"], match["rest"])


def known() -> tuple[Migration, ...]:
    """List the migrations of this version, oldest first."""
    files = (
        entry
        for entry in (resources.files("adapters.postgres.schema") / "migrations").iterdir()
        if entry.name.endswith(".sql")
    )
    migrations = [_parsed(file.name, file.read_text(encoding="utf-8")) for file in files]
    migrations.sort(key=lambda migration: migration.version)
    assert [migration.version for migration in migrations] == list(range(1, len(migrations) + 1)), (
        "migrations are numbered from one, without gaps and without duplicates"
    )
    return tuple(migrations)


@cache
def newest_version() -> int:
    """Return the number of the last migration of this version."""
    return known()[-1].version


def statements(migration: Migration) -> tuple[MigrationStatement, ...]:
    """Take a migration apart into its statements; refuse one that may not run outside a transaction."""
    found = tuple(MigrationStatement(sql) for sql in _split(migration.sql))
    if not migration.is_transactional:
        assert "$$" not in migration.sql, "outside a transaction, no statement is quoted with dollars"
        # Evaluated here, so that a file which breaks the rules is refused before its first statement runs.
        assert len(created := [s.index for s in found if s.index]) == len(set(created)), "an index is created once"
    return found


def _split(sql: str) -> list[str]:
    pieces, start = [""], 0
    for token in _TOKEN.finditer(sql):
        pieces[-1] += sql[start : token.start()] + (token["quoted"] or "")
        start = token.end()
        if token["end"]:
            pieces.append("")
    pieces[-1] += sql[start:]
    return [stripped for piece in pieces if (stripped := piece.strip())]


def _parsed(file_name: str, sql: str) -> Migration:
    match = _FILE_NAME.fullmatch(file_name)
    assert match is not None, f"{file_name} is not named NNNN_name.sql"
    return Migration(version=int(match["version"]), name=match["name"], sql=sql)

"""The migration files: numbered SQL in the folder beside this one, each executed by `migrations.py`.

Normally the whole file runs in one transaction. A file whose first line is `-- gatehouse: no transaction` runs outside
any, for statements such as `CREATE INDEX CONCURRENTLY`: each statement is committed by itself, and the migration is
recorded after the last one. After an interruption it starts again with its first statement. The author therefore:

- writes only statements that may run twice (`IF NOT EXISTS`, `IF EXISTS`, an `UPDATE` that skips the rows it has done);
- creates an index only as `CREATE [UNIQUE] INDEX CONCURRENTLY IF NOT EXISTS name ON …`. An interrupted one leaves an
  invalid index, which `IF NOT EXISTS` would accept as it is, so the runner first drops an invalid index of that name;
- does not use `REINDEX CONCURRENTLY`, which leaves invalid indexes under names that PostgreSQL chooses;
- ends a line with a semicolon only where a statement ends, and quotes nothing with dollars.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from typing import Final

NO_TRANSACTION: Final = "-- gatehouse: no transaction"

_FILE_NAME: Final = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z0-9_]+)\.sql")
_COMMENT_LINE: Final = re.compile(r"^\s*--.*$", re.MULTILINE)
_STATEMENT_END: Final = re.compile(r";\s*$", re.MULTILINE)
_INDEX_CREATION: Final = re.compile(r"CREATE\s+(UNIQUE\s+)?INDEX\b", re.IGNORECASE)
_REPEATABLE_INDEX_CREATION: Final = re.compile(
    r"CREATE\s+(UNIQUE\s+)?INDEX\s+CONCURRENTLY\s+IF\s+NOT\s+EXISTS\s+(?P<index>[a-z_][a-z0-9_]*)\s+ON\b"
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
        """The fingerprint of the SQL; line ends and trailing blanks do not change it."""
        text = "\n".join(line.rstrip() for line in self.sql.strip().splitlines())
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def is_transactional(self) -> bool:
        """Whether the file runs in one transaction."""
        return self.sql.partition("\n")[0].rstrip() != NO_TRANSACTION

    def __str__(self) -> str:
        return self.id if self.is_transactional else f"{self.id} (no transaction)"


@dataclass(frozen=True, slots=True)
class MigrationStatement:
    """One statement of a migration that runs outside a transaction."""

    sql: str

    @property
    def is_concurrent(self) -> bool:
        """Whether PostgreSQL lets others read and write the table meanwhile."""
        return "CONCURRENTLY" in self.sql

    @property
    def index(self) -> str | None:
        """The name of the index that it creates; None when it does something else."""
        if not _INDEX_CREATION.match(self.sql):
            return None
        match = _REPEATABLE_INDEX_CREATION.match(self.sql)
        assert match is not None, f"outside a transaction, write CREATE INDEX CONCURRENTLY IF NOT EXISTS: {self.sql}"
        return match["index"]


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


def statements(migration: Migration) -> tuple[MigrationStatement, ...]:
    """Take a migration that runs outside a transaction apart into its statements."""
    assert not migration.is_transactional, "a migration in a transaction is executed as a whole"
    assert "$$" not in migration.sql, "quoting with dollars is not understood outside a transaction"
    pieces = (piece.strip() for piece in _STATEMENT_END.split(_COMMENT_LINE.sub("", migration.sql)))
    found = tuple(MigrationStatement(piece) for piece in pieces if piece)
    # Evaluated here, so that a file which breaks the rules is refused before its first statement runs.
    assert len(created := [s.index for s in found if s.index]) == len(set(created)), "an index is created once"
    return found


def _parsed(file_name: str, sql: str) -> Migration:
    match = _FILE_NAME.fullmatch(file_name)
    assert match is not None, f"{file_name} is not named NNNN_name.sql"
    return Migration(version=int(match["version"]), name=match["name"], sql=sql)

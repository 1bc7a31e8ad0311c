"""Inserts rows of which a test says only what matters: the rest of each row is filled in by the kind of its columns."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.crypto.vault import Vault
from adapters.postgres.driver.connection import Connection
from tests.clock import SettableClock
from tests.ids import FollowingRandomness

_COLUMNS = b"""
    SELECT   table_name, column_name, data_type, is_nullable = 'YES' OR column_default IS NOT NULL
    FROM     information_schema.columns
    WHERE    table_schema = 'public'
    ORDER BY table_name, ordinal_position
"""


@dataclass(frozen=True)
class Sealed:
    """A text that the table has sealed."""

    text: str = "a secret"


@dataclass(frozen=True)
class Rows:
    """Inserts rows; `scope` are the values of columns of these names where a row has no others."""

    connection: Connection
    clock: SettableClock
    vault: Vault
    scope: dict[str, Any] = field(default_factory=dict[str, Any])
    columns: dict[str, dict[str, tuple[str, bool]]] = field(
        default_factory=lambda: defaultdict[str, dict[str, tuple[str, bool]]](dict)
    )

    def of(self, **scope: Any) -> Rows:
        """Return what inserts rows of these owners."""
        return Rows(self.connection, self.clock, self.vault, {**self.scope, **scope}, self.columns)

    def add(self, table: str, **given: Any) -> UUID:
        """Insert a row, and return its id; a table without ids returns a new one."""
        if not self.columns:
            for name, column, kind, is_optional in self.connection.execute(_COLUMNS).fetchall():
                self.columns[name][column] = kind, is_optional
        row_id = given.pop("id", None) or self.clock_id()
        values: dict[str, Any] = {}
        for column, (kind, is_optional) in self.columns[table].items():
            if column in given:
                values[column] = given.pop(column)
                if isinstance(values[column], Sealed):
                    row = row_id if "id" in self.columns[table] else next(iter(values.values()))
                    values[column] = self.vault.seal(values[column].text.encode(), table=table, column=column, row=row)
            elif column == "id":
                values[column] = row_id
            elif column in self.scope:
                values[column] = self.scope[column]
            elif not is_optional:
                values[column] = self._filled(kind, f"{table}.{column}", row_id)
            else:
                continue
            if kind == "jsonb" and values[column] is not None:
                values[column] = Jsonb(values[column])
        assert not given, f"{table} has no columns {sorted(given)}"
        names = ", ".join(f'"{name}"' for name in values)
        places = ", ".join("%s" for _ in values)
        self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})".encode(), list(values.values()))
        return row_id

    def set(self, table: str, row_id: UUID, **values: Any) -> None:
        """Change a row."""
        assigned = ", ".join(f"{name} = %s" for name in values)
        self.connection.execute(f"UPDATE {table} SET {assigned} WHERE id = %s".encode(), [*values.values(), row_id])

    def clock_id(self) -> UUID:
        """Return a new id of the present time."""
        return FollowingRandomness(self.clock).new_id()

    def ago(self, **of: float) -> datetime:
        """Return a time before the present one."""
        return self.clock() - timedelta(**of)

    def _filled(self, kind: str, column: str, row_id: UUID) -> Any:
        by_kind = {
            "text": f"{column} <b>",
            "uuid": row_id,
            "timestamp with time zone": self.clock(),
            "date": self.clock().date(),
            "boolean": False,
            "bytea": hashlib.sha256(f"{column}{row_id}".encode()).digest(),
            "jsonb": {},
            "ARRAY": [],
        }
        return by_kind.get(kind, 1)

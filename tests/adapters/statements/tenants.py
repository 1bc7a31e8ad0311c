"""The tables of tenants, read from `ops/schema.sql`, and what the columns of all tables identify.

A table belongs to tenants when it has a column `organization_id`, or a column that refers to such a table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.adapters.statements.exceptions import NOT_OF_TENANTS
from tests.adapters.statements.texts import ROOT

ORGANIZATIONS: Final = "organizations"
SESSIONS: Final = "sessions"
CUSTOMERS: Final = "service_customers"
# Columns that name the organization of a row, or of a session, by another word, and have no foreign key.
NAMED_OTHERWISE: Final = {
    ("billing_customers", "seller_organization_id"): ORGANIZATIONS,
    ("domain_routes", "made_for"): CUSTOMERS,
    ("login_events", "customer_id"): CUSTOMERS,
    ("login_events", "through_organization_id"): ORGANIZATIONS,
    ("memberships", "made_for"): CUSTOMERS,
    ("service_customers", "vendor_id"): ORGANIZATIONS,
    ("sessions", "confined_to"): ORGANIZATIONS,
    ("sessions", "customer_id"): CUSTOMERS,
    ("webhook_attempts", "delivery_id"): "webhook_deliveries",
}
_TABLE: Final = re.compile(r"CREATE TABLE (\w+) \(\n(.*?)\n\)", re.DOTALL)
_VIEW: Final = re.compile(r"CREATE VIEW (\w+) AS\n(.*?);\n", re.DOTALL)
_COLUMN: Final = re.compile(r"^    \"?(\w+)\"? (\w+)", re.MULTILINE)
_KEY: Final = re.compile(r"ALTER TABLE (?:ONLY )?(\w+)\n    ADD CONSTRAINT (\w+) (?:PRIMARY KEY|UNIQUE) \((.*?)\)")
_UNIQUE_INDEX: Final = re.compile(r"CREATE UNIQUE INDEX (\w+) ON (?:ONLY )?(\w+) USING btree \(([\w, ]+)\)")
_REFERENCE: Final = re.compile(
    r"ALTER TABLE (?:ONLY )?(\w+)\n    ADD CONSTRAINT \w+ FOREIGN KEY \((.*?)\) REFERENCES (\w+)\((.*?)\)"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table or view."""

    name: str
    types: Mapping[str, str]
    # The columns of each primary key and unique constraint or index, by its name.
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # By a column, the table to whose rows it refers.
    references: dict[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        return list(self.types)


class Schema:
    """All tables, and which of them belong to tenants."""

    def __init__(self, text: str) -> None:
        self.tables = {name: Table(name, dict(_columns_of(body))) for name, body in _TABLE.findall(text)}
        for table, name, columns in _KEY.findall(text):
            self.tables[table].keys[name] = _names(columns)
        for name, table, columns in _UNIQUE_INDEX.findall(text):
            self.tables[table].keys[name] = _names(columns)
        for table, columns, target, target_columns in _REFERENCE.findall(text):
            for column, target_column in zip(_names(columns), _names(target_columns), strict=True):
                if target_column == "id":
                    self.tables[table].references[column] = target
        for (table, column), target in NAMED_OTHERWISE.items():
            self.tables[table].references[column] = target
        for table in self.tables.values():
            for column in table.columns:
                if (target := self._named_by(column)) is not None:
                    table.references.setdefault(column, target)
        self.views = dict(_VIEW.findall(text))
        self.of_tenants = self._of_tenants()

    def identified(self, table: str, column: str) -> str | None:
        """Return the table of whose rows a column has the id, if it is one of tenants."""
        known = self.tables.get(table)
        if known is None:
            return None
        target = table if column == "id" else known.references.get(column)
        return target if target in self.of_tenants or target == SESSIONS else None

    def is_proved(self, table: str, column: str) -> bool:
        """Return whether only a caller who has proved something knows what a column is compared with.

        That is the hash of a secret, the id of a session, which a token names, or the public name of an organization.
        """
        is_secret = column.endswith("_hash") and self.tables[table].types[column] == "bytea"
        names_one = {(SESSIONS, "id"), (ORGANIZATIONS, "slug"), (ORGANIZATIONS, "internal_of")}
        return (is_secret and column != "email_hash") or (table, column) in names_one

    def _named_by(self, column: str) -> str | None:
        """Return the table to which a column refers by its name; columns of logs do, which have no foreign keys."""
        name = column.removesuffix("_id")
        candidates = (f"{name}s", f"{name.removesuffix('y')}ies")
        return next((one for one in candidates if name != column and one in self.tables), None)

    def _of_tenants(self) -> frozenset[str]:
        found = {ORGANIZATIONS} | {name for name, table in self.tables.items() if "organization_id" in table.types}
        found -= set(NOT_OF_TENANTS)
        while True:
            more = {
                name
                for name, table in self.tables.items()
                if name not in found | set(NOT_OF_TENANTS) and found & set(table.references.values())
            }
            if not more:
                return frozenset(found)
            found |= more


def schema() -> Schema:
    """Return the schema of this version."""
    return Schema((ROOT / "ops" / "schema.sql").read_text())


def _columns_of(body: str) -> list[tuple[str, str]]:
    return [(name, type_) for name, type_ in _COLUMN.findall(body) if name != "CONSTRAINT"]


def _names(columns: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", columns))

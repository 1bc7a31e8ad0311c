"""Writes ops/schema.sql: the schema after all migrations, in a readable form, without the partitions of logs.

It is the output of pg_dump on the embedded PostgreSQL, without what differs between two runs or does not describe the
schema, and with everything about a table in one place. Foreign keys come last, so that the file can be loaded.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import psycopg

from adapters.postgres.embedded.programs import programs_folder
from adapters.postgres.embedded.server import EmbeddedPostgres
from adapters.postgres.schema import migrations

SCHEMA = Path(__file__).parent / "schema.sql"
DUMP_SECONDS_MAX = 60
PREAMBLE = (
    "-- The schema after all migrations, written by ops/dump-schema. To change it, add a migration and run that.\n"
)

_HEADING = re.compile(r"^--\n-- Name: (?P<name>.*); Type: (?P<kind>.*); Schema: .*\n--\n", re.MULTILINE)
_OWNER_OF_INDEX = re.compile(r" ON (?:ONLY )?(?P<table>\w+) USING ")
_QUALIFIER = re.compile(r"\bpublic\.")
_NOISE = re.compile(r"^(?:SET .*|\\(?:un)?restrict .*|-- PostgreSQL database dump complete|--)\n", re.MULTILINE)


class Item(NamedTuple):
    """One object of the database."""

    name: str
    kind: str
    sql: str

    @property
    def table(self) -> str | None:
        """The table that it belongs to, or None."""
        match self.kind:
            case "TABLE":
                return self.name
            case "COMMENT":
                place, _, name = self.name.partition(" ")
                return name.partition(".")[0] if place in {"TABLE", "COLUMN"} else None
            case "CONSTRAINT" | "DEFAULT" | "TRIGGER":
                return self.name.partition(" ")[0]
            case "INDEX":
                owner = _OWNER_OF_INDEX.search(self.sql)
                return owner and owner["table"]
            case _:
                return None


def dump(url: str) -> str:
    """Return the schema of a database as SQL."""
    with psycopg.connect(url) as connection:
        partitions = connection.execute(
            "SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'"
        ).fetchall()
    left_out = [f"--exclude-table=public.{name}" for (name,) in partitions]
    program, options = (
        programs_folder() / "pg_dump",
        ["--schema-only", "--schema=public", "--no-owner", "--no-privileges"],
    )
    command = [program, *options, *left_out, url]
    finished = subprocess.run(command, check=True, capture_output=True, text=True, timeout=DUMP_SECONDS_MAX)
    return PREAMBLE + "".join(f"\n{sql}\n" for sql in _arranged(_items(finished.stdout)))


def _items(text: str) -> list[Item]:
    # Split at the headings: the text before the first is noise, then come name, kind and statement in turn.
    _, *parts = _HEADING.split(text)
    return [
        Item(name, kind, _QUALIFIER.sub("", _NOISE.sub("", sql)).strip())
        for name, kind, sql in zip(parts[0::3], parts[1::3], parts[2::3], strict=True)
        if kind != "SCHEMA" and name != "SCHEMA public"
    ]


def _arranged(items: list[Item]) -> list[str]:
    tables: dict[str, list[str]] = defaultdict(list)
    rows = tuple(f"({item.name}{end}" for item in items if item.kind == "TABLE" for end in (")", ","))
    before, after = list[str](), list[str]()
    for item in items:
        if item.table is not None:
            tables[item.table].append(item.sql)
        elif item.kind in {"FK CONSTRAINT", "VIEW"} or item.name.startswith("VIEW "):
            after.append(item.sql)
        elif any(row in _QUALIFIER.sub("", item.name) for row in rows):
            # A function of the rows of a table needs the table.
            after.append(item.sql)
        else:
            before.append(item.sql)
    return [*before, *("\n".join(tables[name]) for name in sorted(tables)), *after]


def main() -> None:
    """Migrate an empty database and write its schema."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-schema-") as folder, EmbeddedPostgres(Path(folder)) as url:
        with migrations.connected(url) as connection:
            migrations.migrate(connection, print)
        SCHEMA.write_text(dump(url))
    print(f"Wrote {SCHEMA}.")


if __name__ == "__main__":
    main()

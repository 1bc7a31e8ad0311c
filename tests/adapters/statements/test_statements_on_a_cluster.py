"""Each statement that names a log is one that a cluster takes.

It is planned there with a value for each parameter, and so is what the nodes are asked for: some of it is refused by
them alone, such as a part of a statement that returns rows without columns. Then it is executed and undone: some is
refused no sooner, such as an update by a function of a column that is not immutable.
"""

from __future__ import annotations

import re
from typing import Final
from uuid import UUID

import psycopg
import pytest

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema.distribution import LOGS
from tests.adapters.statements.texts import read
from tests.citus_databases import CitusDatabases

pytestmark = pytest.mark.long

STATEMENTS_MIN: Final = 250
NAMES_A_LOG: Final = re.compile(rf"\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(?:{'|'.join(LOGS)})\b")
PLACEHOLDER: Final = re.compile(r"%(?:\((\w+)\))?[sbt]")
NOT_PLANNED_BY_A_NODE: Final = "Could not get remote plan"
ID: Final = str(UUID("019c21ac-e950-77c1-a6f5-c871726c1d52"))
VALUES: Final = {
    "bigint": "1",
    "boolean": "true",
    "bytea": "x",
    "date": "2026-11-01",
    "double precision": "1",
    "integer": "1",
    "interval": "1 day",
    "json": "{}",
    "jsonb": "{}",
    "numeric": "1",
    "smallint": "1",
    # Some are cast to an id.
    "text": ID,
    "timestamp with time zone": "2026-11-01T00:00:00Z",
    "timestamp without time zone": "2026-11-01T00:00:00",
    "uuid": ID,
}


@pytest.fixture(scope="session")
def databases(citus_databases: CitusDatabases) -> CitusDatabases:
    """The maker of databases for this module: on a cluster."""
    return citus_databases


def numbered(text: str) -> str:
    """Return a statement with the placeholders of PostgreSQL."""
    # This parameter of a search is a text in one condition, and the id that it says in another.
    text = text.replace("%(actor)s::uuid", "%(actor)s::text::uuid")
    names = dict[str, int]()

    def number(found: re.Match[str]) -> str:
        return f"${names.setdefault(found[1] or str(len(names)), len(names) + 1)}"

    return PLACEHOLDER.sub(number, text).replace("%%", "%")


def value_of(type_name: str) -> str:
    """Return a value of a type."""
    of_one = VALUES[type_name.removesuffix("[]")]
    return f"""'{{"{of_one}"}}'""" if type_name.endswith("[]") else f"'{of_one}'"


def plan_and_execute(connection: RawConnection, text: str) -> str:
    """Return the plan of a statement, which is executed and undone."""
    with connection.transaction(force_rollback=True):
        connection.execute(f"PREPARE one AS {numbered(text)}".encode())
        [(types,)] = connection.execute("SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'one'")
        one = f"one ({', '.join(map(value_of, types))})" if types else "one"
        plan = connection.execute(f"EXPLAIN (COSTS OFF) EXECUTE {one}".encode()).fetchall()
        try:
            connection.execute(f"EXECUTE {one}".encode())
        except psycopg.Error as error:
            # The values fit no row and no constraint, which is an internal error where rows are copied to a node.
            if not isinstance(error, psycopg.DataError | psycopg.IntegrityError) and "violates" not in str(error):
                raise
    connection.execute("DEALLOCATE ALL")
    return "\n".join(line for (line,) in plan)


def test_a_cluster_takes_every_statement_that_names_a_log(raw_connection: RawConnection) -> None:
    statements = [sent for sent in read()[0] if NAMES_A_LOG.search(sent.text)]
    refused: dict[str, str] = {}

    for sent in statements:
        try:
            plan = plan_and_execute(raw_connection, sent.text)
        except psycopg.Error as error:
            refused[sent.source] = str(error)
            raw_connection.execute("DEALLOCATE ALL")
        else:
            if NOT_PLANNED_BY_A_NODE in plan:
                refused[sent.source] = plan

    assert refused == {}
    assert len(statements) > STATEMENTS_MIN

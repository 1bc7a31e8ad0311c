"""Query plans: the plan of a prepared statement, and what its execution read.

Of one server: the plans of the nodes of a cluster are not read, and sometimes it leaves one out of what should be JSON.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, LiteralString

from psycopg.sql import SQL, Literal

from adapters.postgres.driver.columns import Row, RowFactory, scalar_row, tuple_row
from adapters.postgres.driver.connection import Connection, Cursor
from adapters.postgres.driver.statements import Parameters, Text

EXPLAIN = b"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "
_PARTITION = re.compile(r"_(before|after|\d{4}_\d{2})$")
# Other statements, such as BEGIN, have no plan.
_PLANNED = (b"SELECT", b"(SELECT", b"WITH", b"INSERT", b"UPDATE", b"DELETE")


@contextmanager
def explained_statements(connection: Connection) -> Generator[list[dict[str, Any]]]:
    """Yield a list of the plans of all statements run on a connection. Each runs twice, first to explain it."""
    _require_same_rows(connection)
    plans: list[dict[str, Any]] = []

    def cursor(*, row_factory: RowFactory[Row] = tuple_row, binary: bool = False) -> Cursor[Row]:
        explaining = _Explaining(connection, connection._statements, row_factory, is_binary=binary)
        explaining.plans = plans
        return explaining

    vars(connection)["cursor"] = cursor
    try:
        yield plans
    finally:
        del vars(connection)["cursor"]


class _Explaining(Cursor[Row]):
    """A cursor that explains each statement before running it."""

    plans: list[dict[str, Any]]

    def execute(self, text: Text, parameters: Parameters = (), *, prepare: bool = True) -> Cursor[Row]:
        self._explain(text, parameters)
        return super().execute(text, parameters, prepare=prepare)

    def defer(self, text: Text, parameters: Parameters = ()) -> Cursor[Row]:
        self._explain(text, parameters)
        return super().defer(text, parameters)

    def _explain(self, text: Text, parameters: Parameters) -> None:
        query = text if isinstance(text, bytes) else text.encode()
        if query.lstrip().startswith(_PLANNED):
            explaining = Cursor(self._connection, self._statements, scalar_row, is_binary=False)
            [[found]] = explaining.execute(EXPLAIN + query, parameters, prepare=False)
            self.plans.append(found["Plan"])


def explained(connection: Connection, query: LiteralString, values: Mapping[str, object]) -> dict[str, Any]:
    """Run a query with these values as a prepared statement, and return its plan."""
    _require_same_rows(connection)
    named = {name: value for name, value in values.items() if f"%({name})s" in query}
    numbered = query % {name: f"${number}" for number, name in enumerate(named, start=1)} if named else query
    connection.execute(_without_placeholders(f"PREPARE explained AS {numbered}".encode()))
    try:
        [[[found]]] = connection.execute(EXPLAIN + _without_placeholders(_execution(named)), prepare=False)
    finally:
        connection.execute("DEALLOCATE explained")
    return found["Plan"]


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a plan, from the top."""
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes_of(child)


def tables_read_whole(plan: dict[str, Any]) -> set[str]:
    """Return the tables that were scanned sequentially; of logs, only where a month with rows was."""
    scans = [node for node in nodes_of(plan) if node["Node Type"] == "Seq Scan"]
    tables = [(node["Relation Name"], table_of(node["Relation Name"]), _rows_of(node)) for node in scans]
    return {table for name, table, rows in tables if name == table or rows}


def indexes_used(plan: dict[str, Any]) -> set[str]:
    """Return the indexes that were used; a log's by the names that they have there."""
    return {node["Index Name"].replace("_before_", "_") for node in nodes_of(plan) if "Index Name" in node}


def table_of(relation: str) -> str:
    """Return the table of a plan's relation: of a partition the log."""
    return _PARTITION.sub("", relation)


def pages_read(plan: dict[str, Any]) -> int:
    """Return how many pages of tables and indexes were read, in memory or not."""
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def rows_read(plan: dict[str, Any], table: str) -> float:
    """Return how many rows of a table were read, counting repeated reads and rows that a filter removed."""
    return sum(_rows_of(node) for node in nodes_of(plan) if table_of(node.get("Relation Name", "")) == table)


def blocks_read(plan: dict[str, Any]) -> int:
    """Return how many blocks were looked at, in memory or not, each as often as it was."""
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def _require_same_rows(connection: Connection) -> None:
    """Fail in a database whose rows and statistics are others in each run (`Databases.for_plans`)."""
    query = "SELECT to_regnamespace('drawn') IS NULL AND to_regclass('pg_dist_node') IS NULL"
    [[is_shared]] = connection.execute(query, prepare=False)
    assert not is_shared, "the test reads plans: mark it `plans`, or make its database by `for_plans`"


def _rows_of(node: dict[str, Any]) -> float:
    return (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]


def _execution(values: Mapping[str, object]) -> bytes:
    given = SQL(", ").join(Literal(value) for value in values.values())
    return (SQL("EXECUTE explained ({})").format(given) if values else SQL("EXECUTE explained")).as_bytes()


def _without_placeholders(text: bytes) -> bytes:
    """Return the text with its percent signs escaped."""
    return text.replace(b"%", b"%%")

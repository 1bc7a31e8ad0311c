"""How the database does what it is asked: the plan of a query as the driver would prepare it, and what it took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.sql import SQL, Composed, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import LiteralString

    from adapters.postgres.pool import Connection


def explained(connection: Connection, query: LiteralString, values: Mapping[str, object]) -> dict[str, Any]:
    """Run a query with these values as a prepared statement, and give its plan."""
    named = {name: value for name, value in values.items() if f"%({name})s" in query}
    numbered = query % {name: f"${number}" for number, name in enumerate(named, start=1)} if named else query
    connection.execute(f"PREPARE explained AS {numbered}".encode())
    try:
        row = connection.execute(SQL("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ") + _execution(named)).fetchone()
    finally:
        connection.execute("DEALLOCATE explained")
    assert row is not None
    return row[0][0]["Plan"]


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """List the nodes of a plan, from the top."""
    yield plan
    for child in plan.get("Plans", []):
        yield from nodes_of(child)


def tables_read_whole(plan: dict[str, Any]) -> set[str]:
    """Name the tables that were read from end to end."""
    return {node["Relation Name"] for node in nodes_of(plan) if node["Node Type"] == "Seq Scan"}


def indexes_used(plan: dict[str, Any]) -> set[str]:
    """Name the indexes that were used."""
    return {node["Index Name"] for node in nodes_of(plan) if "Index Name" in node}


def rows_read(plan: dict[str, Any], table: str) -> int:
    """Count the rows of a table that were looked at, however often; those that a filter left out as well."""
    return sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in nodes_of(plan)
        if node.get("Relation Name") == table
    )


def _execution(values: Mapping[str, object]) -> Composed:
    given = SQL(", ").join(Literal(value) for value in values.values())
    return SQL("EXECUTE explained ({})").format(given) if values else SQL("EXECUTE explained").format()

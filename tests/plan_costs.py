"""What PostgreSQL's planner expects our statements to cost: recorded while the real code sends them, explained later.

PostgreSQL plans a prepared statement with its values five times, and then for any values unless that is dearer. So
both plans of a statement are looked at.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import psycopg
from psycopg.abc import Buffer
from psycopg.pq import ExecStatus, Format
from psycopg.pq.abc import PGresult

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.driver.statements import Statement, Statements
from tests.plans import nodes_of, table_of

# Other statements, such as BEGIN, have no plan.
_PLANNED: Final = ("SELECT", "(SELECT", "WITH", "INSERT", "UPDATE", "DELETE")
_NUMBERS: Final = count(1)


@dataclass(frozen=True)
class Sent:
    """A statement as it was sent, with the values that it had first."""

    text: str
    types: tuple[int, ...]
    values: Sequence[Buffer | None]
    formats: Sequence[Format]
    is_prepared: bool

    def __str__(self) -> str:
        return " ".join(self.text.split())


@dataclass(frozen=True)
class PlanCost:
    """What a plan costs, as the planner expects; `is_generic` is one for any values."""

    sent: Sent
    is_generic: bool
    plan: dict[str, Any]

    @property
    def cost(self) -> float:
        """The estimate for all of it."""
        return self.plan["Total Cost"]

    def __str__(self) -> str:
        kind = "for any values" if self.is_generic else "with its values"
        return f"cost {self.cost:,.0f}, planned {kind}, because of {self.cause()}: {self.sent}"

    def cause(self) -> str:
        """Return where the cost is: the lowest node that has half of it, however often that is repeated."""
        node = self.plan
        while dearer := max(node.get("Plans", []), key=lambda child: child["Total Cost"], default=None):
            if dearer["Total Cost"] < self.cost / 2:
                break
            node = dearer
        place = node.get("Relation Name") or node.get("CTE Name") or node.get("Subplan Name") or ""
        return f"{node['Node Type']} {place}".strip() + f" of {node['Plan Rows']:,} rows"

    def scans(self) -> Iterable[dict[str, Any]]:
        """Yield the nodes that read a table, those of a partition by the name of the log."""
        return ({**node, "Table": table_of(node["Relation Name"])} for node in nodes_of(self.plan)
                if "Relation Name" in node and node["Node Type"] != "ModifyTable")  # fmt: skip


@contextmanager
def statements_as_sent() -> Generator[dict[tuple[str, tuple[int, ...]], Sent]]:
    """Record each statement of all our connections that has a plan, with the values that it has first."""
    recorded: dict[tuple[str, tuple[int, ...]], Sent] = {}
    # `Any`, because the type checker forbids replacing a method; it is restored afterwards.
    statements: Any = Statements
    send = statements._send

    def record(self: Statements, statement: Statement) -> Any:
        text = statement.text.decode()
        if text.lstrip().startswith(_PLANNED) and (text, statement.types) not in recorded:
            recorded[text, statement.types] = Sent(
                text, statement.types, list(statement.values), list(statement.formats), statement.is_prepared
            )
        return send(self, statement)

    statements._send = record
    try:
        yield recorded
    finally:
        statements._send = send


def plan_costs(connection: RawConnection, statements: Iterable[Sent]) -> list[PlanCost]:
    """Return the plans of statements in the database of a connection, which runs none of them."""
    found = list[PlanCost]()
    for sent in statements:
        found.append(PlanCost(sent, False, _with_values(connection, sent)))
        if sent.is_prepared:
            found.append(PlanCost(sent, True, _for_any_values(connection, sent)))
    return found


def _with_values(connection: RawConnection, sent: Sent) -> dict[str, Any]:
    text = b"EXPLAIN (FORMAT JSON) " + sent.text.encode()
    return _plan(connection.pgconn.exec_params(text, sent.values, sent.types, sent.formats), sent)


def _for_any_values(connection: RawConnection, sent: Sent) -> dict[str, Any]:
    pgconn, name = connection.pgconn, f"explained_{next(_NUMBERS)}"
    prepared = pgconn.prepare(name.encode(), sent.text.encode(), sent.types)
    assert prepared.status == ExecStatus.COMMAND_OK, f"{prepared.error_message.decode()} {sent}"
    values = f"({', '.join(['NULL'] * len(sent.values))})" if sent.values else ""
    pgconn.exec_(b"SET plan_cache_mode = force_generic_plan")
    try:
        return _plan(pgconn.exec_(f"EXPLAIN (FORMAT JSON) EXECUTE {name}{values}".encode()), sent)
    finally:
        pgconn.exec_(b"RESET plan_cache_mode")
        pgconn.exec_(f"DEALLOCATE {name}".encode())


def _plan(answer: PGresult, sent: Sent) -> dict[str, Any]:
    if answer.status != ExecStatus.TUPLES_OK:
        raise psycopg.DatabaseError(f"{answer.error_message.decode()} {sent}")
    value = answer.get_value(0, 0)
    assert value is not None, "EXPLAIN answers with a row"
    [explained] = json.loads(value)
    return explained["Plan"]

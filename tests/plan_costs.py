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
from adapters.postgres.driver.timed_connection import TimedConnection
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
        """Return where the cost is: the lowest node that has half of it, with the tables that it reads."""
        node = self.plan
        while dearer := max(node.get("Plans", []), key=_total_cost, default=None):
            if dearer["Total Cost"] < self.cost / 2:
                break
            node = dearer
        read = {table_of(one["Relation Name"]): None for one in nodes_of(node) if "Relation Name" in one}
        return f"{node['Node Type']} of {', '.join(read) or 'no table'}, {node['Plan Rows']:,} rows"


def _total_cost(node: dict[str, Any]) -> float:
    return node["Total Cost"]


@contextmanager
def statements_as_sent() -> Generator[dict[tuple[str, tuple[int, ...]], Sent]]:
    """Record each statement of the application that has a plan, with its first values; leave the tests' own out."""
    recorded: dict[tuple[str, tuple[int, ...]], Sent] = {}
    # `Any`, because the type checker forbids replacing a method; it is restored afterwards.
    statements: Any = Statements
    send = statements._send

    def record(self: Statements, statement: Statement) -> Any:
        text = statement.text.decode()
        # A test's own connection is one of the driver.
        is_ours = isinstance(self._transformer.connection, TimedConnection)
        if is_ours and text.lstrip().startswith(_PLANNED) and (text, statement.types) not in recorded:
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

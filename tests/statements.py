"""The statements that are sent to the database: their number, and whether they contain secrets."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from adapters.postgres.driver.statements import Statement, Statements

# What stores the event of a sign-in, and what looks for one in the same part of the log and stores none.
_STORES, _LOOKS = "INSERT INTO login_events", "DELETE FROM login_events"
# What publishes an event, to all its organizations, and what takes as long where there is none.
_PUBLISHES, _PUBLISHES_NONE = "INSERT INTO events", "DELETE FROM events"
# Every transaction has these, whatever it does; and a connection that is opened for the first request its check.
_FRAME = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SELECT ARRAY(SELECT current_setting(name)")


@contextmanager
def recorded_statements() -> Generator[list[str]]:
    """Record the statements of all our connections, in order and without their values."""
    recorded: list[str] = []
    # `Any`, because the type checker forbids replacing a method; it is restored afterwards.
    statements: Any = Statements
    send = statements._send

    def record(self: Statements, statement: Statement) -> Any:
        text = " ".join(statement.text.decode().split())
        if not text.startswith(_FRAME):
            recorded.append(text)
        return send(self, statement)

    statements._send = record
    try:
        yield recorded
    finally:
        statements._send = send


def alike(statements: list[str]) -> list[str]:
    """Return the statements with one name for what stores an event, of whichever rows, and for what looks for one."""
    return [_name_of(statement) for statement in statements]


def _name_of(statement: str) -> str:
    if statement.startswith((_STORES, _LOOKS)):
        return _STORES
    if statement.startswith((_PUBLISHES, _PUBLISHES_NONE)):
        return _PUBLISHES
    return statement

"""What is sent to the database: how many statements something takes, and whether they give anything away."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adapters.postgres.driver.statements import Statements

if TYPE_CHECKING:
    from collections.abc import Generator

    from adapters.postgres.driver.statements import Statement

# Every transaction has these, and they say nothing of what is done in it.
_FRAME = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")


@contextmanager
def recorded_statements() -> Generator[list[str]]:
    """Record the statements of all our connections, in their order and without their values."""
    recorded: list[str] = []
    # To the type checker a method of a class is not to be replaced; afterwards it is as it was.
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

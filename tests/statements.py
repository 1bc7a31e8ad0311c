"""What is sent to the database: how many statements something takes, and whether they give anything away."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def recorded_statements() -> Generator[list[str]]:
    """Record the statements of all connections, in their order and without their values."""
    recorded: list[str] = []
    # To the type checker an attribute of a class is not to be replaced; afterwards it is as it was.
    cursor: Any = psycopg.Cursor
    originals = {name: getattr(cursor, name) for name in ("execute", "executemany")}

    def recording(name: str) -> Any:
        def record(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
            # The empty statement is how the pool asks a connection whether it is there.
            recorded.extend(text for text in [" ".join(str(query).split())] if text)
            return originals[name](self, query, *args, **kwargs)

        return record

    for name in originals:
        setattr(cursor, name, recording(name))
    try:
        yield recorded
    finally:
        for name, original in originals.items():
            setattr(cursor, name, original)

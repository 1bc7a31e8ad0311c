"""A connection that records a span for each round trip: the kinds of its statements, and never a value.

It takes the place of `Connection` only where traces are on, so that without them no statement costs more.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from adapters.postgres.driver.connection import Connection, RawConnection
from adapters.postgres.driver.statements import TEXTS_MAX
from adapters.postgres.driver.write_failures import WriteFailures
from ports.tracing import SpanKind, Tracer

# Of one round trip, in the name of its span.
NAMED_STATEMENTS_MAX: Final = 4
_COMMENT: Final = re.compile(rb"--[^\n]*")
_KIND: Final = re.compile(rb"[A-Za-z]+")
# The first table that a statement names. A text is of our code, so this is the name of a table, a function or a part.
_TARGET: Final = re.compile(rb"\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|FROM)\s+([a-z_][a-z0-9_]*)")


class TracedConnection(Connection):
    """Records round trips below the present span."""

    def __init__(
        self, driver: RawConnection, write_failures: WriteFailures | None = None, *, mark: bytes = b"", tracer: Tracer
    ) -> None:
        super().__init__(driver, write_failures, mark=mark)
        self._tracer = tracer

    def flush(self) -> None:
        """Run the deferred statements now."""
        if not self._tracer.is_sampling or not self._statements.are_deferred:
            super().flush()
            return
        texts = self._statements.deferred_texts()
        kinds = [kind_of(text) for text in texts[:NAMED_STATEMENTS_MAX]]
        if len(texts) > NAMED_STATEMENTS_MAX:
            kinds.append("…")
        with self._tracer.child("; ".join(kinds), SpanKind.CLIENT) as span:
            if span is not None:
                span.describe(attributes={"db.system.name": "postgresql", "db.operation.batch.size": len(texts)})
            super().flush()


@lru_cache(TEXTS_MAX)
def kind_of(text: bytes) -> str:
    """Return the first word of a statement and the first table that it names."""
    stripped = _COMMENT.sub(b"", text)
    word = _KIND.search(stripped)
    target = _TARGET.search(stripped)
    kind = word[0].decode().upper() if word is not None else "?"
    return f"{kind} {target[1].decode()}" if target is not None else kind

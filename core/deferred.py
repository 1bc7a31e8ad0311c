"""Deferred query results.

A round trip to PostgreSQL costs more than most statements, so statements share them
(ops/decisions/0015-several-statements-per-round-trip.md). A read that is needed later is deferred here; a statement
that only writes goes out with the next one or with the commit (`Connection.execute_later`).
"""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

Answer = TypeVar("Answer")

# The call returns the result. Deferred queries are sent together with the next statement whose result is needed, so a
# use case with several queries defers all of them first and pays for one round trip.
Deferred: TypeAlias = Callable[[], Answer]

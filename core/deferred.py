"""Deferred query results."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

Answer = TypeVar("Answer")

# The call returns the result. Deferred queries are sent together with the next statement whose result is needed, so a
# use case with several queries defers all of them first and pays for one round trip.
Deferred: TypeAlias = Callable[[], Answer]

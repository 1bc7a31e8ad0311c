"""What was asked of the database and is not waited for yet."""

from collections.abc import Callable
from typing import TypeAlias, TypeVar

Answer = TypeVar("Answer")

# Calling it gives the answer. What is asked one after the other goes to the database together, with the next question
# that waits for its answer; so whoever wants several things asks for all of them first.
Deferred: TypeAlias = Callable[[], Answer]

"""An operation: one request that is sent repeatedly. `operations.py` is the table of the measured ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ops.benchmarks.servers import HEALTH_PATH, RunningServer

Setup: TypeAlias = Callable[["Operation", RunningServer, int], "Operation"]


# The placeholder in a header or body for the word of each request.
WORD: Final = "{word}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One request that is sent repeatedly, and the most that it may cost."""

    name: str
    path: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    # The limit of the processor time per request, as a multiple of the bare server's; None is no limit.
    cpu_ratio_max: float | None = None
    # Each request has the next of these in place of WORD, starting over after the last.
    words: Sequence[str] = ()
    # If a word is valid for one request only: the field of the response, a JSON object, that contains the next word.
    next_word: str | None = None
    # Prepares what the connections need and returns the operation to send. Called before every load, because the
    # previous load has used up words that are valid once.
    setup: Setup | None = None

    def ready(self, server: RunningServer, connections: int) -> Operation:
        """Return the operation to send to this server over this many connections."""
        return self if self.setup is None else self.setup(self, server, connections)


# What the bare server answers.
BARE: Final = Operation(name="bare", path=HEALTH_PATH)

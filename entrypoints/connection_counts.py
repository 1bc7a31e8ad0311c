"""How many connections each worker has open, in memory that all of them share, so that they accept evenly.

The kernel wakes every worker that waits at the socket, and the first one would take what there is: of forty
connections that stay open, all could be at one of two workers. So a worker that has more than another one leaves a new
connection to that one, for a moment: it may be busy, or hang. Where a worker was replaced, the others have its clients;
they ask some of theirs to connect again.
"""

from __future__ import annotations

import mmap
from typing import Final

WORD_BYTES: Final = 8
# Of a worker: its open connections and one more, 0 while it does not accept; and how many it has accepted.
WORDS: Final = 2
_OPEN, _ACCEPTED = 0, 1
# With many connections, so large a part of them is a difference that does not matter.
SLACK_SHARE: Final = 8
# How many more than the least a worker may keep, and a part of the least.
KEPT_MORE: Final = 4
KEPT_MORE_SHARE: Final = 4


class ConnectionCounts:
    """The counts of all workers; each writes its own, and their parent removes the counts of ended ones."""

    def __init__(self, numbers: int) -> None:
        self._words = memoryview(mmap.mmap(-1, numbers * WORDS * WORD_BYTES)).cast("Q")
        self._numbers = range(numbers)

    def of(self, number: int) -> ConnectionCount:
        """Return the count of a worker, for that worker."""
        return ConnectionCount(self, number)

    def forget(self, number: int) -> None:
        """Forget the connections of a worker that has ended."""
        self._words[number * WORDS + _OPEN] = 0

    def write(self, number: int, *, open_connections: int, accepted: int) -> None:
        """Write the count of a worker that accepts."""
        self._words[number * WORDS + _OPEN] = open_connections + 1
        self._words[number * WORDS + _ACCEPTED] = accepted

    def least_but(self, number: int) -> int | None:
        """Return the least that another worker has open; None where no other one accepts."""
        least: int | None = None
        for other in self._numbers:
            count = self._words[other * WORDS + _OPEN]
            if count and other != number and (least is None or count - 1 < least):
                least = count - 1
        return least

    def accepted_but(self, number: int) -> int:
        """Return how many connections the other workers have accepted so far."""
        return sum(self._words[other * WORDS + _ACCEPTED] for other in self._numbers if other != number)


class ConnectionCount:
    """The count of this worker, beside the counts of the others."""

    def __init__(self, counts: ConnectionCounts, number: int) -> None:
        self._counts = counts
        self._number = number
        self._is_accepting = False
        self._open = 0
        self._accepted = 0
        # Connections whose client was asked to connect again.
        self._leaving = 0

    def begin(self) -> None:
        """Say that this worker accepts connections."""
        self._is_accepting = True
        self._write()

    def end(self) -> None:
        """Record that this worker accepts no more, so that the others do not wait for it."""
        self._is_accepting = False
        self._counts.forget(self._number)

    def opened(self) -> None:
        """Count a connection that was accepted."""
        self._open += 1
        self._accepted += 1
        self._write()

    def closed(self) -> None:
        """Count a connection that has ended."""
        self._open -= 1
        self._leaving = max(0, self._leaving - 1)
        self._write()

    @property
    def is_ahead(self) -> bool:
        """Whether another worker has fewer connections, by more than a part of them that does not matter."""
        least = self._counts.least_but(self._number)
        return least is not None and self._open > least + least // SLACK_SHARE

    @property
    def accepted_by_others(self) -> int:
        """How many connections the others have accepted so far."""
        return self._counts.accepted_but(self._number)

    def sheds(self) -> bool:
        """Return whether the client of a connection is to connect again, because another worker has far fewer."""
        least = self._counts.least_but(self._number)
        if least is None or not self._is_accepting:
            return False
        if self._open - self._leaving <= least + KEPT_MORE + least // KEPT_MORE_SHARE:
            return False
        self._leaving += 1
        return True

    def _write(self) -> None:
        if self._is_accepting:
            self._counts.write(self._number, open_connections=self._open, accepted=self._accepted)

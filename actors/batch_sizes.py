"""How much one transaction of background work takes on: as much as it can do in a short time.

No tenant multiplies a batch: a transaction is bounded by the rows that it writes, not by what an organization can
attach to each of them (webhooks, members, receivers), and its rows and places are divided among the organizations that
wait. A batch that may fail for its size is halved.
"""

from __future__ import annotations

from typing import Final

# A transaction that takes longer than this holds its locks, a connection and a processor for too long.
TRANSACTION_SECONDS_AIM: Final = 0.05
# The share of the maximum that is added after a quick transaction.
GROWTH: Final = 1 / 16


class BatchSize:
    """A number of rows, at most the maximum: halved after a failure and a slow transaction, growing after quick ones.

    A failure may halve it down to one row, because the same batch would fail for ever; slow transactions leave an
    eighth of the maximum, because a machine that is slow for another reason would get nothing done.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self.rows = maximum

    def failed(self) -> None:
        """Record a transaction that failed."""
        self.rows = max(1, self.rows // 2)

    def took(self, seconds: float) -> None:
        """Record a transaction that succeeded in that time."""
        least = self._maximum // 8
        if seconds <= TRANSACTION_SECONDS_AIM:
            self.rows = min(self._maximum, self.rows + max(1, int(self._maximum * GROWTH)))
        elif self.rows > least:
            self.rows = max(1, least, self.rows // 2)

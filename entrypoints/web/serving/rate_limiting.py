"""The buckets behind the rate limits: one for each limit and client network or user, bounded in number.

The table of limits and the arithmetic are in `core/rate_limits.py`. `handling.py` and `Call` (`calls.py`) ask them.
Buckets exist in this process alone: a restart discards them. Each process grants its share by the number of live
processes, which is enough against floods. Limits that must hold exactly across processes (failed sign-ins, codes) are
counted in the database.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Final

from actors.live_processes import MemoryLiveProcesses
from core.errors import RateLimitExceeded
from core.rate_limits import Bucket, RateLimit, Share
from ports.listening import LiveProcesses

BUCKETS_MAX: Final = 100_000
_FULL: Final = Bucket(0.0)


class RateLimiter:
    """Grants or refuses requests."""

    def __init__(
        self,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        buckets_max: int = BUCKETS_MAX,
        processes: LiveProcesses | None = None,
    ) -> None:
        # By the limit, and by the client network or the user that it counts.
        self._buckets: dict[tuple[RateLimit, str], Bucket] = {}
        self._buckets_max = buckets_max
        self._monotonic = monotonic
        self._processes = processes or MemoryLiveProcesses()
        self._divisor = 0
        self._shares: dict[RateLimit, Share] = {}

    @property
    def bucket_count(self) -> int:
        """The number of buckets in memory."""
        return len(self._buckets)

    def take(self, limits: Iterable[RateLimit], holder: str) -> None:
        """Take one request of a client network or a user from the bucket of every limit.

        When one of them is empty, take none and raise `RateLimitExceeded`.
        """
        now = self._monotonic()
        shares = self._shares_of_limits()
        taken: dict[tuple[RateLimit, str], Bucket] = {}
        refused: dict[RateLimit, int] = {}
        for limit in limits:
            bucket, share = self._buckets.get((limit, holder), _FULL), shares[limit]
            left = bucket.take(share, now)
            if left is None:
                refused[limit] = bucket.retry_after_seconds(share, now)
            else:
                taken[limit, holder] = left
        if refused:
            # Earlier than this, another of the limits would refuse.
            limit, seconds = max(refused.items(), key=itemgetter(1))
            raise RateLimitExceeded(retry_after_seconds=seconds).of(limit.name.lower())
        for key, bucket in taken.items():
            # Removed and added again, so that the dictionary stays in the order of last use.
            self._buckets.pop(key, None)
            self._buckets[key] = bucket
        while len(self._buckets) > self._buckets_max:
            # The least recently used bucket, which is most likely full again.
            del self._buckets[next(iter(self._buckets))]

    def _shares_of_limits(self) -> Mapping[RateLimit, Share]:
        if self._divisor != self._processes.number:
            self._divisor = self._processes.number
            self._shares = {limit: limit.share(self._divisor) for limit in RateLimit}
        return self._shares


class NoRateLimiter(RateLimiter):
    """Grants everything, for load tests."""

    def take(self, limits: Iterable[RateLimit], holder: str) -> None:
        """Take nothing."""

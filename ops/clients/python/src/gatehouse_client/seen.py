"""Ids that may come once: of proofs, of sign-ins, of logout tokens."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Awaitable
from typing import Final, Protocol

SEEN_MAX: Final = 100_000


class SeenOnce(Protocol):
    """Where used ids are kept. For several processes, write one over your database; with async its method may be async.

    `add` returns whether the id is new, and keeps it until that time, in seconds since 1970. Of two simultaneous calls
    with one id, one returns that it is new. An id that cannot be kept is not new.
    """

    def add(self, identifier: str, *, until: float, at: float) -> bool | Awaitable[bool]:
        """Keep the id; return False for one that is kept already."""
        ...


class MemorySeen:
    """Ids in the memory of this process, at most `seen_max` of them.

    When it is full, no id is new; with `forgets_oldest`, for ids that anyone can make, the oldest one is deleted.
    """

    def __init__(self, seen_max: int = SEEN_MAX, *, forgets_oldest: bool = False) -> None:
        self._seen_max = seen_max
        self._forgets_oldest = forgets_oldest
        self._until: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, identifier: str, *, until: float, at: float) -> bool:
        """Keep the id; return False for one that is kept already, and when there is no room."""
        with self._lock:
            if self._until.get(identifier, 0.0) > at:
                return False
            self._remove_expired(at)
            if len(self._until) >= self._seen_max:
                if not self._forgets_oldest:
                    return False
                self._until.popitem(last=False)
            self._until[identifier] = until
            return True

    def _remove_expired(self, at: float) -> None:
        # All ids of one store live about as long, so the first to expire are at the beginning.
        while self._until and next(iter(self._until.values())) <= at:
            self._until.popitem(last=False)

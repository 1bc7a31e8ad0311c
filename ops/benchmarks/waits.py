"""What the connections of a database wait for during a load, sampled from `pg_stat_activity`."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import psycopg

SAMPLE_SECONDS: Final = 0.01
# A lock is named with the beginning of the statement that waits for it.
_ACTIVITY: Final = r"""
    SELECT CASE
               WHEN wait_event_type IS NULL THEN 'running'
               WHEN wait_event_type = 'Lock'
               THEN format('Lock: %s (%s)', wait_event, left(regexp_replace(trim(query), '\s+', ' ', 'g'), 40))
               ELSE format('%s: %s', wait_event_type, wait_event)
           END, count(*)
    FROM   pg_stat_activity
    WHERE  backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()
    GROUP BY 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """How many connections were in each state, on average over the samples."""

    connections: Mapping[str, float]

    def milliseconds(self, requests_per_second: float) -> dict[str, float]:
        """Return how long a request is in each state, the longest first."""
        return {
            name: 1000 * mean / requests_per_second
            for name, mean in sorted(self.connections.items(), key=lambda item: -item[1])
        }


class WaitSampler:
    """Samples the connections of one database, from a connection of its own."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._is_done = threading.Event()
        self._connections = Counter[str]()
        self._samples = 0

    @property
    def waits(self) -> Waits:
        """What was sampled."""
        return Waits(connections={name: number / max(1, self._samples) for name, number in self._connections.items()})

    @contextmanager
    def running(self) -> Generator[None]:
        """Sample meanwhile."""
        thread = threading.Thread(target=self._sample)
        thread.start()
        try:
            yield
        finally:
            self._is_done.set()
            thread.join()

    def _sample(self) -> None:
        with psycopg.connect(self._address, autocommit=True) as connection:
            while not self._is_done.wait(SAMPLE_SECONDS):
                self.add(dict(connection.execute(_ACTIVITY).fetchall()))

    def add(self, connections: Mapping[str, int]) -> None:
        """Add one sample: how many connections are in each state."""
        self._connections.update(connections)
        self._samples += 1

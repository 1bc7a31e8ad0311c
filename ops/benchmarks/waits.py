"""What the connections of a database do and wait for during a load, sampled from `pg_stat_activity`."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import psycopg

SAMPLE_SECONDS: Final = 0.01
LOCK: Final = "Lock: "
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


@contextmanager
def sampled(address: str) -> Generator[dict[str, float]]:
    """Sample meanwhile; then the result has how many connections were in each state on average, the most first."""
    result: dict[str, float] = {}
    states = Counter[str]()
    samples = 0
    is_done = threading.Event()

    def sample() -> None:
        nonlocal samples
        with psycopg.connect(address, autocommit=True) as connection:
            is_last = False
            while not is_last:
                is_last = is_done.wait(SAMPLE_SECONDS)
                states.update(dict(connection.execute(_ACTIVITY).fetchall()))
                samples += 1

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield result
    finally:
        is_done.set()
        thread.join()
        result |= {name: number / samples for name, number in states.most_common()}

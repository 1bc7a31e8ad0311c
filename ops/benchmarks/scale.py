"""Whether the most frequent operations cost more with a thousand times as many rows: two services, measured in turn.

The users of the sample are spread over the tables, so that no request finds in a cache what the one before it read. To
compare another operation, add it to `SCALED`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from ops.benchmarks import people, servers
from ops.benchmarks.comparing import Comparison, Row
from ops.benchmarks.load import Loader
from ops.benchmarks.operations import LOGIN, PROFILE
from ops.benchmarks.people import LOGIN_EVENTS, USERS
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import RunningServer

TIMES: Final = 1_000
CONNECTIONS: Final = 16
# The most that an operation may cost with more rows, as a multiple of its cost with fewer.
RATIO_MAX: Final = 1.10
SCALED: Final = tuple(replace(operation, cpu_ratio_max=RATIO_MAX) for operation in (LOGIN, PROFILE))


def scale(loader: Loader, *, seconds: int, rounds: int, say: Say) -> list[Row]:
    """Seed both databases, which takes minutes, and compare them."""
    with _service(USERS, LOGIN_EVENTS, say) as small, _service(USERS * TIMES, LOGIN_EVENTS * TIMES, say) as big:
        comparison = Comparison(service=big, bare=small, loader=loader, seconds=seconds, rounds=rounds, say=say)
        return [row for operation in SCALED for row in comparison.rows([operation], CONNECTIONS, reference=operation)]


@contextmanager
def _service(users: int, login_events: int, say: Say) -> Generator[RunningServer]:
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        data = Path(folder) / "data"
        with servers.service(data) as service:
            say(f"seeding {users:,} people and {login_events:,} sign-ins")
            yield people.seed_users(service, data, say, users=users, login_events=login_events)

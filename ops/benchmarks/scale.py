"""Whether what is asked most costs more when the database is a thousand times fuller: two services, asked in turn.

Each person of the sample is somewhere else in the tables, so that nothing is found in a cache because the one before
asked for the same.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ops.benchmarks import people, servers
from ops.benchmarks.comparing import WARM_UP_SECONDS, Comparison, Round, Row
from ops.benchmarks.operations import LOGIN, PROFILE
from ops.benchmarks.people import LOGIN_EVENTS, USERS

if TYPE_CHECKING:
    from collections.abc import Generator

    from ops.benchmarks.comparing import Say
    from ops.benchmarks.load import Loader
    from ops.benchmarks.operations import Operation
    from ops.benchmarks.servers import RunningServer

TIMES: Final = 1_000
CONNECTIONS: Final = 16
# What the fuller one may cost, as a multiple of the other.
RATIO_MAX: Final = 1.10


def scale(loader: Loader, *, seconds: int, rounds: int, say: Say) -> list[Row]:
    """Seed both databases, which takes minutes, and compare them."""
    with _service(USERS, LOGIN_EVENTS, say) as small, _service(USERS * TIMES, LOGIN_EVENTS * TIMES, say) as big:
        comparison = Comparison(service=big, bare=small, loader=loader, seconds=seconds, rounds=rounds, say=say)
        return [_row(comparison, operation) for operation in (LOGIN, PROFILE)]


def _row(comparison: Comparison, operation: Operation) -> Row:
    """Ask the small one, the big one, the small one, and so on."""
    operation = replace(operation, cpu_ratio_max=RATIO_MAX)
    small, big = comparison.bare, comparison.service
    for server in (small, big):
        comparison.loader(operation.ready(server, CONNECTIONS), server.port, CONNECTIONS, WARM_UP_SECONDS)
    taken: list[Round] = []
    before = comparison.figures(operation, small, CONNECTIONS)
    for number in range(1, comparison.rounds + 1):
        during = comparison.figures(operation, big, CONNECTIONS)
        after = comparison.figures(operation, small, CONNECTIONS)
        taken.append(Round(operation=during, bare=(before, after)))
        before = after
        comparison.say(
            f"round {number} of {comparison.rounds}: {operation.name:8} {during.cpu_ms_per_request:.3f} ms CPU a"
            f" request, {taken[-1].ratio('cpu_ms_per_request'):.2f} × with {USERS:,} people"
        )
    return Row(operation=operation, connections=CONNECTIONS, rounds=taken)


@contextmanager
def _service(users: int, login_events: int, say: Say) -> Generator[RunningServer]:
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        data = Path(folder) / "data"
        with servers.service(data) as service:
            say(f"seeding {users:,} people and {login_events:,} sign-ins")
            yield people.settle(service, data, say, users=users, login_events=login_events)

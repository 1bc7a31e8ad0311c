"""Many more sign-ins at once than can be hashed: every request gets an answer in time, and memory does not grow.

A refused client tries again at once, which no well-behaved client does after a `Retry-After`. The flood is repeated,
because memory may grow once, when everything is used for the first time, and not again.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from adapters.crypto.passwords import QUEUED_PER_PLACE_MAX
from ops.benchmarks import people, servers
from ops.benchmarks.comparing import BYTES_PER_MEGABYTE, Spread
from ops.benchmarks.load import Requests, receive_answer
from ops.benchmarks.machine import PROCESSORS
from ops.benchmarks.operations import LOGIN
from ops.benchmarks.processes import resident_bytes
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import HOST, RunningServer
from ops.benchmarks.standing import StandingFigure

SECONDS: Final = 10
# Several times the queue in front of the hashing threads.
CONNECTIONS: Final = 4 * QUEUED_PER_PLACE_MAX * PROCESSORS
# A client that waits longer than this has given up.
ANSWER_SECONDS_MAX: Final = 10.0
# The pause before the memory is read, in which requests in flight end.
REST_SECONDS: Final = 2.0
GROWTH_MEGABYTES_MAX: Final = 20.0
SIGNED_IN: Final = 200
REFUSED_FOR_NOW: Final = 503


@dataclass(slots=True)
class Tally:
    """The results of one flood."""

    signed_in: int = 0
    told_to_retry: int = 0
    # All other results, by kind.
    otherwise: Counter[str] = field(default_factory=Counter[str])
    slowest_seconds: float = 0.0
    megabytes_after: float = 0.0

    def count(self, status: int, *, has_retry_after: bool, seconds: float) -> None:
        """Count an answer."""
        self.slowest_seconds = max(self.slowest_seconds, seconds)
        if status == SIGNED_IN:
            self.signed_in += 1
        elif status == REFUSED_FOR_NOW and has_retry_after:
            self.told_to_retry += 1
        else:
            self.otherwise[f"status {status}"] += 1


def flood(say: Say) -> list[StandingFigure]:
    """Flood the service with sign-ins, twice."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        data = Path(folder) / "data"
        with servers.service(data) as started:
            service = people.seed_users(started, data, say)
            before = _megabytes(service)
            tallies = [_flood(service, say) for _ in range(2)]
    return figures(before, tallies)


def figures(megabytes_before: float, tallies: list[Tally]) -> list[StandingFigure]:
    """Return the figures of the floods."""
    first, second = tallies
    return [
        StandingFigure(
            name=f"flood of {CONNECTIONS}: sign-ins",
            unit="1/s",
            values=Spread.of(each.signed_in / SECONDS for each in tallies),
        ),
        StandingFigure(
            name="flood: told to retry",
            unit="1/s",
            values=Spread.of(each.told_to_retry / SECONDS for each in tallies),
        ),
        StandingFigure(
            name="flood: neither, or no answer",
            unit="",
            values=Spread.of(each.otherwise.total() for each in tallies),
            maximum=0.0,
        ),
        StandingFigure(
            name="flood: slowest answer",
            unit="s",
            values=Spread.of(each.slowest_seconds for each in tallies),
            maximum=ANSWER_SECONDS_MAX,
        ),
        StandingFigure(name="memory before the floods", unit="MB", values=Spread.of([megabytes_before])),
        StandingFigure(
            name="memory after each flood", unit="MB", values=Spread.of(each.megabytes_after for each in tallies)
        ),
        StandingFigure(
            name="memory: more after the second",
            unit="MB",
            values=Spread.of([second.megabytes_after - first.megabytes_after]),
            maximum=GROWTH_MEGABYTES_MAX,
        ),
    ]


def _flood(service: RunningServer, say: Say) -> Tally:
    tally = Tally()
    trio.run(_send_in_parallel, Requests(LOGIN.ready(service, CONNECTIONS), service.port), service.port, tally)
    time.sleep(REST_SECONDS)
    tally.megabytes_after = _megabytes(service)
    say(
        f"flood: {tally.signed_in} signed in, {tally.told_to_retry} told to retry,"
        f" {dict(tally.otherwise) or 'nothing'} else, {tally.megabytes_after:.0f} MB"
    )
    return tally


async def _send_in_parallel(requests: Requests, port: int, tally: Tally) -> None:
    until = trio.current_time() + SECONDS
    async with trio.open_nursery() as nursery:
        for _ in range(CONNECTIONS):
            nursery.start_soon(_sign_in_repeatedly, requests, port, tally, until)


async def _sign_in_repeatedly(requests: Requests, port: int, tally: Tally, until: float) -> None:
    while trio.current_time() < until:
        try:
            stream = await trio.open_tcp_stream(HOST, port)
            async with stream:
                await _sign_in_on(stream, requests, tally, until)
        except trio.TooSlowError:
            tally.otherwise["no answer in time"] += 1
        except (OSError, trio.BrokenResourceError):
            tally.otherwise["connection broken"] += 1


async def _sign_in_on(stream: trio.SocketStream, requests: Requests, tally: Tally, until: float) -> None:
    is_last = False
    # The answer to a sent request is awaited even after the end, because every request must get one.
    while not is_last and trio.current_time() < until:
        sent_at = trio.current_time()
        with trio.fail_after(ANSWER_SECONDS_MAX):
            await stream.send_all(requests.next())
            head, _ = await receive_answer(stream)
        tally.count(head.status, has_retry_after=head.has_retry_after, seconds=trio.current_time() - sent_at)
        is_last = head.is_last


def _megabytes(service: RunningServer) -> float:
    return resident_bytes(service.python_process) / BYTES_PER_MEGABYTE

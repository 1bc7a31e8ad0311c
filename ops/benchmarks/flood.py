"""Many more sign-ins at once than can be hashed: every request gets an answer in time, and memory does not grow.

A refused client tries again at once, which no well-behaved client does after a `Retry-After`. The flood is repeated,
because memory may grow once, when everything is used for the first time, and not again.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Final

import trio

from adapters.crypto.passwords import QUEUED_PER_PLACE_MAX
from ops.benchmarks import people, servers
from ops.benchmarks.answers import receive_answer
from ops.benchmarks.figures import BYTES_PER_MEGABYTE, Figure, Spread
from ops.benchmarks.machine import PROCESSORS
from ops.benchmarks.processes import resident_bytes
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import HOST, RunningServer
from ops.seeding.population import PASSWORD, address

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


def flood(say: Say) -> list[Figure]:
    """Flood the service with sign-ins, twice."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        data = Path(folder) / "data"
        with servers.service(data) as service:
            people.seed_users(data, say)
            before = _megabytes(service)
            tallies = [_flood(service, say) for _ in range(2)]
    return figures(before, tallies)


def figures(megabytes_before: float, tallies: list[Tally]) -> list[Figure]:
    """Return the figures of the floods."""
    first, second = tallies
    return [
        Figure(
            name=f"flood of {CONNECTIONS}: sign-ins",
            unit="1/s",
            values=Spread.of(each.signed_in / SECONDS for each in tallies),
        ),
        Figure(
            name="flood: told to retry",
            unit="1/s",
            values=Spread.of(each.told_to_retry / SECONDS for each in tallies),
        ),
        Figure(
            name="flood: neither, or no answer",
            unit="",
            values=Spread.of(each.otherwise.total() for each in tallies),
            maximum=0.0,
        ),
        Figure(
            name="flood: slowest answer",
            unit="s",
            values=Spread.of(each.slowest_seconds for each in tallies),
            maximum=ANSWER_SECONDS_MAX,
        ),
        Figure(name="memory before the floods", unit="MB", values=Spread.of([megabytes_before])),
        Figure(name="memory after each flood", unit="MB", values=Spread.of(each.megabytes_after for each in tallies)),
        Figure(
            name="memory: more after the second",
            unit="MB",
            values=Spread.of([second.megabytes_after - first.megabytes_after]),
            maximum=GROWTH_MEGABYTES_MAX,
        ),
    ]


def _flood(service: RunningServer, say: Say) -> Tally:
    tally = Tally()
    trio.run(_send_in_parallel, service.port, tally)
    time.sleep(REST_SECONDS)
    tally.megabytes_after = _megabytes(service)
    say(
        f"flood: {tally.signed_in} signed in, {tally.told_to_retry} told to retry,"
        f" {dict(tally.otherwise) or 'nothing'} else, {tally.megabytes_after:.0f} MB"
    )
    return tally


async def _send_in_parallel(port: int, tally: Tally) -> None:
    requests = sign_ins(port)
    until = trio.current_time() + SECONDS
    async with trio.open_nursery() as nursery:
        for _ in range(CONNECTIONS):
            nursery.start_soon(_sign_in_repeatedly, requests, port, tally, until)


def sign_ins(port: int) -> Iterator[bytes]:
    """Yield requests to sign in, by each of the users in turn."""
    for email in cycle([address(number) for number in range(people.USERS)]):
        body = json.dumps({"email": email, "password": PASSWORD}).encode()
        lines = [
            "POST /api/auth/login HTTP/1.1",
            f"Host: {HOST}:{port}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        ]
        yield "\r\n".join([*lines, "", ""]).encode() + body


async def _sign_in_repeatedly(requests: Iterator[bytes], port: int, tally: Tally, until: float) -> None:
    while trio.current_time() < until:
        try:
            stream = await trio.open_tcp_stream(HOST, port)
            async with stream:
                await _sign_in_on(stream, requests, tally, until)
        except trio.TooSlowError:
            tally.otherwise["no answer in time"] += 1
        except (OSError, trio.BrokenResourceError):
            tally.otherwise["connection broken"] += 1


async def _sign_in_on(stream: trio.SocketStream, requests: Iterator[bytes], tally: Tally, until: float) -> None:
    is_last = False
    # The answer to a sent request is awaited even after the end, because every request must get one.
    while not is_last and trio.current_time() < until:
        sent_at = trio.current_time()
        with trio.fail_after(ANSWER_SECONDS_MAX):
            await stream.send_all(next(requests))
            head = await receive_answer(stream)
        tally.count(head.status, has_retry_after=head.has_retry_after, seconds=trio.current_time() - sent_at)
        is_last = head.is_last


def _megabytes(service: RunningServer) -> float:
    return resident_bytes(service.python_process) / BYTES_PER_MEGABYTE

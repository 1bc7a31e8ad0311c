"""Signing in as fast as the machine can hash, and its effect on other requests.

A sign-in is a hash and a few milliseconds more, so its rate is reported as a share of the rate of the same build of
Argon2 alone, on all processors, just before and just after. `GET /api/user` is sent meanwhile at a steady, modest rate,
whether or not the one before was answered, and its duration counts from when it was due, so that time in a queue is
included.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio

from adapters.crypto.passwords import hashes_per_second
from ops.benchmarks import people, servers
from ops.benchmarks.comparing import Spread
from ops.benchmarks.load import LOADERS, LoaderFailed, Requests, best_loader, receive_answer
from ops.benchmarks.machine import PROCESSORS
from ops.benchmarks.operation import Operation
from ops.benchmarks.operations import LOGIN, PROFILE
from ops.benchmarks.processes import cpu_seconds
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import ANSWER_SECONDS_MAX, HOST, RunningServer
from ops.benchmarks.standing import StandingFigure

ROUNDS: Final = 5
SECONDS: Final = 5
# Enough to keep every processor hashing, and far fewer than the queue holds.
CONNECTIONS_PER_PROCESSOR: Final = 8
PROFILES_PER_SECOND: Final = 40
SHARE_PERCENT_MIN: Final = 85.0
PROFILE_P99_MS_MAX: Final = 250.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Round:
    """The results of one load of sign-ins; hash rates are of all processors together."""

    sign_ins_per_second: float
    hashes_per_second: float
    cpu_ms: float
    hash_cpu_ms: float
    profile_p99_ms: float


def sign_in(say: Say) -> list[StandingFigure]:
    """Sign users in on all processors while one of them reads their profile."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
        data = Path(folder) / "data"
        with servers.service(data) as started:
            service = people.seed_users(started, data, say)
            _round(service, seconds=1)
            rounds: list[_Round] = []
            for number in range(1, ROUNDS + 1):
                rounds.append(_round(service, seconds=SECONDS))
                done = rounds[-1]
                say(
                    f"round {number} of {ROUNDS}: {done.sign_ins_per_second:.0f} sign-ins/s beside"
                    f" {done.hashes_per_second:.0f} hashes/s, profile p99 {done.profile_p99_ms:.0f} ms"
                )
    return [
        StandingFigure(name="sign-ins", unit="1/s", values=Spread.of(done.sign_ins_per_second for done in rounds)),
        StandingFigure(
            name=f"Argon2 alone, {PROCESSORS} threads",
            unit="1/s",
            values=Spread.of(done.hashes_per_second for done in rounds),
        ),
        StandingFigure(
            name="sign-ins beside Argon2 alone",
            unit="%",
            values=Spread.of(100 * done.sign_ins_per_second / done.hashes_per_second for done in rounds),
            minimum=SHARE_PERCENT_MIN,
        ),
        StandingFigure(name="sign-in: CPU", unit="ms", values=Spread.of(done.cpu_ms for done in rounds)),
        # What the share above would be on an idle machine.
        StandingFigure(
            name="sign-in: CPU of the hash",
            unit="%",
            values=Spread.of(100 * done.hash_cpu_ms / done.cpu_ms for done in rounds),
        ),
        StandingFigure(
            name="profile beside sign-ins, p99",
            unit="ms",
            values=Spread.of(done.profile_p99_ms for done in rounds),
            maximum=PROFILE_P99_MS_MAX,
        ),
    ]


def _round(service: RunningServer, *, seconds: int) -> _Round:
    connections = CONNECTIONS_PER_PROCESSOR * PROCESSORS
    profile, login = PROFILE.ready(service, 1), LOGIN.ready(service, connections)
    before, before_cpu_ms = _hash_alone()
    steady = _SteadyLoad(profile, service.port, seconds)
    spent = cpu_seconds(service.roots)
    steady.start()
    load = LOADERS[best_loader()](login, service.port, connections, seconds)
    steady.join()
    spent = cpu_seconds(service.roots) - spent
    after, after_cpu_ms = _hash_alone()
    if load.errors or steady.failures:
        raise servers.CannotMeasure(f"{load.errors} sign-ins and {steady.failures} profiles failed.")
    return _Round(
        sign_ins_per_second=load.requests / load.seconds,
        hashes_per_second=(before + after) / 2,
        cpu_ms=spent * 1000 / load.requests,
        hash_cpu_ms=(before_cpu_ms + after_cpu_ms) / 2,
        profile_p99_ms=statistics.quantiles(steady.seconds_taken, n=100, method="inclusive")[98] * 1000,
    )


def _hash_alone() -> tuple[float, float]:
    """Hash on all processors; return the rate per second, and the processor time of one hash in milliseconds."""
    started, spent = time.perf_counter(), time.process_time()
    rate = hashes_per_second(threads=PROCESSORS)
    hashes = rate * (time.perf_counter() - started)
    return rate, (time.process_time() - spent) * 1000 / hashes


@dataclass
class _SteadyLoad:
    """Sends requests at a steady rate, on a thread of its own, whether or not the last one was answered."""

    operation: Operation
    port: int
    seconds: int
    seconds_taken: list[float] = field(default_factory=list[float])
    failures: int = 0

    def start(self) -> None:
        """Start sending."""
        self._thread = threading.Thread(target=trio.run, args=(self._send_steadily,))
        self._thread.start()

    def join(self) -> None:
        """Wait for the last answer."""
        self._thread.join()

    async def _send_steadily(self) -> None:
        requests = Requests(self.operation, self.port)
        began_at = trio.current_time()
        async with trio.open_nursery() as nursery:
            for number in range(self.seconds * PROFILES_PER_SECOND):
                due_at = began_at + number / PROFILES_PER_SECOND
                await trio.sleep_until(due_at)
                nursery.start_soon(self._send, requests.next(), due_at)

    async def _send(self, request: bytes, due_at: float) -> None:
        try:
            with trio.fail_after(ANSWER_SECONDS_MAX):
                stream = await trio.open_tcp_stream(HOST, self.port)
                async with stream:
                    await stream.send_all(request)
                    head, _ = await receive_answer(stream)
        except (OSError, trio.BrokenResourceError, trio.TooSlowError, LoaderFailed):
            self.failures += 1
            return
        self.failures += head.status >= 400
        self.seconds_taken.append(trio.current_time() - due_at)

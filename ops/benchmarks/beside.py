"""The same operations on Gatehouse and on a peer, in turn, each with its PostgreSQL, for `ops/bench --beside`.

Several connections send an operation as fast as the answers come, each with an account of its own, so that they do not
wait for each other's rows. A round is a load of each side, and begins with the other side than the one before. The
ratio of a round is exact where a figure is not: what else the machine does disturbs both.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from adapters.postgres.embedded.server import EmbeddedPostgres
from ops.benchmarks import hot_operations, servers
from ops.benchmarks.better_auth import BetterAuth, better_auth
from ops.benchmarks.client import Client
from ops.benchmarks.figures import BYTES_PER_MEGABYTE, Spread
from ops.benchmarks.hot_operations import HOT_OPERATIONS, Send
from ops.benchmarks.machine import PROCESSORS
from ops.benchmarks.meters import NANOSECONDS_PER_MILLISECOND, thread_nanoseconds, tree_nanoseconds
from ops.benchmarks.openid import OpenidService
from ops.benchmarks.processes import machine_cpu_seconds, own_cpu_seconds, proportional_bytes
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import CannotMeasure, RunningServer
from ops.benchmarks.targets import SERVICE_USERS, USERS, Target, target
from ops.benchmarks.waits import LOCK, sampled
from ops.seeding.population import address

CONNECTIONS: Final = 8
# For each operation before the first one is measured, and again before its rounds: V8 compiles what is called often.
WARM_UP_SECONDS: Final = 3.0
IDLE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """An operation that both have, and what each of them does for it."""

    name: str
    ours: Callable[[Target], Send]
    theirs: Callable[[BetterAuth], Send]
    we_do: str
    they_do: str
    # Whether a hash of a password is most of it.
    has_hash: bool = False

    @property
    def connections(self) -> int:
        """Over how many connections it is sent; more hashes than this would wait for each other for seconds."""
        return CONNECTIONS // 2 if self.has_hash else CONNECTIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFigures:
    """The results of one load; times are of one request."""

    requests_per_second: float
    p50_ms: float
    p95_ms: float
    # Processor time: of the thread of the event loop, of the other threads of the server, and of PostgreSQL.
    loop_ms: float
    threads_ms: float
    database_ms: float
    errors: Sequence[str]
    # The share of the machine that neither this side nor the client used.
    others_share: float

    @property
    def cpu_ms(self) -> float:
        """The processor time of the server and PostgreSQL."""
        return self.loop_ms + self.threads_ms + self.database_ms

    @property
    def cpu_ms_beside_hash(self) -> float:
        """The same without the threads on which the server hashes."""
        return self.loop_ms + self.database_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The loads of one operation on one side, and what was found once after them."""

    loads: Sequence[LoadFigures]
    # How long PostgreSQL's connections are in each state for one request, the longest first.
    waits_ms: Mapping[str, float]
    server_megabytes: float | None
    database_megabytes: float | None

    def median(self, figure: Callable[[LoadFigures], float]) -> float:
        """Return the median of a figure."""
        return statistics.median(map(figure, self.loads))

    @property
    def errors(self) -> list[str]:
        """The refusals and failures of all loads."""
        return [error for load in self.loads for error in load.errors]


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """An operation, measured on both sides in the same rounds."""

    operation: Compared
    ours: Measured
    theirs: Measured

    def ratio(self, figure: Callable[[LoadFigures], float]) -> Spread:
        """Return the ratio of a figure, ours to theirs, over the rounds."""
        return Spread.of(
            figure(ours) / figure(theirs) for ours, theirs in zip(self.ours.loads, self.theirs.loads, strict=True)
        )


def bottleneck(compared: Compared, measured: Measured) -> str:
    """Name what would be busy all the time first, were the rate to grow; one event loop has one processor."""
    threads_ms = measured.median(lambda load: load.threads_ms)
    milliseconds = {
        "the server's event loop": measured.median(lambda load: load.loop_ms),
        "hashing" if compared.has_hash else "the server's other threads": threads_ms / PROCESSORS,
        "PostgreSQL's processor time": measured.median(lambda load: load.database_ms) / PROCESSORS,
        "waiting for locks": sum(each for name, each in measured.waits_ms.items() if name.startswith(LOCK)),
    }
    return max(milliseconds, key=lambda name: milliseconds[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All operations, and the processor time that each side uses in a second in which nothing is asked."""

    results: Sequence[Beside]
    our_idle_ms: float
    their_idle_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A running server, the address of its database, and how a connection prepares an operation."""

    server: RunningServer
    database: str
    prepare: Callable[[Compared, int], Send]


def _hot(name: str) -> Callable[[Target], Send]:
    operations = (*HOT_OPERATIONS, *hot_operations.FURTHER_OPERATIONS)
    return next(operation.prepare for operation in operations if operation.name == name)


def _new_user(target: Target) -> Send:
    emails = hot_operations.new_emails()
    return lambda: target.client.send_json(SERVICE_USERS, {"email": next(emails)}, {"X-Api-Key": target.api_key})


COMPARED: Final = (
    Compared(
        name="who am I",
        ours=_hot("profile"),
        theirs=BetterAuth.session,
        we_do="`GET /api/user`: verifies the token (RS256), reads session and account",
        they_do="`GET /get-session`: verifies the cookie (HMAC), reads session and user",
    ),
    Compared(
        name="login",
        ours=_hot("login beside its hash"),
        theirs=BetterAuth.login,
        we_do="`POST /api/auth/login`: Argon2id (19 MiB, t=2), limit of failures, device, habit, session, login event,"
        " event; token RS256",
        they_do="`POST /sign-in/email`: scrypt (N=16384, r=16), session",
        has_hash=True,
    ),
    Compared(
        name="signup",
        ours=_hot("signup beside its hash"),
        theirs=BetterAuth.signup,
        we_do="`POST /api/auth/register`: hash, account, token for the address, sealed mail in the queue, event",
        they_do="`POST /sign-up/email`: hash, user and account; gives the mail to a function that drops it",
        has_hash=True,
    ),
    Compared(
        name="code flow",
        ours=lambda target: target.service.flow,
        theirs=lambda peer: peer.client().flow,
        we_do="authorization (PKCE, browser signed in), exchange, `userinfo`: session with refresh token, login event,"
        " device, event; ID and access tokens RS256",
        they_do="the same three requests, `skip_consent`; ID token EdDSA, access token opaque and stored",
    ),
    Compared(
        name="refresh",
        ours=lambda target: target.service.refresh(),
        theirs=lambda peer: peer.client().refresh(),
        we_do="`refresh_token` at the token endpoint, client by Basic: rotates; ID and access tokens RS256",
        they_do="the same request: rotates, ID token EdDSA, access token opaque and stored",
    ),
    Compared(
        name="client credentials",
        ours=lambda target: target.service.client_token,
        theirs=lambda peer: peer.client().client_token,
        we_do="client by Basic; access token RS256",
        they_do="client by Basic, with `resource`; access token EdDSA",
    ),
    Compared(
        name="introspection",
        ours=lambda target: target.service.introspection(),
        theirs=lambda peer: peer.client().introspection(),
        we_do="client by Basic, asks about its signed token",
        they_do="the same",
    ),
    Compared(
        name="list users",
        ours=_hot("service users"),
        theirs=BetterAuth.list_users,
        we_do="`GET /api/service/users` by API key: the newest 50, and the total",
        they_do="`GET /admin/list-users` by an administrator's session: the newest 50, and the total",
    ),
    Compared(
        name="create a user",
        ours=_new_user,
        theirs=BetterAuth.new_user,
        we_do="`POST /api/service/users` by API key: account without a password, user of the service, event, counts",
        they_do="`POST /admin/create-user` by an administrator's session: user without a password",
    ),
)


def compare(say: Say, *, seconds: float, rounds: int) -> Run:
    """Run Gatehouse and better-auth, and measure all operations."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as name:
        folder = Path(name)
        (folder / "peer").mkdir()
        say("starting both, and creating their users")
        with _gatehouse(folder / "data") as ours, better_auth(folder / "peer", say) as peer:
            theirs = Side(
                server=peer.server,
                database=peer.database,
                prepare=lambda compared, number: compared.theirs(replace(peer, users=users_of(number))),
            )
            for compared in COMPARED:
                say(f"warming up: {compared.name}")
                for side in (ours, theirs):
                    _ready(compared, side)
            results = [_beside(compared, ours, theirs, say, seconds=seconds, rounds=rounds) for compared in COMPARED]
            idle = [_load(side.server, [lambda: time.sleep(1)], IDLE_SECONDS).cpu_ms for side in (ours, theirs)]
            return Run(results=results, our_idle_ms=idle[0], their_idle_ms=idle[1])


def users_of(connection: int) -> range:
    """Return the numbers of the accounts that one of the connections uses, and no other."""
    return range(1 + connection, USERS, CONNECTIONS)


@contextmanager
def _gatehouse(folder: Path) -> Generator[Side]:
    with target(servers.GATEHOUSE, folder) as ours, EmbeddedPostgres(folder) as database:
        service = ours.service
        assert isinstance(service, OpenidService), "a target begins with the service itself"
        members = [
            replace(
                ours,
                client=Client(ours.server),
                service=service.of_user(address(users_of(number)[0])),
                users=users_of(number),
            )
            for number in range(CONNECTIONS)
        ]
        yield Side(
            server=ours.server,
            database=database,
            prepare=lambda compared, number: compared.ours(members[number]),
        )


def _beside(compared: Compared, ours: Side, theirs: Side, say: Say, *, seconds: float, rounds: int) -> Beside:
    sides = (ours, theirs)
    sends = [_ready(compared, side) for side in sides]
    loads: tuple[list[LoadFigures], list[LoadFigures]] = ([], [])
    for number in range(1, rounds + 1):
        for which in (0, 1) if number % 2 else (1, 0):
            loads[which].append(_load(sides[which].server, sends[which], seconds))
        here, there = (each[-1] for each in loads)
        say(
            f"round {number} of {rounds}: {compared.name:18} {here.cpu_ms:.3f} and {there.cpu_ms:.3f} ms CPU,"
            f" {here.requests_per_second:.0f} and {there.requests_per_second:.0f} a second"
        )
    done = [
        _measured(side, each_sends, each_loads, seconds)
        for side, each_sends, each_loads in zip(sides, sends, loads, strict=True)
    ]
    return Beside(operation=compared, ours=done[0], theirs=done[1])


def _ready(compared: Compared, side: Side) -> list[Send]:
    sends = [side.prepare(compared, number) for number in range(compared.connections)]
    send_all(sends, WARM_UP_SECONDS)
    return sends


def _measured(side: Side, sends: Sequence[Send], loads: Sequence[LoadFigures], seconds: float) -> Measured:
    # In a load of its own, because sampling costs PostgreSQL time.
    with sampled(side.database) as connections:
        times_ms, _ = send_all(sends, seconds)
    milliseconds_each = 1000 * seconds / len(times_ms)
    server, postmaster = side.server.roots
    return Measured(
        loads=loads,
        waits_ms={name: number * milliseconds_each for name, number in connections.items()},
        server_megabytes=_megabytes(server),
        database_megabytes=_megabytes(postmaster),
    )


def _load(server: RunningServer, sends: Sequence[Send], seconds: float) -> LoadFigures:
    root, postmaster = server.roots

    def clocks_ms() -> Sequence[float]:
        seconds = (time.monotonic(), machine_cpu_seconds(), own_cpu_seconds())
        used = (thread_nanoseconds(root), tree_nanoseconds([root]), tree_nanoseconds([postmaster]))
        return [1000 * each for each in seconds] + [each / NANOSECONDS_PER_MILLISECOND for each in used]

    before = clocks_ms()
    times_ms, errors = send_all(sends, seconds)
    elapsed, machine, own, loop, whole, database = (
        late - early for early, late in zip(before, clocks_ms(), strict=True)
    )
    requests = len(times_ms)
    percentiles = statistics.quantiles(times_ms, n=100, method="inclusive")
    return LoadFigures(
        requests_per_second=1000 * requests / elapsed,
        p50_ms=percentiles[49],
        p95_ms=percentiles[94],
        loop_ms=loop / requests,
        threads_ms=(whole - loop) / requests,
        database_ms=database / requests,
        errors=errors,
        others_share=max(0.0, (machine - own - whole - database) / (elapsed * PROCESSORS)),
    )


def send_all(sends: Sequence[Send], seconds: float) -> tuple[list[float], list[str]]:
    """Send each of these on a thread of its own, once and until the seconds are over.

    Return the times of the answers in ms, and the refusals.
    """
    until = time.perf_counter() + seconds

    def repeat(send: Send) -> tuple[list[float], list[str]]:
        times_ms: list[float] = []
        errors: list[str] = []
        while (began_at := time.perf_counter()) < until or not times_ms:
            try:
                send()
            except (CannotMeasure, OSError) as refused:
                errors.append(str(refused))
            times_ms.append((time.perf_counter() - began_at) * 1000)
        return times_ms, errors

    with ThreadPoolExecutor(len(sends)) as threads:
        answers = list(threads.map(repeat, sends))
    return [each for times_ms, _ in answers for each in times_ms], [each for _, errors in answers for each in errors]


def _megabytes(process: int) -> float | None:
    used = proportional_bytes([process])
    return None if used is None else used / BYTES_PER_MEGABYTE

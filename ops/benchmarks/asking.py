"""One caller asks alone: how long the answers take, and whether a big table was read from end to end for them.

PostgreSQL counts the scans of each table, but a connection reports its counts at most once a second. So a question is
over when all of its requests are in the counts, each of which looks up one session.
"""

from __future__ import annotations

import http.client
import math
import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from actors import metrics_refresher
from ops.benchmarks.load import HOST
from ops.benchmarks.machine import PROCESSORS
from ops.benchmarks.processes import cpu_seconds, machine_cpu_seconds, own_cpu_seconds
from ops.benchmarks.servers import ANSWER_SECONDS_MAX, READY_PATH, CannotMeasure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

    import psycopg

    from ops.benchmarks.questions import Question
    from ops.benchmarks.servers import RunningServer

    Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

P99_MS_MAX: Final = 100.0
# Enough for a statement to be prepared on every connection, and for the plan of the average to take over.
WARM_UP_REQUESTS: Final = 40
REQUESTS: Final = 200
BIG_ROWS_MIN: Final = 20_000
# Beside the questions one actor counts all accounts every period, with two workers to help.
SCANS_OF_THE_REFRESHER: Final = 3
COUNTS_SECONDS_MAX: Final = 30.0
COUNTS_POLL_SECONDS: Final = 0.3
# More than the service has connections while it is asked by one.
NUDGES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What came of a question: how long the answers took, and which big tables were read whole for them."""

    name: str
    p50_ms: float
    p99_ms: float
    bytes_max: int
    read_whole: Sequence[str]
    # Which part of the machine worked for neither the server nor us.
    others_share: float

    @property
    def is_over(self) -> bool:
        """Whether it took longer than it may, or in a way that grows with the table."""
        return self.p99_ms > P99_MS_MAX or bool(self.read_whole)


@dataclass(slots=True, kw_only=True)
class Caller:
    """Somebody who asks over one connection, which stays open."""

    port: int
    token: str
    _connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self._connection = http.client.HTTPConnection(HOST, self.port, timeout=ANSWER_SECONDS_MAX)

    def ask(self, path: str) -> tuple[float, int]:
        """Ask once; give how long the answer took in milliseconds, and how many bytes it has."""
        began_at = time.perf_counter()
        self._connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        response = self._connection.getresponse()
        body = response.read()
        took_ms = (time.perf_counter() - began_at) * 1000
        if response.status != http.HTTPStatus.OK:
            raise CannotMeasure(f"{path} is answered with {response.status}: {body.decode(errors='replace')}")
        return took_ms, len(body)

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


def ask(
    server: RunningServer, database: Connection, question: Question, token: str, *, requests: int = REQUESTS
) -> Asked:
    """Ask a question many times, in its forms by turns."""
    caller = Caller(port=server.port, token=token)
    try:
        before, began_at, busy_before = _counts(database), time.monotonic(), _busy(server)
        answers = [
            caller.ask(question.paths[number % len(question.paths)]) for number in range(WARM_UP_REQUESTS + requests)
        ]
        elapsed, busy_after = time.monotonic() - began_at, _busy(server)
    finally:
        caller.close()
    after = _counts_with(server, database, before.lookups + len(answers))
    times_ms = [took_ms for took_ms, _ in answers[WARM_UP_REQUESTS:]]
    percentiles = statistics.quantiles(times_ms, n=100, method="inclusive")
    return Asked(
        name=question.name,
        p50_ms=percentiles[49],
        p99_ms=percentiles[98],
        bytes_max=max(size for _, size in answers),
        read_whole=read_whole(before.scans, after.scans, time.monotonic() - began_at),
        others_share=max(0.0, (busy_after - busy_before) / (elapsed * PROCESSORS)),
    )


def read_whole(before: Mapping[str, int], after: Mapping[str, int], seconds: float) -> list[str]:
    """Name the big tables that were scanned more often than can be laid to anybody else in this time."""
    periods = math.floor(seconds / metrics_refresher.PERIOD_SECONDS) + 1
    return sorted(
        table for table, scans in after.items() if scans - before.get(table, 0) > SCANS_OF_THE_REFRESHER * periods
    )


def _busy(server: RunningServer) -> float:
    """Sum up the processor time that was used by neither the server nor us."""
    return machine_cpu_seconds() - own_cpu_seconds() - cpu_seconds(server.roots)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counts:
    """How often each big table was read whole, and how often a session was looked up."""

    scans: Mapping[str, int]
    lookups: int


def _counts(connection: Connection) -> _Counts:
    rows = connection.execute(
        """
        SELECT s.relname, s.seq_scan, coalesce(s.idx_scan, 0), c.reltuples
        FROM   pg_stat_user_tables s
        JOIN   pg_class c ON c.oid = s.relid
        """
    ).fetchall()
    return _Counts(
        scans={table: scans for table, scans, _, tuples in rows if tuples >= BIG_ROWS_MIN},
        lookups=sum(scans + lookups for table, scans, lookups, _ in rows if table == "sessions"),
    )


def _counts_with(server: RunningServer, connection: Connection, lookups: int) -> _Counts:
    """Wait for the counts of so many lookups of sessions."""
    give_up_at = time.monotonic() + COUNTS_SECONDS_MAX
    while True:
        time.sleep(COUNTS_POLL_SECONDS)
        # What is asked meanwhile looks up no session, and makes each connection report.
        for _ in range(NUDGES):
            server.get(READY_PATH)
        counts = _counts(connection)
        if counts.lookups >= lookups:
            return counts
        if time.monotonic() > give_up_at:
            raise CannotMeasure("PostgreSQL does not count what it is asked. Is track_counts off?")

"""Queries by a single caller: how long the answers take, and whether PostgreSQL scanned a big table for them.

PostgreSQL counts the scans of each table, but a connection reports its counts at most once a second. So a query is
finished when the counts include all of its requests, each of which reads one session.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import psycopg

from actors import metrics_refresher
from ops.benchmarks.client import Client
from ops.benchmarks.machine import PROCESSORS
from ops.benchmarks.processes import cpu_seconds, machine_cpu_seconds, own_cpu_seconds
from ops.benchmarks.questions import Question
from ops.benchmarks.servers import READY_PATH, CannotMeasure, RunningServer

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]


P99_MS_MAX: Final = 100.0
# Of a page: what the server needs for most of them, and its size without compression.
PAGE_P50_MS_MAX: Final = 60.0
PAGE_BYTES_MAX: Final = 40 * 1024
# Enough for a statement to be prepared on every connection, and for the generic plan to be used.
WARM_UP_REQUESTS: Final = 40
REQUESTS: Final = 200
BIG_ROWS_MIN: Final = 20_000
# Meanwhile one actor counts organizations and what is queued every period, with two parallel workers at most.
SCANS_OF_THE_REFRESHER: Final = 3
COUNTS_SECONDS_MAX: Final = 30.0
COUNTS_POLL_SECONDS: Final = 0.3
# More than the connections that the service uses for one caller.
REPORT_REQUESTS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFigures:
    """The results of a query: how long the answers took, and which big tables were scanned for them."""

    name: str
    p50_ms: float
    p99_ms: float
    # Of the server and its database, for one request; unlike the time it hardly depends on what else the machine does.
    cpu_ms: float
    bytes_max: int
    read_whole: Sequence[str]
    # The share of the machine that neither the server nor this process used.
    others_share: float
    is_page: bool = False

    @property
    def is_over(self) -> bool:
        """Whether it exceeds the limit, or takes time that grows with the table."""
        is_heavy = self.is_page and (self.p50_ms > PAGE_P50_MS_MAX or self.bytes_max > PAGE_BYTES_MAX)
        return is_heavy or self.p99_ms > P99_MS_MAX or bool(self.read_whole)


def query(
    server: RunningServer, database: Connection, question: Question, caller: Client, *, requests: int = REQUESTS
) -> QueryFigures:
    """Send the requests of a query many times, through its paths in turn."""
    before, began_at, busy_before = _counts(database), time.monotonic(), _busy(server)
    used_before = cpu_seconds(server.roots)
    answers = [
        _timed(caller, question.paths[number % len(question.paths)]) for number in range(WARM_UP_REQUESTS + requests)
    ]
    elapsed, busy_after = time.monotonic() - began_at, _busy(server)
    used_seconds = cpu_seconds(server.roots) - used_before
    after = _counts_with(server, database, before.lookups + len(answers))
    times_ms = [took_ms for took_ms, _ in answers[WARM_UP_REQUESTS:]]
    percentiles = statistics.quantiles(times_ms, n=100, method="inclusive")
    return QueryFigures(
        name=question.name,
        p50_ms=percentiles[49],
        p99_ms=percentiles[98],
        cpu_ms=used_seconds * 1000 / len(answers),
        bytes_max=max(size for _, size in answers),
        read_whole=read_whole(before.scans, after.scans, time.monotonic() - began_at),
        others_share=max(0.0, (busy_after - busy_before) / (elapsed * PROCESSORS)),
        is_page=question.is_page,
    )


def read_whole(before: Mapping[str, int], after: Mapping[str, int], seconds: float) -> list[str]:
    """Return the big tables that were scanned more often than the actor explains in this time."""
    periods = math.floor(seconds / metrics_refresher.COUNT_SECONDS) + 1
    return sorted(
        table for table, scans in after.items() if scans - before.get(table, 0) > SCANS_OF_THE_REFRESHER * periods
    )


def _timed(caller: Client, path: str) -> tuple[float, int]:
    """Send one request; return the duration in milliseconds and the size of the answer in bytes."""
    began_at = time.perf_counter()
    answer = caller.get(path)
    return (time.perf_counter() - began_at) * 1000, len(answer.body)


def _busy(server: RunningServer) -> float:
    """Return the processor time that neither the server nor this process used."""
    return machine_cpu_seconds() - own_cpu_seconds() - cpu_seconds(server.roots)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counts:
    """How often each big table was scanned, and how often a session was read."""

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
    """Return the counts as soon as they include this many reads of sessions."""
    give_up_at = time.monotonic() + COUNTS_SECONDS_MAX
    while True:
        time.sleep(COUNTS_POLL_SECONDS)
        # These requests read no session, and make each connection report its counts.
        for _ in range(REPORT_REQUESTS):
            server.get(READY_PATH)
        counts = _counts(connection)
        if counts.lookups >= lookups:
            return counts
        if time.monotonic() > give_up_at:
            raise CannotMeasure("PostgreSQL does not count statements. Check that track_counts is on.")

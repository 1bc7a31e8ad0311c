"""Counting together: what several workers count adds up, goes on with their replacements, and lies in no file."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import values

from adapters.prometheus import PrometheusMetrics
from adapters.prometheus_shared import SharedMetrics
from core.sign_in.reasons import CountedReason
from ports.listening import PollingRole
from ports.metrics_of_work import ProcessUsage
from tests.adapters.test_prometheus_work import series

REQUESTS = "sso_http_request_duration_seconds"
LABELS = 'method="GET",route="/health",status="2xx"'
READER = 2


@dataclass(frozen=True)
class Pool:
    """The statistics of a pool."""

    idle: int
    total: int = 10
    maximum: int = 10


@pytest.fixture(autouse=True)
def _own_values() -> Iterator[None]:
    """Undo what makes the values of metrics that are made later."""
    before = values.ValueClass
    yield
    values.ValueClass = before


@pytest.fixture
def shared() -> SharedMetrics:
    return SharedMetrics(READER + 1)


@pytest.fixture
def reader(shared: SharedMetrics) -> PrometheusMetrics:
    """The metrics of a worker that counts nothing itself."""
    return PrometheusMetrics(version="1.2.3", worker=READER, shared=shared)


def in_worker(shared: SharedMetrics, number: int, act: Callable[[PrometheusMetrics], None]) -> None:
    """Act in a process of its own, and wait for its end; it is taken for one that is still there."""
    process = os.fork()
    if not process:
        try:
            act(PrometheusMetrics(version="1.2.3", worker=number, shared=shared))
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


def test_each_worker_exposes_the_counts_of_all_and_a_replacement_continues_them(
    shared: SharedMetrics, reader: PrometheusMetrics
) -> None:
    def count(seconds: float) -> Callable[[PrometheusMetrics], None]:
        def act(metrics: PrometheusMetrics) -> None:
            metrics.request_finished("GET", "/health", 200, seconds)
            metrics.login_failed(CountedReason.INVALID_CREDENTIALS)

        return act

    in_worker(shared, 0, count(0.004))
    in_worker(shared, 1, count(0.3))
    shared.leave(1)
    in_worker(shared, 1, count(20.0))

    buckets = series(reader, f"{REQUESTS}_bucket")
    counts = [buckets[f'{{le="{le}",{LABELS}}}'] for le in ("0.0025", "0.005", "0.25", "0.5", "10.0", "+Inf")]
    assert counts == [0, 1, 1, 2, 2, 3]
    assert series(reader, f"{REQUESTS}_count") == {f"{{{LABELS}}}": 3}
    assert series(reader, f"{REQUESTS}_sum") == {f"{{{LABELS}}}": pytest.approx(20.304)}
    failures = series(reader, "sso_login_failures_total")
    assert {reason: number for reason, number in failures.items() if number} == {'{reason="invalid_credentials"}': 3}
    assert f"# HELP {REQUESTS} The duration of requests" in reader.exposition().decode()


def test_gauges_are_of_the_workers_that_are_there(shared: SharedMetrics, reader: PrometheusMetrics) -> None:
    def first(metrics: PrometheusMetrics) -> None:
        metrics.pool_measured(Pool(idle=3))
        metrics.usage_measured(ProcessUsage(cpu_seconds=1, resident_bytes=100, proportional_bytes=50))
        metrics.actor_changed("poller", is_up=True)
        metrics.clock_compared(0.5)
        metrics.processes_counted(3)

    def second(metrics: PrometheusMetrics) -> None:
        metrics.pool_measured(Pool(idle=4))
        metrics.usage_measured(ProcessUsage(cpu_seconds=1, resident_bytes=100, proportional_bytes=50))
        metrics.actor_changed("poller", is_up=False)
        metrics.clock_compared(-2.0)
        metrics.processes_counted(2)

    idle, up, clock = "sso_db_pool_connections_idle", "sso_actor_up", "sso_clock_error_seconds"
    in_worker(shared, 0, first)
    in_worker(shared, 1, second)

    assert series(reader, idle) == {'{backend="postgres"}': 7}
    assert series(reader, up) == {'{actor="poller"}': 0}
    assert series(reader, clock) == {"": 2}
    # The latest counts.
    assert series(reader, "sso_live_processes") == {"": 2}
    assert len(series(reader, "sso_worker_memory_bytes")) == 4

    shared.leave(1)

    assert series(reader, idle) == {'{backend="postgres"}': 3}
    assert series(reader, up) == {'{actor="poller"}': 1}
    assert series(reader, clock) == {"": 0.5}
    assert series(reader, "sso_live_processes") == {"": 3}
    assert len(series(reader, "sso_worker_memory_bytes")) == 2
    # Counts stay.
    cpu = series(reader, "sso_worker_cpu_seconds_total")
    assert cpu == {'{worker="0"}': 1, '{worker="1"}': 1, f'{{worker="{READER}"}}': 0}


def test_the_latest_value_counts_also_after_the_clock_of_the_machine_was_set_back(shared: SharedMetrics) -> None:
    def value_of(worker: int) -> Any:
        make = shared.take(worker)
        return make("gauge", "live", "live", (), (), "Live processes.", multiprocess_mode="mostrecent")

    year_seconds = 365 * 86_400
    # The times are those that the library gives.
    value_of(0).set(3.0, timestamp=60.0 * year_seconds)
    value_of(1).set(2.0, timestamp=50.0 * year_seconds)

    [metric] = shared.collector().collect()
    assert [sample.value for sample in metric.samples] == [2.0]


def test_a_replacement_does_not_show_the_gauges_of_the_worker_before_it(
    shared: SharedMetrics, reader: PrometheusMetrics
) -> None:
    def crash(metrics: PrometheusMetrics) -> None:
        metrics.actor_changed("poller", is_up=False)
        metrics.polling_changed(PollingRole.LISTENING)

    in_worker(shared, 0, crash)
    assert series(reader, "sso_actor_up") == {'{actor="poller"}': 0}

    in_worker(shared, 0, lambda _: None)

    assert series(reader, "sso_actor_up") == {}
    assert set(series(reader, "sso_polling_processes").values()) == {0}


def test_a_place_that_is_full_costs_no_request_and_what_it_has_is_shown() -> None:
    shared = SharedMetrics(2, place_bytes=2 * mmap.PAGESIZE)
    reader = PrometheusMetrics(version="1.2.3", worker=1, shared=shared)

    def count(metrics: PrometheusMetrics) -> None:
        for number in range(100):
            metrics.request_finished("GET", f"/{number}", 200, 0.1)
            metrics.login_failed(CountedReason.INVALID_CREDENTIALS)

    in_worker(shared, 0, count)

    # The vocabularies that exist from the start have taken all of it.
    assert series(reader, "sso_mail_attempts_total")
    assert series(reader, f"{REQUESTS}_count") == {}


def test_no_file_is_mapped_so_a_full_file_system_ends_no_worker(reader: PrometheusMetrics) -> None:
    for number in range(200):
        reader.request_finished("GET", f"/{number}", 200, 0.1)

    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ
    assert mapped_files() == set()


def mapped_files() -> set[str]:
    """Return the files that this process would write to through its memory; memory that it shares is none."""
    lines = [line.split(maxsplit=5) for line in Path("/proc/self/maps").read_text().splitlines()]
    return {line[5].strip() for line in lines if len(line) == 6 and line[1][1] == "w" and line[1][3] == "s"} - {
        "/dev/zero (deleted)"
    }

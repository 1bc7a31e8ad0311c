"""A server whose log is not read goes on serving, replaces its workers, stops, and says how much it dropped."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Final

import psutil
import pytest

from tests.entrypoints.piped_service import PIPELINED, WORKERS, ask, piped_service
from tests.processes import Service
from tests.waiting import wait_until

# Each starts servers, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

# Their lines are more than a process keeps, and many times what a pipe holds.
REQUESTS: Final = 9_600


def _dropped(service: Service) -> dict[str, int]:
    lines = service.get("/metrics").content.decode().splitlines()
    found = [line for line in lines if line.startswith("sso_log_lines_dropped_total{")]
    return {line.split('"')[1]: int(float(line.rpartition(" ")[2])) for line in found}


def test_a_log_that_nobody_reads_costs_no_request_and_no_worker_and_is_counted(
    tmp_path: Path, database_url: str
) -> None:
    with piped_service(tmp_path, database_url, BASE_URL="https://id.example.com") as piped:
        service = piped.service
        assert _dropped(service) == {"debug": 0, "info": 0, "warning": 0, "error": 0}

        # Nothing is read from here on.
        assert ask(service.port, REQUESTS) == REQUESTS
        assert service.get("/health/ready").status == 200
        dropped = _dropped(service)
        # The other one has the lines of those requests.
        killed = min(service.workers(), key=lambda worker: worker.cpu_times().user).pid
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: len({worker.pid for worker in service.workers()} - {killed}) == WORKERS)
        assert service.get("/health/ready").status == 200

        # The reader is back.
        wait_until(lambda: bool(piped.logged("log.lines_dropped")) and len(piped.logged("worker.ready")) == WORKERS)
        # The process above the workers writes for itself.
        wait_until(lambda: bool(piped.logged("worker.died")))
        [died] = piped.logged("worker.died")
        assert died["process"] == killed
        assert dropped["info"] > 0
        assert dropped["warning"] == dropped["error"] == 0
        # A full pipe may still take a line that is shorter than the others.
        told = piped.logged("log.lines_dropped")
        assert sum(one["dropped"]["info"] for one in told) == dropped["info"]
        assert all(one["since"] < one["timestamp"] and one["level"] == "warning" for one in told)
        wait_until(lambda: len(piped.logged("request")) == REQUESTS - dropped["info"])

        service.process.send_signal(signal.SIGTERM)
        wait_until(lambda: bool(piped.logged("server.stopped")))
        assert service.wait() == 0


def test_a_server_whose_log_nobody_reads_stops_when_it_is_told_to(tmp_path: Path, database_url: str) -> None:
    with piped_service(tmp_path, database_url) as piped:
        assert ask(piped.service.port, PIPELINED * 10) == PIPELINED * 10
        workers = [psutil.Process(worker.pid) for worker in piped.service.workers()]

        assert piped.service.stop() == 0

        assert not any(worker.is_running() for worker in workers)

"""A server whose log nobody reads: it serves on, replaces its workers, stops, and says how much was dropped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psutil
import pytest

from tests.processes import GATEHOUSE, Service, clean_environment, given_database, prefixed
from tests.waiting import wait_until

# Each starts servers, which takes seconds; CI runs them.
pytestmark = pytest.mark.long

WORKERS: Final = 2
# Their lines are more than a process keeps, and many times what a pipe holds.
REQUESTS: Final = 9_600
PIPELINED: Final = 200
READ_BYTES_MAX: Final = 65_536
ANSWER_SECONDS_MAX: Final = 60.0


@dataclass
class PipedService:
    """A server whose log goes to a pipe, which is read when the test says so."""

    service: Service
    reader: int
    received: bytes = b""
    # Of the lines so far.
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def read(self) -> list[dict[str, Any]]:
        """Read what is in the pipe; return the events so far."""
        while True:
            try:
                data = os.read(self.reader, READ_BYTES_MAX)
            except BlockingIOError:
                return self.events
            if not data:
                return self.events
            *lines, self.received = (self.received + data).split(b"\n")
            # Lines that mixed would be no JSON.
            self.events += [json.loads(line) for line in lines]
            self.service.log_file.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in self.events))

    def logged(self, event: str) -> list[dict[str, Any]]:
        """Read what is there; return the lines with that event."""
        return [one for one in self.read() if one["event"] == event]


@contextmanager
def _piped(folder: Path, database_url: str, **settings: str) -> Generator[PipedService]:
    environment = clean_environment() | given_database(database_url) | prefixed(settings)
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    process = subprocess.Popen(
        [GATEHOUSE, "serve", "--workers", str(WORKERS)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=writer,
        process_group=0,
    )
    os.close(writer)
    try:
        piped = PipedService(Service(process, folder / "log", environment, folder / "data"), reader)
        wait_until(lambda: len(piped.logged("server.ready")) + len(piped.logged("worker.ready")) == WORKERS)
        yield piped
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(reader)


def _ask(port: int, requests: int) -> int:
    """Send requests in a row on one connection, and so to one worker; return how many were answered."""
    answered = 0
    with socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS_MAX) as connection:
        stream = connection.makefile("rb")
        for _ in range(requests // PIPELINED):
            connection.sendall(b"HEAD /nothing HTTP/1.1\r\nHost: x\r\n\r\n" * PIPELINED)
            for _ in range(PIPELINED):
                answered += stream.readline().startswith(b"HTTP/1.1 404 ")
                while stream.readline() != b"\r\n":
                    pass
    return answered


def _dropped(service: Service) -> dict[str, int]:
    lines = service.get("/metrics").content.decode().splitlines()
    found = [line for line in lines if line.startswith("sso_log_lines_dropped_total{")]
    return {line.split('"')[1]: int(float(line.rpartition(" ")[2])) for line in found}


def test_a_log_that_nobody_reads_costs_no_request_and_no_worker_and_is_counted(
    tmp_path: Path, database_url: str
) -> None:
    with _piped(tmp_path, database_url, BASE_URL="https://id.example.com") as piped:
        service = piped.service
        assert _dropped(service) == {"debug": 0, "info": 0, "warning": 0, "error": 0}

        # Nothing is read from here on.
        assert _ask(service.port, REQUESTS) == REQUESTS
        assert service.get("/health/ready").status == 200
        dropped = _dropped(service)
        # The other one has the lines of those requests.
        killed = min(service.workers(), key=lambda worker: worker.cpu_times().user).pid
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: len({worker.pid for worker in service.workers()} - {killed}) == WORKERS)
        assert service.get("/health/ready").status == 200

        # The reader is back.
        wait_until(lambda: bool(piped.logged("log.lines_dropped")) and len(piped.logged("worker.ready")) == WORKERS)
        [died] = piped.logged("worker.died")
        assert died["process"] == killed
        assert dropped["info"] > 0
        assert dropped["warning"] == dropped["error"] == 0
        # A pipe that nobody reads may still take a line that is shorter than the others.
        told = piped.logged("log.lines_dropped")
        assert sum(one["dropped"]["info"] for one in told) == dropped["info"]
        assert all(one["since"] < one["timestamp"] and one["level"] == "warning" for one in told)
        wait_until(lambda: len(piped.logged("request")) == REQUESTS - dropped["info"])

        service.process.send_signal(signal.SIGTERM)
        wait_until(lambda: bool(piped.logged("server.stopped")))
        assert service.wait() == 0


def test_a_server_whose_log_nobody_reads_stops_when_it_is_told_to(tmp_path: Path, database_url: str) -> None:
    with _piped(tmp_path, database_url) as piped:
        assert _ask(piped.service.port, PIPELINED * 10) == PIPELINED * 10
        workers = [psutil.Process(worker.pid) for worker in piped.service.workers()]

        assert piped.service.stop() == 0

        assert not any(worker.is_running() for worker in workers)
        # The parent's last lines came while the pipe was full, and its process is over.
        assert piped.logged("server.stopped") == []

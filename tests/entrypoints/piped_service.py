"""A server whose log goes to a pipe that is read when a test says so, and what sends it many requests."""

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

from tests.processes import GATEHOUSE, Service, clean_environment, given_database, prefixed
from tests.waiting import wait_until

WORKERS: Final = 2
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

    def discard(self) -> None:
        """Read what is in the pipe, and forget it."""
        with suppress(BlockingIOError):
            while os.read(self.reader, READ_BYTES_MAX):
                pass

    def logged(self, event: str) -> list[dict[str, Any]]:
        """Read what is there; return the lines with that event."""
        return [one for one in self.read() if one["event"] == event]


@contextmanager
def piped_service(folder: Path, database_url: str, **settings: str) -> Generator[PipedService]:
    """A server with two workers that are ready; it is killed at the end."""
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


def ask(port: int, requests: int) -> int:
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

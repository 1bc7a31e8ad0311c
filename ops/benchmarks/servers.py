"""Starts and stops the measured servers: the service with its own PostgreSQL, and programs of others."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HOST: Final = "127.0.0.1"
READY_PATH: Final = "/health/ready"
START_SECONDS_MAX: Final = 60.0
STOP_SECONDS_MAX: Final = 30.0
POLL_SECONDS: Final = 0.005
# How long an answer may take before it counts as an error.
ANSWER_SECONDS_MAX: Final = 5.0
LOG_TAIL_BYTES: Final = 2_000
# The command of the version that this code belongs to.
GATEHOUSE: Final = Path(sys.executable).with_name("gatehouse")


class CannotMeasure(Exception):
    """The measured server does not work; the message is the line to print."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    """A running server: its port, its processes, and the duration of its start."""

    name: str
    port: int
    # The Python process comes first; PostgreSQL, if there is one, is not its child.
    roots: tuple[int, ...]
    start_seconds: float

    @property
    def python_process(self) -> int:
        """The process that answers requests."""
        return self.roots[0]

    def get(self, path: str) -> bytes:
        """Return the body at a path; raise `CannotMeasure` for any status but 200."""
        return self._required(path, *_request(self.port, "GET", path))

    def post(self, path: str, body: object, *, token: str | None = None) -> bytes:
        """Send JSON to a path and return the body; raise `CannotMeasure` for a refusal."""
        return self._required(path, *_request(self.port, "POST", path, json.dumps(body), token=token))

    def _required(self, path: str, status: int, body: bytes) -> bytes:
        if status not in {http.HTTPStatus.OK, http.HTTPStatus.CREATED}:
            raise CannotMeasure(f"{self.name} returned {status} for {path}: {body.decode(errors='replace')}")
        return body


@contextmanager
def service(
    folder: Path, settings: Mapping[str, str] | None = None, *, gatehouse: Path = GATEHOUSE
) -> Generator[RunningServer]:
    """Run the service as in production, on the data folder `folder`, which keeps its state for a later start.

    `gatehouse` is the command of another version.
    """
    port = free_port()
    environment = environment_of(folder) | {
        "GATEHOUSE_BIND": f"{HOST}:{port}",
        "GATEHOUSE_BASE_URL": f"http://{HOST}:{port}",
        "GATEHOUSE_RATE_LIMITS": "off",
        "GATEHOUSE_LOG_FORMAT": "json",
        **(settings or {}),
    }
    command = [str(gatehouse), "serve"]
    with running("gatehouse", command, port, READY_PATH, folder.with_suffix(".log"), environment) as server:
        postmaster = int((folder / "postgres" / "postmaster.pid").read_text().splitlines()[0])
        yield RunningServer(
            name=server.name, port=port, roots=(*server.roots, postmaster), start_seconds=server.start_seconds
        )


def environment_of(folder: Path) -> dict[str, str]:
    """Return the environment of a command on this data folder: the caller's, without the settings in it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
    return environment | {"GATEHOUSE_DATA_DIR": str(folder)}


@contextmanager
def running(
    name: str, command: Sequence[str], port: int, ready_path: str, log: Path, environment: dict[str, str]
) -> Generator[RunningServer]:
    """Run this command until it answers at this path, and stop it afterwards."""
    with log.open("ab") as output:
        started = time.monotonic()
        # In its own session, so that Ctrl-C reaches only this process, which stops the servers in order.
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment, start_new_session=True)
    try:
        if not _answers_in_time(process, port, ready_path):
            tail = log.read_bytes()[-LOG_TAIL_BYTES:].decode(errors="replace")
            raise CannotMeasure(f"The {name} server does not answer. The end of its log:\n{tail}")
        start_seconds = time.monotonic() - started
        yield RunningServer(name=name, port=port, roots=(process.pid,), start_seconds=start_seconds)
    finally:
        _stop(process)


def _answers_in_time(process: subprocess.Popen[bytes], port: int, path: str) -> bool:
    give_up_at = time.monotonic() + START_SECONDS_MAX
    while process.poll() is None and time.monotonic() < give_up_at:
        # The connection is refused until the server listens.
        with suppress(OSError):
            status, _ = _request(port, "GET", path)
            if status == http.HTTPStatus.OK:
                return True
        time.sleep(POLL_SECONDS)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _request(
    port: int, method: str, path: str, body: str | None = None, *, token: str | None = None
) -> tuple[int, bytes]:
    headers = {} if body is None else {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    connection = http.client.HTTPConnection(HOST, port, timeout=ANSWER_SECONDS_MAX)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def free_port() -> int:
    """Return a port that is free at this moment."""
    with socket.create_server((HOST, 0)) as listener:
        return listener.getsockname()[1]

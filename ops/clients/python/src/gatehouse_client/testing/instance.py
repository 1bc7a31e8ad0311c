"""The throw-away instance: its process, and what the kit alone may ask of it."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Any, Final

import httpx

from gatehouse_client.testing.installing import cache_folder
from gatehouse_client.testing.requests import Requests

START_SECONDS_MAX: Final = 300.0
STOP_SECONDS_MAX: Final = 60.0
_PATH: Final = "/dev/test-instance"


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A running instance: its address, its token, and its platform owner."""

    base_url: str
    token: str = field(repr=False)
    owner: dict[str, str] = field(repr=False)
    requests: Requests = field(repr=False)

    @property
    def description(self) -> str:
        """What `gatehouse test-instance` prints: with it another run of pytest uses this instance."""
        return json.dumps({"base_url": self.base_url, "token": self.token, "owner": self.owner})

    def reset(self) -> None:
        """Return to the state and the time in which it has started."""
        self.requests.forget_cookies()
        self._ask("reset")

    def advance(self, by: timedelta) -> datetime:
        """Put its clock forward, or back by a negative duration, and return its time."""
        answer = self._ask("clock", {"seconds": by.total_seconds()})
        return datetime.fromisoformat(answer["now"])

    def add_name(self, name: str, value: str) -> None:
        """Let its name server answer with a TXT record, which proves a mail domain."""
        self._ask("names", {"name": name, "value": value})

    def _ask(self, what: str, body: dict[str, Any] | None = None) -> Any:
        return self.requests.ask("POST", f"{_PATH}/{what}", body, token=self.token)


@contextmanager
def running(command: Sequence[str | Path]) -> Generator[Instance]:
    """Run an instance with the command of an installed Gatehouse until the context ends."""
    prepared = cache_folder() / "databases" / _word(command)
    # Its log is shown when it does not start; an unread pipe would stop it.
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [*command, "test-instance", "--prepared", str(prepared)],
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        assert process.stdin is not None, "a process has a pipe for its input"
        assert process.stdout is not None, "a process has a pipe for its output"
        try:
            started = _started(process.stdout, log)
            with connected(started["base_url"], started["token"], started["owner"]) as instance:
                yield instance
        finally:
            # It stops with its input, also when this process is killed.
            process.stdin.close()
            try:
                process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


@contextmanager
def connected(base_url: str, token: str, owner: dict[str, str]) -> Generator[Instance]:
    """Use an instance that runs already: what `gatehouse test-instance` printed."""
    with httpx.Client(base_url=base_url, timeout=60.0) as client:
        yield Instance(base_url=base_url, token=token, owner=owner, requests=Requests(client))


def _started(output: IO[bytes], log: IO[bytes]) -> dict[str, Any]:
    """Return what an instance says of itself, or raise what it logged instead."""
    lines = queue.SimpleQueue[bytes]()

    def read() -> None:
        lines.put(output.readline())
        while output.read(65_536):
            pass

    threading.Thread(target=read, daemon=True).start()
    try:
        line = lines.get(timeout=START_SECONDS_MAX)
    except queue.Empty:
        line = b""
    if not line:
        log.seek(0)
        raise RuntimeError(f"The instance of Gatehouse did not start:\n{log.read().decode(errors='replace')[-4000:]}")
    return json.loads(line)


def _environment() -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("GATEHOUSE_", "PYTHON", "COV_"))}
    return own | {"GATEHOUSE_DEV": "on", "GATEHOUSE_LOG_LEVEL": "error"}


def _word(command: Sequence[str | Path]) -> str:
    """Return the name of the prepared database for a command, which contains its version."""
    done = subprocess.run([*command, "--version"], check=True, capture_output=True, text=True, env=_environment())
    return done.stdout.strip().replace(" ", "-")

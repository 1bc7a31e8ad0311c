"""Runs the programs of a check, counts the processor time of each, and times the loop that it is compared with.

A second of processor time is worth more on one machine or day than on another: the same run was twice as dear on
another day. So the time is also told as a multiple of a loop that is timed beside it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ops.testing.changes import ROOT

PYTHON: Final = str(ROOT / ".venv/bin/python")
BIN: Final = ROOT / ".venv/bin"
_LOOP_LENGTH: Final = 300_000
_LOOPS: Final = 5
_READ_BYTES: Final = 65_536
# What is in brackets may have blanks and brackets of its own.
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+?(?:\[.*?\])?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended: its code, its seconds, its processor time with its children's, what it printed."""

    code: int
    seconds: float
    cpu_seconds: float
    printed: str


@dataclass(slots=True)
class Running:
    """A program that runs, and whose output is kept."""

    _process: subprocess.Popen[bytes]
    _began: float
    _shows: bool
    _chunks: list[bytes] = field(default_factory=list[bytes])

    def wait(self) -> Ended:
        """Return how it ended."""
        assert self._process.stdout is not None, "its output is read"
        while chunk := os.read(self._process.stdout.fileno(), _READ_BYTES):
            self._chunks.append(chunk)
            if self._shows:
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
        self._process.stdout.close()
        _, status, used = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return Ended(
            code=self._process.returncode,
            seconds=time.monotonic() - self._began,
            cpu_seconds=used.ru_utime + used.ru_stime,
            printed=b"".join(self._chunks).decode(errors="replace"),
        )


def start(command: Sequence[str], *, shows: bool = False, environment: Mapping[str, str] | None = None) -> Running:
    """Start a program at the root; `shows` lets its output through at once."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | (environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )
    return Running(process, time.monotonic(), shows)


def run(command: Sequence[str], *, shows: bool = False, environment: Mapping[str, str] | None = None) -> Ended:
    """Run a program to its end."""
    return start(command, shows=shows, environment=environment).wait()


class Beside:
    """A program that runs beside others."""

    def __init__(self, command: Sequence[str]) -> None:
        self._ended: list[Ended] = []
        running = start(command)
        self._thread = threading.Thread(target=lambda: self._ended.append(running.wait()))
        self._thread.start()

    def wait(self) -> Ended:
        """Return how it ended."""
        self._thread.join()
        [ended] = self._ended
        return ended


def loop_seconds() -> float:
    """Return the processor time of a loop of plain Python: the least of a few, so that neighbours count little."""
    return min(_loop_seconds() for _ in range(_LOOPS))


def _loop_seconds() -> float:
    began, counted = time.process_time(), dict[int, int]()
    for number in range(_LOOP_LENGTH):
        counted[number % 1_000] = counted.get(number % 1_000, 0) + len(str(number))
    return time.process_time() - began


def failed_tests(printed: str) -> list[str]:
    """Return the tests, and the files that cannot be collected, which the last lines of pytest name."""
    return _FAILED.findall(printed)

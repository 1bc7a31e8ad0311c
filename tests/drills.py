"""The sizes of drills: small in the tests, and as large as an operator's machine is tried with by a variable.

`GATEHOUSE_TEST_<NAME>=300 .venv/bin/python -m pytest FILE` sets one; the module of the drill names it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Final

import psutil

PREFIX: Final = "GATEHOUSE_TEST_"


def size_of(name: str, otherwise: int) -> int:
    """Return the size of a drill that the environment sets, or the one of the tests."""
    return int(os.environ.get(PREFIX + name, otherwise))


def memory_of(processes: list[psutil.Process]) -> int:
    """Return the bytes that processes take together: pages that they share are divided among them."""
    return sum(process.memory_full_info().pss for process in processes)


@dataclass
class Lasting:
    """How much of a drill of so many seconds is over; one of 0 seconds is over at once."""

    seconds: int
    began_at: float = field(default_factory=time.monotonic)

    def is_over(self, part: float = 1.0) -> bool:
        """Return whether that part of it is over."""
        return time.monotonic() - self.began_at >= self.seconds * part


@dataclass
class Durations:
    """How long something took each time, to be shown and not to be judged."""

    seconds: list[float] = field(default_factory=list[float])

    @contextmanager
    def measured(self) -> Generator[None]:
        """Measure the block."""
        began_at = time.monotonic()
        yield
        self.seconds.append(time.monotonic() - began_at)

    def __str__(self) -> str:
        return f"{median(self.seconds):.2f} s, at most {max(self.seconds):.2f} s"

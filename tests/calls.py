"""Counts the calls of Python functions: what a request costs the event loop, the same on every machine."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import pytest

from adapters.postgres.driver.timed_connection import TimedConnection
from tests.documents import ROOT

_TESTS = str(ROOT / "tests")


@dataclass
class Calls:
    """Count the calls outside of tests: all, and how many there were at each wait for PostgreSQL."""

    number: int = 0
    at_waits: list[int] = field(default_factory=list[int])

    @property
    def round_trips(self) -> int:
        """How often PostgreSQL was waited for."""
        return len(self.at_waits)

    @property
    def longest_stretch(self) -> int:
        """The most calls between two waits for PostgreSQL, in which no other request goes on."""
        return max(later - earlier for earlier, later in zip(self.at_waits, self.at_waits[1:], strict=False))

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Count a call; the interpreter calls this function for each."""
        if event == "call" and not frame.f_code.co_filename.startswith(_TESTS):
            self.number += 1


@contextmanager
def counted_calls() -> Generator[Calls]:
    """Yield what counts the calls in the block."""
    calls, wait = Calls(), TimedConnection.wait

    def count_and_wait(self: TimedConnection, *arguments: Any, **options: Any) -> Any:
        calls.at_waits.append(calls.number)
        return wait(self, *arguments, **options)

    gc.collect()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(TimedConnection, "wait", count_and_wait)
        sys.setprofile(calls)
        try:
            yield calls
        finally:
            sys.setprofile(None)

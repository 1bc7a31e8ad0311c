"""Limits of real time, which only a run that measures holds a test to.

A test with the fixture `stopwatch` runs twice: in the gate, where it proves what happens and in which order, and marked
`timing`, where it proves how long that took.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Stopwatch:
    """Measures by the machine's clock; limits hold where `is_measuring`."""

    is_measuring: bool

    def assert_within(self, seconds: float, seconds_max: float, *, seconds_min: float = 0.0) -> None:
        """Where the run measures, assert that a measured time is below a limit, and at least another one."""
        if self.is_measuring:
            assert seconds_min <= seconds < seconds_max

    @contextmanager
    def within(self, seconds_max: float, *, seconds_min: float = 0.0) -> Generator[None]:
        """Where the run measures, assert that the block took less than a time, and at least another one."""
        began_at = time.monotonic()
        yield
        self.assert_within(time.monotonic() - began_at, seconds_max, seconds_min=seconds_min)


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.timing)], ids=["counted", "measured"])
def stopwatch(request: pytest.FixtureRequest) -> Stopwatch:
    """The stopwatch of a test, which measures where the test is marked `timing`."""
    return Stopwatch(is_measuring=request.param)

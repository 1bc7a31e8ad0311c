"""Coverage of the core that example tests run, directly or in use cases, each of which runs in a greenlet.

The tracer is switched together with the greenlet. Coverage can follow greenlets itself (`concurrency = greenlet`), but
then determines the current one at every call, which made the tests take twice as long. Switches are a thousand times
rarer than calls.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import coverage
import greenlet

# With `GATEHOUSE_TEST_COVERAGE=all`, every layer is measured, and whatever reaches a line counts; with `modules`, the
# modules of tests are told apart.
_COVERAGE = os.environ.get("GATEHOUSE_TEST_COVERAGE")
COUNTS_EVERYTHING = _COVERAGE == "all"
# The folders and modules of the tests that are traced, separated by blanks; without it, all are.
TRACED = "GATEHOUSE_TEST_TRACED"
_TRACED = tuple(os.environ.get(TRACED, "").split())


def is_traced(node: str) -> bool:
    """Return whether what a test reaches is counted."""
    return not _TRACED or node.startswith(_TRACED)


def enter_module(module: str) -> None:
    """Count from now on for a module of tests, where coverage tells modules apart."""
    if _COVERAGE == "modules" and (measured := coverage.Coverage.current()) is not None:
        measured.switch_context(module)


class Follower:
    """Assigns each greenlet of a thread its own tracer, which remembers the position in that greenlet."""

    def __init__(self, first: Any) -> None:
        # The trace function of coverage: it makes a tracer and installs it in its own place.
        self._first = first
        self._left: dict[greenlet.greenlet, Any] = {}
        self._idle: list[Any] = []

    def __call__(self, event: str, stacks: tuple[greenlet.greenlet, greenlet.greenlet]) -> None:
        """Switch the tracer, because the thread switched from one greenlet to another."""
        left, entered = stacks
        tracer = sys.gettrace()
        if left.dead:
            self._idle.append(tracer)
        else:
            self._left[left] = tracer
        sys.settrace(self._left.pop(entered) if entered in self._left else self._new())

    def _new(self) -> Any:
        return self._idle.pop() if self._idle else self._first


@contextmanager
def tracing_use_cases() -> Generator[None]:
    """Trace only what runs in greenlets: tracing every call of all libraries would double the time of a test."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


@contextmanager
def tracing_nothing() -> Generator[None]:
    """Trace neither this stack nor the greenlets that it switches to."""
    follower = greenlet.settrace(None)
    try:
        with tracing_use_cases():
            yield
    finally:
        greenlet.settrace(follower)


def follow_stacks() -> None:
    """Follow the greenlets of this thread, if tracing is on.

    Other threads and processes are not traced, because their timing decides what they reach.
    """
    first = threading.gettrace()
    if first is None:
        return
    if COUNTS_EVERYTHING:
        _follow_later_threads(first)
    else:
        threading.settrace(None)
        # With it, coverage starts itself in the processes of this one.
        os.environ.pop("COVERAGE_PROCESS_CONFIG", None)
    greenlet.settrace(Follower(first))


def _follow_later_threads(first: Any) -> None:

    def begin(frame: FrameType, event: Any, arg: Any) -> Any:
        greenlet.settrace(Follower(first))
        return first(frame, event, arg)

    threading.settrace(begin)

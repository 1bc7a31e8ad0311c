"""Coverage of core alone, at a price that a whole run can pay: traced is what core does, and nothing else.

A tracer hears of every line that runs, whoever's it is, and only then says that it does not care; tests of HTTP took
twice as long with it. So every function of core is made to switch it on and, when it is done, off. A use case has a
stack of its own (ops/decisions/0008) and may be left in the middle, so each beginning has a tracer of its own.

What this overlooked would be missing in the report, and `ops/test` would fail: it cannot hide anything.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import coverage
import greenlet

if TYPE_CHECKING:
    from collections.abc import Callable

CORE = "core"
FOLDER = str(Path(__file__).parents[1] / CORE) + os.sep


def trace_core_alone() -> None:
    """Switch tracing off but for core, where coverage is asked for core alone."""
    measured = coverage.Coverage.current()
    if measured is None or measured.get_option("run:source") != [CORE]:
        return
    switch = _Switch(threading.gettrace())
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename.startswith(FOLDER):
            _let(function, switch.run)
    threading.settrace(None)
    sys.settrace(None)


class _Switch:
    """Switches tracing on and off, for each thread and each stack by itself."""

    def __init__(self, first: Any) -> None:
        # Where coverage begins in a new thread: it makes a tracer and puts that into its own place.
        self._first = first
        self._of_thread = threading.local()

    def run(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a function of core with tracing on."""
        if sys.gettrace() is not None:
            return function(*args, **kwargs)
        idle = self._idle()
        sys.settrace(idle.pop() if idle else self._first)
        try:
            return function(*args, **kwargs)
        finally:
            idle.append(sys.gettrace())
            sys.settrace(None)

    def _idle(self) -> list[Any]:
        """Give this thread's tracers that nobody uses."""
        if not hasattr(self._of_thread, "idle"):
            self._of_thread.idle = []
            greenlet.settrace(_Follower())
        return self._of_thread.idle


class _Follower:
    """Lets the tracer of a stack rest while another stack runs."""

    def __init__(self) -> None:
        self._resting: WeakKeyDictionary[greenlet.greenlet, Any] = WeakKeyDictionary()

    def __call__(self, event: str, stacks: tuple[greenlet.greenlet, greenlet.greenlet]) -> None:
        """Hear that one stack was left for another."""
        left, entered = stacks
        if (tracer := sys.gettrace()) is not None:
            self._resting[left] = tracer
        sys.settrace(self._resting.pop(entered, None))


def _detour(*args: Any, **kwargs: Any) -> Any:
    run: Any = "run"
    return run("function", args, kwargs)


def _let(function: FunctionType, run: Callable[..., Any]) -> None:
    """Let a function run that way from now on, whoever has a reference to it."""
    code = function.__code__
    itself = FunctionType(code, function.__globals__, code.co_name, function.__defaults__, function.__closure__)
    itself.__kwdefaults__ = function.__kwdefaults__
    meant: dict[Any, Any] = {"run": run, "function": itself}
    detour = _detour.__code__
    function.__code__ = detour.replace(
        co_name=code.co_name,
        co_consts=tuple(meant.get(constant, constant) for constant in detour.co_consts),
        # Python insists that there are as many as before.
        co_freevars=code.co_freevars,
    )

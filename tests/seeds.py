"""The randomness of a test: what Python draws in a process of the tests follows from the test's own id.

A place is a test, a fixture that several tests share, or the import of a module. What is drawn there follows from its
name, from the module that draws, and from how often that has drawn there before: neither the tests that ran earlier nor
what another module makes once in a process change it. Other threads draw apart from the main one.

It is done by replacing what the secure sources of Python call. The product has no setting for it (tests/test_seeds.py),
and a server that a test starts draws from the operating system.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import random
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from types import FrameType, MappingProxyType, ModuleType
from typing import Any, Final

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook
from trio._core import _run as scheduler

# Randomness that remains, and why. No assertion depends on it.
CANNOT_FOLLOW: Final[Mapping[str, str]] = MappingProxyType({
    "keys and signatures of OpenSSL": "its generator takes no seed; tests check what is signed, and compare no bytes",
    "os.getrandom and ssl.RAND_bytes": "nothing calls them, which a test keeps so",
    "gen_random_uuid() and random() of PostgreSQL": "the server draws, in triggers and in statements of tests",
    "child processes": "servers, workers, browsers and peers are as in production, where nothing gives a seed",
    "threads among each other": "the kernel orders them; what they draw is apart from the main thread's",
    "tasks that wait for sockets, threads and processes": "the kernel says which one is ready first",
    "sets of objects without a hash of their own": "their order follows from addresses in memory",
    "hashes of texts": "they follow from PYTHONHASHSEED, which a process has before its first line; ops/test sets it",
    "names of temporary files and addresses of loopback": "other processes of the machine have them at the same time",
    "numbers of processes and of free ports": "the kernel gives them",
    "the machine's clock": "the time in an id that follows no clock of a test, and PostgreSQL's now()",
})  # fmt: skip

_system: Final = os.urandom
_seed: Final = random.Random.seed
# They pass on what they are asked for.
_PASSING: Final = frozenset({"random", "secrets", "uuid", __name__})


def _bound(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if value is _system and module.__name__ != __name__]


def _is_of_random(value: object) -> bool:
    return getattr(value, "__self__", None) is _OF_RANDOM


class Unfollowed(random.Random):
    """A generator that follows from no test, for names that other processes of the machine may have too."""

    def seed(self, a: Any = None, version: int = 2) -> None:
        """Take the seed from the operating system, unless it is given."""
        _seed(self, int.from_bytes(_system(32)) if a is None else a, version)


class _Place:
    """Where is drawn: a stream of bytes for each module, in the main thread and outside of it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._numbers: defaultdict[tuple[str, bool], Callable[[], int]] = defaultdict(_numbers)

    @functools.cached_property
    def of_threads(self) -> random.Random:
        """What `random` itself draws from, outside of the main thread."""
        return random.Random(self._key("random", is_main=False))

    def urandom(self, size: int, module: str, *, is_main: bool) -> bytes:
        """Return the next bytes for a module."""
        number = self._numbers[module, is_main]()
        return hashlib.shake_256(self._key(module, is_main=is_main) + number.to_bytes(8)).digest(size)

    def begin(self) -> None:
        """Let what has a state of its own begin anew: `random`, and the order in which Trio runs tasks."""
        for generator in (_OF_RANDOM, scheduler._r):
            _seed(generator, self._key("state", is_main=True))

    def _key(self, module: str, *, is_main: bool) -> bytes:
        return hashlib.sha256(f"{self._name}\0{module}\0{is_main}".encode()).digest()


def _numbers() -> Callable[[], int]:
    return itertools.count().__next__


_OF_RANDOM: Final[random.Random] = vars(random)["_inst"]
_here: list[_Place] = []
_forgetting: list[Callable[[], None]] = []


def forget_before_each_test(forget: Callable[[], None]) -> None:
    """Call a function before each test, to remove traces of the tests before it."""
    _forgetting.append(forget)


@contextmanager
def drawn_at(name: str) -> Generator[None]:
    """Draw from another place, and go on afterwards as if nothing had been drawn."""
    states = _OF_RANDOM.getstate(), scheduler._r.getstate()
    before, _here[:] = list(_here), [_Place(name)]
    _here[0].begin()
    try:
        yield
    finally:
        _here[:] = before
        _OF_RANDOM.setstate(states[0])
        scheduler._r.setstate(states[1])


class Numbers:
    """1, 2, 3 …, from the beginning in each test."""

    def __init__(self) -> None:
        self._begin()
        forget_before_each_test(self._begin)

    def __iter__(self) -> Numbers:
        return self

    def __next__(self) -> int:
        return next(self._numbers)

    def _begin(self) -> None:
        self._numbers = itertools.count(1)


def _urandom(size: int, /) -> bytes:
    """Return bytes that follow from the place, in place of `os.urandom`."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") in _PASSING:
        frame = frame.f_back
    module = "" if frame is None else str(frame.f_globals.get("__name__"))
    return _here[0].urandom(size, module, is_main=_is_main())


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
    _seed(self, int.from_bytes(os.urandom(32)) if a is None else a, version)


def _of_thread(name: str) -> Callable[..., Any]:
    """Return a function of `random` that leaves the state alone which the main thread draws from."""
    of_main = getattr(_OF_RANDOM, name)

    def draw(*arguments: Any, **options: Any) -> Any:
        return (of_main if _is_main() else getattr(_here[0].of_threads, name))(*arguments, **options)

    return draw


def _imported(execute: Callable[[Any, ModuleType], None]) -> Callable[[Any, ModuleType], None]:
    """Return what executes a module, which then draws the same whichever test imports it first."""

    @functools.wraps(execute)
    def exec_module(self: Any, module: ModuleType) -> None:
        if not _is_main():
            execute(self, module)
            return
        with drawn_at(f"import of {module.__name__}"):
            execute(self, module)

    return exec_module


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Replace the sources of randomness in this process, before a module of the tests or the product is imported."""
    _here[:] = [_Place("a process of the tests")]
    random.Random.seed = _seeded
    replaced: list[tuple[object, str, object]] = [
        (tempfile, "_Random", Unfollowed),
        *((module, name, _urandom) for module in sys.modules.values() for name in _bound(module)),
        *((random, name, _of_thread(name)) for name, value in vars(random).items() if _is_of_random(value)),
        *(
            (loader, "exec_module", _imported(loader.exec_module))
            for loader in (SourceFileLoader, AssertionRewritingHook)
        ),
    ]
    for place, name, value in replaced:
        setattr(place, name, value)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let a test draw by its own id."""
    for forget in _forgetting:
        forget()
    with drawn_at(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Let a fixture that several tests share draw by its own name, whichever of them comes first."""
    if fixturedef.scope == "function":
        return (yield)
    with drawn_at(f"{request.node.nodeid}::{fixturedef.argname}[{getattr(request, 'param_index', 0)}]"):
        return (yield)

"""One source for asyncio, Trio and programs without async.

An operation is a generator: it yields an effect (what it wants done) and is sent the result. `run` drives it without
async, `run_async` on asyncio or Trio. What needs neither network, clock nor lock is an ordinary function elsewhere.
"""

from __future__ import annotations

import inspect
import ssl
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeAlias, TypeVar, cast

import anyio
import httpx

from gatehouse_client.errors import GatehouseError, Unreachable

T = TypeVar("T")

# A server that answers later than this counts as one that does not answer.
TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request; the result is the response, of whatever status, read completely."""

    request: httpx.Request = field(repr=False)


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call a function of the product; with async it may be a coroutine function."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Locked(Generic[T]):
    """Take steps under the lock of that name; without `waits`, not at all when another holds it."""

    name: str
    steps: Generator[Any, Any, T]
    waits: bool = True


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Now:
    """Read the clock, in seconds since 1970."""


Effect: TypeAlias = Send | Invoke | Locked[Any] | Sleep | Now
Steps: TypeAlias = Generator[Effect, Any, T]


def send(request: httpx.Request) -> Steps[httpx.Response]:
    """Send a request and return the response; raise `Unreachable` when none comes."""
    return cast("httpx.Response", (yield Send(request)))


def invoke(function: Callable[..., Any], *arguments: Any) -> Steps[Any]:
    """Return what a function of the product returns, or what its coroutine does."""
    return (yield Invoke(function, arguments))


def locked(name: str, steps: Steps[T]) -> Steps[T]:
    """Take steps while no other caller takes steps under the same name."""
    return cast("T", (yield Locked(name, steps)))


def locked_if_free(name: str, steps: Steps[T]) -> Steps[T | None]:
    """Take steps as `locked` does, or return None at once when another caller holds the lock."""
    return cast("T | None", (yield Locked(name, steps, waits=False)))


def sleep(seconds: float) -> Steps[None]:
    """Wait."""
    yield Sleep(seconds)


def now() -> Steps[float]:
    """Return the time in seconds since 1970."""
    return cast("float", (yield Now()))


@dataclass
class _Turn:
    """A lock, and how many callers hold it or wait for it."""

    lock: Any
    users: int = 0


class _Turns:
    """Locks by name; a lock lives while a caller holds it or waits for it."""

    def __init__(self, make_lock: Callable[[], Any]) -> None:
        self._make_lock = make_lock
        self._turns: dict[str, _Turn] = {}
        self._guard = threading.Lock()

    @contextmanager
    def lock_of(self, name: str) -> Generator[Any]:
        """Yield the lock of that name, which is not taken by this."""
        with self._guard:
            turn = self._turns.setdefault(name, _Turn(self._make_lock()))
            turn.users += 1
        try:
            yield turn.lock
        finally:
            with self._guard:
                turn.users -= 1
                if turn.users == 0:
                    del self._turns[name]


@cache
def _trusted() -> ssl.SSLContext:
    """Return what certificates are checked against; reading them takes a tenth of a second, so all clients share it."""
    return httpx.create_ssl_context()


def _timeout(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=TIMEOUT_SECONDS)


class BlockingIO:
    """What `run` uses: a client of httpx, locks of threads, and the clock. It may be shared by threads."""

    def __init__(
        self,
        client: httpx.Client | None = None,
        *,
        clock: Callable[[], float] = time.time,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self.client = client or httpx.Client(timeout=_timeout(timeout_seconds), verify=_trusted())
        self.clock = clock
        self._turns = _Turns(threading.Lock)

    @contextmanager
    def turn(self, name: str, *, waits: bool) -> Generator[bool]:
        """Hold the lock of that name; yield whether it is held."""
        with self._turns.lock_of(name) as lock:
            is_held = lock.acquire(blocking=waits)
            try:
                yield is_held
            finally:
                if is_held:
                    lock.release()

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


class AsyncIO:
    """What `run_async` uses: an async client of httpx, locks of anyio, and the clock. It belongs to one event loop."""

    def __init__(
        self,
        client: httpx.AsyncClient | None = None,
        *,
        clock: Callable[[], float] = time.time,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self.client = client or httpx.AsyncClient(timeout=_timeout(timeout_seconds), verify=_trusted())
        self.clock = clock
        self._turns = _Turns(anyio.Lock)

    @asynccontextmanager
    async def turn(self, name: str, *, waits: bool) -> AsyncGenerator[bool]:
        """Hold the lock of that name; yield whether it is held."""
        with self._turns.lock_of(name) as lock:
            if not waits and lock.locked():
                yield False
                return
            async with lock:
                yield True

    async def aclose(self) -> None:
        """Close the connections."""
        await self.client.aclose()


def run(steps: Steps[T], io: BlockingIO) -> T:
    """Take the steps to their end without async, and return the result."""
    with closing(steps):
        try:
            effect = next(steps)
            while True:
                try:
                    result = _perform(effect, io)
                except GatehouseError as refusal:
                    effect = steps.throw(refusal)
                else:
                    effect = steps.send(result)
        except StopIteration as end:
            return cast("T", end.value)


def _perform(effect: Effect, io: BlockingIO) -> Any:
    match effect:
        case Now():
            return io.clock()
        case Send(request):
            try:
                return io.client.send(request, follow_redirects=False)
            except httpx.HTTPError as problem:
                raise Unreachable.because(problem, request) from problem
        case Invoke(function, arguments):
            result = function(*arguments)
            if inspect.isawaitable(result):
                raise TypeError(f"{function!r} is a coroutine function: use the async class of this operation")
            return result
        case Locked(name, steps, waits):
            with io.turn(name, waits=waits) as is_held:
                return run(steps, io) if is_held else steps.close()
        case Sleep(seconds):
            return time.sleep(seconds)


async def run_async(steps: Steps[T], io: AsyncIO) -> T:
    """Take the steps to their end on asyncio or Trio, and return the result; a cancel closes the steps."""
    with closing(steps):
        try:
            effect = next(steps)
            while True:
                try:
                    result = await _perform_async(effect, io)
                except GatehouseError as refusal:
                    effect = steps.throw(refusal)
                else:
                    effect = steps.send(result)
        except StopIteration as end:
            return cast("T", end.value)


async def _perform_async(effect: Effect, io: AsyncIO) -> Any:
    match effect:
        case Now():
            return io.clock()
        case Send(request):
            try:
                return await io.client.send(request, follow_redirects=False)
            except httpx.HTTPError as problem:
                raise Unreachable.because(problem, request) from problem
        case Invoke(function, arguments):
            result = function(*arguments)
            return await result if inspect.isawaitable(result) else result
        case Locked(name, steps, waits):
            async with io.turn(name, waits=waits) as is_held:
                return await run_async(steps, io) if is_held else steps.close()
        case Sleep(seconds):
            return await anyio.sleep(seconds)

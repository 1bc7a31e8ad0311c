"""Virtual time: it jumps at once when every task sleeps, and stands still while work is outstanding.

Trio lets a `MockClock` jump when no task can run, and cannot tell a task that waits for an answer from one that sleeps.
So the work that is done outside the event loop is counted where a task begins to wait for it: statements of PostgreSQL,
threads, and child processes. Until the last of it has ended, the loop waits in real time and no deadline passes. None
passes between an announcement to other processes and the moment at which they have heard it either.

What tasks of one loop send each other over loopback needs no count, because Linux puts it into the queue of the
receiver before `send` returns. A peer that is a task and never answers lets deadlines pass at once. A peer on a thread
or in a process of its own is not seen; no test in virtual time has one.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Concatenate, ParamSpec, TypeVar

import pytest
import trio
from outcome import Outcome
from trio._core._thread_cache import ThreadCache
from trio.testing import MockClock

from adapters.crypto.passwords import Argon2PasswordHasher
from adapters.postgres.driver import timed_connection
from adapters.postgres.listening import PostgresListeningConnection
from ports.listening import Word

# Many seconds, after which a connection that hears nothing and was not closed fails the test.
CHECKPOINTS_MAX = 5_000_000
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


@contextmanager
def virtual_time() -> Generator[MockClock]:
    """Yield a clock for one event loop, and count the work of that loop while the block lasts."""
    outstanding = Outstanding(MockClock(autojump_threshold=0))
    announcements = Announcements()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timed_connection, "answer_of", outstanding.counted(timed_connection.answer_of))
        # Every thread of Trio begins here, those that look up names or read files too.
        patch.setattr(ThreadCache, "start_thread_soon", outstanding.counted_thread(ThreadCache.start_thread_soon))
        for owner, name in ((Argon2PasswordHasher, "_on_a_thread"), (trio.Process, "wait")):
            patch.setattr(owner, name, outstanding.counted_task(getattr(owner, name)))
        connections = PostgresListeningConnection
        patch.setattr(connections, "hear", announcements.heard(connections.hear))
        patch.setattr(connections, "poll", announcements.announced(Word.POLLED, connections.poll))
        patch.setattr(connections, "leave", announcements.announced(Word.LEFT, connections.leave))
        yield outstanding.clock


class Outstanding:
    """Counts the work that tasks of one event loop wait for; the clock jumps only when there is none."""

    def __init__(self, clock: MockClock) -> None:
        self.clock = clock
        self._count = 0

    def counted(self, function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        """Return the function, as work that is outstanding until it returns."""

        def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            with self._work():
                return function(*args, **kwargs)

        return run

    def counted_task(self, function: Callable[Arguments, Awaitable[Result]]) -> Callable[Arguments, Awaitable[Result]]:
        """Return the coroutine function, as work that is outstanding while a task awaits it."""

        async def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
            with self._work():
                return await function(*args, **kwargs)

        return run

    def counted_thread(self, start: Callable[..., None]) -> Callable[..., None]:
        """Return the starter of threads; each thread is outstanding until its result is delivered to the loop."""

        def start_counted(
            cache: ThreadCache, work: Callable[[], Any], deliver: Callable[[Outcome[Any]], object], name: str | None
        ) -> None:
            if not self._is_of_this_loop():
                start(cache, work, deliver, name)
                return
            loop = trio.lowlevel.current_trio_token()

            def deliver_and_end(result: Outcome[Any]) -> None:
                deliver(result)
                # The loop may have ended without the result.
                with suppress(trio.RunFinishedError):
                    loop.run_sync_soon(self._end)

            self._begin()
            start(cache, work, deliver_and_end, name)

        return start_counted

    @contextmanager
    def _work(self) -> Generator[None]:
        if not self._is_of_this_loop():
            yield
            return
        self._begin()
        try:
            yield
        finally:
            self._end()

    def _is_of_this_loop(self) -> bool:
        # A browser of the tests has a loop of its own on another thread.
        return trio.lowlevel.in_trio_run() and trio.lowlevel.current_clock() is self.clock

    def _begin(self) -> None:
        self._count += 1
        self.clock.autojump_threshold = math.inf

    def _end(self) -> None:
        self._count -= 1
        if not self._count:
            self.clock.autojump_threshold = 0


class Announcements:
    """Counts what the connections of one event loop have heard.

    PostgreSQL delivers an announcement some time after it has answered the statement that sends it. So the sender stays
    busy until all others have heard it: the clock does not jump while a task can run.
    """

    def __init__(self) -> None:
        self._heard = defaultdict[PostgresListeningConnection, Counter[str]](Counter)

    def heard(
        self, hear: Callable[[PostgresListeningConnection, float], Awaitable[Sequence[frozenset[str]]]]
    ) -> Callable[[PostgresListeningConnection, float], Awaitable[Sequence[frozenset[str]]]]:
        """Return the method, counting what a connection hears."""

        async def hear_and_count(connection: PostgresListeningConnection, seconds: float) -> Sequence[frozenset[str]]:
            announcements = await hear(connection, seconds)
            for words in announcements:
                self._heard[connection].update(words)
            return announcements

        return hear_and_count

    def announced(
        self, word: str, announce: Callable[Concatenate[PostgresListeningConnection, Arguments], Awaitable[Result]]
    ) -> Callable[Concatenate[PostgresListeningConnection, Arguments], Awaitable[Result]]:
        """Return the method, ending when all other connections have heard the word that it announces."""

        async def announce_and_wait(
            connection: PostgresListeningConnection, /, *args: Arguments.args, **kwargs: Arguments.kwargs
        ) -> Result:
            before = {other: heard[word] for other, heard in self._heard.items() if other is not connection}
            result = await announce(connection, *args, **kwargs)
            for _ in range(CHECKPOINTS_MAX):
                if not any(self._is_awaited(other, word, number) for other, number in before.items()):
                    return result
                await trio.lowlevel.checkpoint()
            raise AssertionError(f"a connection that is open has not heard {word}")

        return announce_and_wait

    def _is_awaited(self, other: PostgresListeningConnection, word: str, before: int) -> bool:
        return not other._driver.closed and self._heard[other][word] == before

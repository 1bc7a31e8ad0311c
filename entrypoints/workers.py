"""Several processes on one socket: the parent has made everything ready and only watches, its children do the work.

The first worker starts alone, because a house that cannot start should say so once; the others follow when it is ready.
From then on whoever dies is replaced in the same place. The parent handles no signal in the middle of something else:
it does nothing but wait for the next one.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import structlog

from entrypoints.signals import stop_signals

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Generator

    # Is handed its place among the workers, and what to call when it is ready, unless nobody waits for that.
    Work = Callable[[int, Callable[[], None] | None], int]

# A worker that lives shorter than this is not replaced at once; starting it again and again would spin.
YOUNG_SECONDS: Final = 2.0
RESTART_PAUSE_SECONDS: Final = 1.0
READY: Final = signal.SIGUSR1
_OWN_SIGNALS: Final = frozenset({READY, signal.SIGCHLD, signal.SIGALRM})
_PR_SET_PDEATHSIG: Final = 1

log = structlog.get_logger(__name__)


def watch_over(workers: int, work: Work, *, listener: socket.socket, stop_seconds_max: float) -> int:
    """Run `work` in that many processes until told to stop; give the exit status.

    Told to stop, the workers have `stop_seconds_max`; told twice, they have no time at all.
    """
    # What exists by now is never garbage; a collection that looks at it would only copy the memory into each process.
    gc.freeze()
    awaited = _OWN_SIGNALS | stop_signals()
    with _held_back(awaited):
        return _Crew(workers, work, listener, stop_seconds_max).watch(awaited)


@dataclass(frozen=True, slots=True)
class _Worker:
    """A living worker; `started_at` is of the monotonic clock."""

    place: int
    started_at: float


class _Crew:
    """The workers, by process."""

    def __init__(self, size: int, work: Work, listener: socket.socket, stop_seconds_max: float) -> None:
        self._size = size
        self._work = work
        self._listener = listener
        self._stop_seconds_max = stop_seconds_max
        self._workers: dict[int, _Worker] = {}
        self._is_ready = False
        self._is_stopping = False
        self._status = 0

    def watch(self, awaited: frozenset[signal.Signals]) -> int:
        self._start()
        while self._workers:
            match signal.sigwait(awaited):
                case signal.SIGCHLD:
                    self._take_leave()
                case signal.SIGALRM:
                    self._on_time()
                case signal.SIGUSR1:
                    self._is_ready = True
                    self._fill_up()
                case number:
                    self._stop(signal.Signals(number))
        return self._status

    def _start(self) -> None:
        taken = {worker.place for worker in self._workers.values()}
        place = next(place for place in range(self._size) if place not in taken)
        process = _fork(self._work, place, is_awaited=not self._is_ready)
        self._workers[process] = _Worker(place, time.monotonic())

    def _fill_up(self) -> None:
        while not self._is_stopping and len(self._workers) < self._size:
            self._start()

    def _take_leave(self) -> None:
        """Note who died, which the kernel tells once however many they are, and replace them."""
        for process, status in _ended():
            worker = self._workers.pop(process, None)
            # A container's first process also inherits the orphans of others.
            if worker is None or self._is_stopping:
                continue
            if not self._is_ready:
                # It has said why.
                self._status = status if status > 0 else 1
                continue
            log.error("worker.died", process=process, status=status)
            if time.monotonic() - worker.started_at < YOUNG_SECONDS:
                signal.setitimer(signal.ITIMER_REAL, RESTART_PAUSE_SECONDS)
            else:
                self._fill_up()

    def _on_time(self) -> None:
        if self._is_stopping:
            log.error("worker.killed", processes=list(self._workers), stop_seconds=self._stop_seconds_max)
            self._send(signal.SIGKILL)
        else:
            self._fill_up()

    def _stop(self, number: signal.Signals) -> None:
        if self._is_stopping:
            # Asked twice: somebody does not want to wait.
            log.warning("server.stopping_at_once")
            self._status = 1
            self._send(signal.SIGKILL)
            return
        log.info("server.stopping", signal=number.name)
        self._is_stopping = True
        # The door closes with the last who holds it open, and we let nobody in.
        self._listener.close()
        self._send(signal.SIGTERM)
        signal.setitimer(signal.ITIMER_REAL, self._stop_seconds_max)

    def _send(self, number: signal.Signals) -> None:
        for process in self._workers:
            os.kill(process, number)


@contextmanager
def _held_back(awaited: frozenset[signal.Signals]) -> Generator[None]:
    """Let signals wait until they are asked for."""
    # What would be ignored anyway need not wait, says POSIX, so none may be ignored.
    handlers = {number: signal.signal(number, _ignore) for number in _OWN_SIGNALS}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _ignore(_number: int, _frame: object) -> None:
    return


def _ended() -> Generator[tuple[int, int]]:
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not process:
            return
        yield process, os.waitstatus_to_exitcode(status)


def _fork(work: Work, place: int, *, is_awaited: bool) -> int:
    parent = os.getpid()
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        _become_worker(parent)
        status = work(place, (lambda: os.kill(parent, READY)) if is_awaited else None)
    except BaseException as crash:
        # Below is no way out on which Python would show it.
        sys.excepthook(type(crash), crash, crash.__traceback__)
        raise
    finally:
        # Not the parent's way out: its locks and its database are not ours to give back.
        os._exit(status)


def _become_worker(parent: int) -> None:
    stopping = stop_signals()
    # What a terminal sends reaches everybody, and the parent decides what it means.
    for number in stopping:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with(parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OWN_SIGNALS | stopping)


def _end_with(parent: int) -> None:
    """Ask the kernel to stop us when the parent dies without saying so; orphans would keep its locks and its socket."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        # It died before we could ask.
        os._exit(1)

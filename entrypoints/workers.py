"""Several processes on one socket: the parent prepares the start and supervises, its children serve.

The first worker starts alone, so that an error at start is reported once; the others follow when it is ready. From then
on, a worker that ends is replaced under the same number. The parent handles signals synchronously: it only waits for
the next one.
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

    # Receives the worker's number, and what to call when it is ready (None when the parent does not wait for it).
    Work = Callable[[int, Callable[[], None] | None], int]

# A worker that lives shorter than this is replaced after a pause, so that a crash at start does not spin.
YOUNG_SECONDS: Final = 2.0
RESTART_PAUSE_SECONDS: Final = 1.0
# While no signal arrives, the parent attends to the embedded database so often.
ATTEND_SECONDS: Final = 0.5
READY: Final = signal.SIGUSR1
_OWN_SIGNALS: Final = frozenset({READY, signal.SIGCHLD, signal.SIGALRM})
_PR_SET_PDEATHSIG: Final = 1

log = structlog.get_logger(__name__)


def supervise_workers(
    workers: int,
    work: Work,
    *,
    listener: socket.socket,
    stop_seconds_max: float,
    attend: Callable[[], None] | None = None,
) -> int:
    """Run `work` in that many processes until a stop signal; return the exit status.

    After a stop signal the workers have `stop_seconds_max`; a second one kills them at once. `attend` is called again
    and again; when it raises, the workers are stopped and the error is raised.
    """
    # Objects that exist by now are never garbage; scanning them would only copy their memory into each process.
    gc.freeze()
    awaited = _OWN_SIGNALS | stop_signals()
    with _blocked(awaited):
        return _Workers(workers, work, listener, stop_seconds_max, attend).watch(awaited)


@dataclass(frozen=True, slots=True)
class _Worker:
    """A running worker: its number, and when it was started by the monotonic clock."""

    number: int
    started_at: float


class _Workers:
    """The running workers, by process id."""

    def __init__(
        self,
        size: int,
        work: Work,
        listener: socket.socket,
        stop_seconds_max: float,
        attend: Callable[[], None] | None,
    ) -> None:
        self._size = size
        self._work = work
        self._listener = listener
        self._stop_seconds_max = stop_seconds_max
        self._attend = attend
        self._workers: dict[int, _Worker] = {}
        self._is_ready = False
        self._is_stopping = False
        # After the death of a young worker, until the alarm.
        self._is_pausing = False
        self._status = 0

    def watch(self, awaited: frozenset[signal.Signals]) -> int:
        self._start()
        try:
            # When all workers died young, as without the database, none is left until the end of the pause.
            while self._workers or (self._is_pausing and not self._is_stopping):
                self._react(awaited)
                if self._attend is not None and not self._is_stopping:
                    self._attend()
        finally:
            # `attend` has raised when there are still workers.
            if self._workers and not self._is_stopping:
                self._stop()
            while self._workers:
                self._react(awaited)
        return self._status

    def _react(self, awaited: frozenset[signal.Signals]) -> None:
        """Wait for a signal, but not for long, and react to it."""
        received = signal.sigtimedwait(awaited, ATTEND_SECONDS)
        match received and received.si_signo:
            case None:
                pass
            case signal.SIGCHLD:
                self._replace_ended()
            case signal.SIGALRM:
                self._on_alarm()
            case signal.SIGUSR1:
                self._is_ready = True
                self._fill_up()
            case number:
                self._stop_on(signal.Signals(number))

    def _start(self) -> None:
        taken = {worker.number for worker in self._workers.values()}
        number = next(number for number in range(self._size) if number not in taken)
        process = _fork(self._work, number, is_awaited=not self._is_ready)
        self._workers[process] = _Worker(number, time.monotonic())

    def _fill_up(self) -> None:
        while not self._is_stopping and len(self._workers) < self._size:
            self._start()

    def _replace_ended(self) -> None:
        """Replace the workers that have ended; the kernel may send one signal for several of them."""
        for process, status in _ended():
            worker = self._workers.pop(process, None)
            # The first process of a container also inherits orphans of other processes.
            if worker is None or self._is_stopping:
                continue
            if not self._is_ready:
                # The worker has reported the reason.
                self._status = status if status > 0 else 1
                continue
            log.error("worker.died", process=process, status=status)
            if time.monotonic() - worker.started_at < YOUNG_SECONDS:
                self._is_pausing = True
                signal.setitimer(signal.ITIMER_REAL, RESTART_PAUSE_SECONDS)
            else:
                self._fill_up()

    def _on_alarm(self) -> None:
        if self._is_stopping:
            log.error("worker.killed", processes=list(self._workers), stop_seconds=self._stop_seconds_max)
            self._send(signal.SIGKILL)
        else:
            self._is_pausing = False
            self._fill_up()

    def _stop_on(self, number: signal.Signals) -> None:
        if self._is_stopping:
            log.warning("server.stopping_at_once")
            self._status = 1
            self._send(signal.SIGKILL)
            return
        log.info("server.stopping", signal=number.name)
        self._stop()

    def _stop(self) -> None:
        self._is_stopping = True
        # The socket stops listening when the last process closes it, and this process accepts no connections.
        self._listener.close()
        self._send(signal.SIGTERM)
        signal.setitimer(signal.ITIMER_REAL, self._stop_seconds_max)

    def _send(self, number: signal.Signals) -> None:
        for process in self._workers:
            os.kill(process, number)


@contextmanager
def _blocked(awaited: frozenset[signal.Signals]) -> Generator[None]:
    """Block the signals, so that they are pending until `sigwait`."""
    # POSIX may discard a blocked signal whose action is to ignore it, so each of them gets a handler.
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


def _fork(work: Work, number: int, *, is_awaited: bool) -> int:
    parent = os.getpid()
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        _become_worker(parent)
        status = work(number, (lambda: os.kill(parent, READY)) if is_awaited else None)
    except BaseException as crash:
        # `os._exit` ends the process before Python would print it.
        sys.excepthook(type(crash), crash, crash.__traceback__)
        raise
    finally:
        # Without the parent's cleanup: its locks and its database are not the worker's to release.
        os._exit(status)


def _become_worker(parent: int) -> None:
    stopping = stop_signals()
    # A terminal sends its signals to every process; only the parent reacts to them.
    for number in stopping:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with(parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OWN_SIGNALS | stopping)


def _end_with(parent: int) -> None:
    """Let the kernel stop this process when the parent dies; an orphan would keep its locks and its socket."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        # The parent died before the call.
        os._exit(1)

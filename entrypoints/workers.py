"""Several processes on one socket: the parent prepares the start and supervises, its children serve.

The first worker starts alone, so that an error at start is reported once; the others follow when it is ready. From then
on, a worker that ends is replaced under the same number, and one whose heartbeat stops is ended first. The parent
handles signals synchronously: it only waits for the next one. It has no thread, which a fork would cut off at its
work, so it writes what waits for the reader of the log between two signals.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Final

import structlog

from core.lazy_dataclasses import dataclass
from entrypoints import logs
from entrypoints.heartbeats import HangLimits, Heartbeat, Pulse
from entrypoints.signals import reload_signals, server_stop_signals
from entrypoints.workers_memory import ReplacementReason, WorkersMemory

# Receives the worker's number, what to call when it is ready (None when the parent does not wait for it), and
# where to send its heartbeat.
Work = Callable[[int, Callable[[], None] | None, int], int]


# A worker that lives shorter than this is replaced after a pause, so that a crash at start does not spin.
YOUNG_SECONDS: Final = 2.0
RESTART_PAUSE_SECONDS: Final = 1.0
# While no signal arrives, the parent attends to the embedded database so often.
ATTEND_SECONDS: Final = 0.5
READY: Final = signal.SIGUSR1
# Tells a worker to stop because another one takes its place: it leaves what is queued to the others.
RETIRE: Final = signal.SIGUSR2
HANG_LIMITS: Final = HangLimits()
_OWN_SIGNALS: Final = frozenset({READY, signal.SIGCHLD, signal.SIGALRM})
_PR_SET_PDEATHSIG: Final = 1

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """What workers do by the same settings, and how long they may take to stop."""

    work: Work
    stop_seconds_max: float


def supervise_workers(
    workers: int,
    first: Generation,
    *,
    listener: socket.socket,
    memory: WorkersMemory,
    reload: Callable[[], Generation | None] = lambda: None,
    attend: Callable[[], None] | None = None,
    hang_limits: HangLimits = HANG_LIMITS,
) -> int:
    """Run `first` in that many processes until a stop signal; return the exit status.

    After a stop signal the workers have `stop_seconds_max`; a second one kills them at once. `attend` is called again
    and again; when it raises, the workers are stopped and the error is raised. `memory` is what they share, with a
    number more than there are workers. `reload` returns what they do after a signal to reload; None lets them go on.
    """
    # Objects that exist by now are never garbage; scanning them would only copy their memory into each process.
    gc.freeze()
    gc.enable()
    watched = _OWN_SIGNALS | server_stop_signals() | reload_signals()
    with _blocked(watched | {RETIRE}):
        return _Workers(workers, first, listener, memory, reload, attend, hang_limits).watch(watched)


@dataclass(frozen=True, slots=True)
class _Worker:
    """A running worker: its number, when it was started by the monotonic clock, and what was heard of it."""

    number: int
    started_at: float
    pulse: Pulse


@dataclass(slots=True, kw_only=True)
class _Reloading:
    """A reload that has begun: the processes that it replaces, and which it waits for."""

    before: Generation
    outdated: list[int]
    # The one that is to become ready, or the one that is to end.
    next: int | None = None
    retired: int | None = None
    retired_at: float = 0.0
    replaced: int = 0


class _Workers:
    """The running workers, by process id."""

    def __init__(
        self,
        size: int,
        generation: Generation,
        listener: socket.socket,
        memory: WorkersMemory,
        reload: Callable[[], Generation | None],
        attend: Callable[[], None] | None,
        hang_limits: HangLimits,
    ) -> None:
        self._size = size
        self._generation = generation
        self._listener = listener
        self._memory = memory
        self._reload = reload
        self._reloading: _Reloading | None = None
        # A signal to reload that came during a reload.
        self._is_asked_again = False
        self._attend = attend
        self._hang_limits = hang_limits
        # When this process has last looked after its workers.
        self._looked_at = time.monotonic()
        self._workers: dict[int, _Worker] = {}
        self._is_ready = False
        self._is_stopping = False
        # After the death of a young worker, until the alarm.
        self._is_pausing = False
        self._status = 0

    def watch(self, awaited: frozenset[signal.Signals]) -> int:
        self._start(is_awaited=True)
        try:
            # When all workers died young, as without the database, none is left until the end of the pause.
            while self._workers or (self._is_pausing and not self._is_stopping):
                self._react(awaited)
                if not self._is_stopping:
                    self._end_silent()
                    if self._attend is not None:
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
        logs.catch_up()
        match received and received.si_signo:
            case None:
                pass
            case signal.SIGALRM:
                self._on_alarm()
            case signal.SIGUSR1:
                self._is_ready = True
                if self._reloading is not None and received is not None and received.si_pid == self._reloading.next:
                    self._retire_one(self._reloading)
                self._fill_up()
                self._go_on()
            case number if number in reload_signals():
                self._begin_reload()
            case number if number in awaited - _OWN_SIGNALS:
                self._stop_on(signal.Signals(number))
            case _:
                # SIGCHLD, or no signal at all: some kernels report nonsense after the process itself was stopped.
                self._replace_ended()

    def _start(self, *, is_awaited: bool) -> int:
        taken = {worker.number for worker in self._workers.values()}
        # One more than there are workers, for the next one of a reload.
        number = next(number for number in range(self._size + 1) if number not in taken)
        heartbeat = Heartbeat()
        others = [worker.pulse.heartbeat for worker in self._workers.values()]
        process = _fork(self._generation.work, number, heartbeat, others, is_awaited=is_awaited)
        heartbeat.close_writer()
        now = time.monotonic()
        self._workers[process] = _Worker(number, now, Pulse(heartbeat=heartbeat, heard_at=now))
        return process

    def _fill_up(self) -> None:
        while not self._is_stopping and len(self._workers) < self._size:
            self._start(is_awaited=False)

    def _begin_reload(self) -> None:
        """Begin to replace the workers by those of the next generation."""
        if self._is_stopping or not self._is_ready or self._reloading is not None:
            self._is_asked_again = not self._is_stopping
            return
        self._is_asked_again = False
        generation = self._reload()
        if generation is None:
            return
        self._reloading = _Reloading(before=self._generation, outdated=list(self._workers))
        self._generation = generation
        log.info("server.reloading", workers=len(self._workers))
        self._replace_next(self._reloading)

    def _replace_next(self, reloading: _Reloading) -> None:
        """Start the next worker of a reload; end the reload when all are replaced."""
        reloading.outdated = [process for process in reloading.outdated if process in self._workers]
        if reloading.outdated:
            reloading.next = self._start(is_awaited=True)
            return
        self._reloading = None
        log.info("server.reloaded", replaced=reloading.replaced)
        self._go_on()

    def _retire_one(self, reloading: _Reloading) -> None:
        """Let a worker stop, because the one that takes its place is ready."""
        reloading.next, reloading.replaced = None, reloading.replaced + 1
        process = next((process for process in reloading.outdated if process in self._workers), None)
        if process is None:
            self._replace_next(reloading)
            return
        reloading.retired = process
        os.kill(process, RETIRE)
        # It has as much time as at a stop, and is not expected to be silent.
        reloading.retired_at = time.monotonic()

    def _fail_reload(self, reloading: _Reloading) -> None:
        """Go on with the workers that there are, because the next one did not become ready."""
        self._reloading = None
        if not reloading.replaced:
            self._generation = reloading.before
        log.error(
            "server.reload_failed",
            replaced=reloading.replaced,
            kept=len(reloading.outdated),
            advice="The reason stands before this line. The other workers go on with the settings that they have.",
        )
        self._fill_up()
        self._go_on()

    def _go_on(self) -> None:
        if self._is_asked_again and self._reloading is None:
            self._begin_reload()

    def _is_of_reload(self, process: int) -> bool:
        """Go on with a reload when a process of it has ended; return whether it has."""
        reloading = self._reloading
        if reloading is None:
            return False
        if process == reloading.next:
            self._fail_reload(reloading)
            return True
        if process == reloading.retired:
            reloading.retired = None
            reloading.outdated.remove(process)
            self._fill_up()
            self._replace_next(reloading)
            return True
        return False

    def _replace_ended(self) -> None:
        """Replace the workers that have ended; the kernel may send one signal for several of them."""
        for process, status in _ended():
            worker = self._workers.pop(process, None)
            # The first process of a container also inherits orphans of other processes.
            if worker is None:
                continue
            worker.pulse.heartbeat.close_reader()
            self._memory.forget(worker.number)
            if self._is_stopping:
                continue
            if not self._is_ready:
                # The worker has reported the reason.
                self._status = status if status > 0 else 1
                continue
            if self._is_of_reload(process):
                continue
            reason = ReplacementReason.DIED if worker.pulse.told_at is None else ReplacementReason.HUNG
            self._memory.replaced.add(reason)
            log.error("worker.died", process=process, worker=worker.number, status=status, reason=reason)
            if time.monotonic() - worker.started_at < YOUNG_SECONDS:
                self._is_pausing = True
                signal.setitimer(signal.ITIMER_REAL, RESTART_PAUSE_SECONDS)
            else:
                self._fill_up()

    def _end_silent(self) -> None:
        """End the workers whose event loop has sent no heartbeat for too long: by SIGTERM, then by SIGKILL."""
        now = time.monotonic()
        was_absent = now - self._looked_at > self._hang_limits.absence_seconds
        self._looked_at = now
        if self._reloading is not None:
            self._end_slow(self._reloading, now)
        for process, worker in self._workers.items():
            pulse = worker.pulse
            pulse.listen(now)
            if was_absent:
                pulse.renew(now)
            elif pulse.is_silent(now, self._hang_limits):
                silence = round(now - pulse.heard_at, 1)
                log.error("worker.hung", process=process, worker=worker.number, silence_seconds=silence)
                pulse.told_at = now
                os.kill(process, signal.SIGTERM)
            elif pulse.is_overdue(now, self._hang_limits, self._generation.stop_seconds_max):
                pulse.is_killed = True
                os.kill(process, signal.SIGKILL)

    def _end_slow(self, reloading: _Reloading, now: float) -> None:
        """End a worker that was told to retire and takes longer than it may."""
        if reloading.retired is not None and now - reloading.retired_at > reloading.before.stop_seconds_max:
            log.error("worker.killed", processes=[reloading.retired], stop_seconds=reloading.before.stop_seconds_max)
            os.kill(reloading.retired, signal.SIGKILL)
            reloading.retired_at = now

    def _on_alarm(self) -> None:
        if self._is_stopping:
            log.error("worker.killed", processes=list(self._workers), stop_seconds=self._generation.stop_seconds_max)
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
        signal.setitimer(signal.ITIMER_REAL, self._generation.stop_seconds_max)

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


def _fork(work: Work, number: int, heartbeat: Heartbeat, of_others: Sequence[Heartbeat], *, is_awaited: bool) -> int:
    parent = os.getpid()
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        _become_worker(parent)
        logs.begin_worker(number)
        for ended in (heartbeat, *of_others):
            ended.close_reader()
        status = work(number, (lambda: os.kill(parent, READY)) if is_awaited else None, heartbeat.writer)
    except BaseException as crash:
        # `os._exit` ends the process before Python would print it, and printing waits for its reader.
        log.critical("worker.crashed", worker=number, exc_info=crash)
        raise
    finally:
        logs.finish()
        # Without the parent's cleanup: its locks and its database are not the worker's to release.
        os._exit(status)


def _become_worker(parent: int) -> None:
    of_parent = (server_stop_signals() | reload_signals()) - {signal.SIGTERM}
    # A terminal sends its signals to every process; only the parent reacts to them. SIGTERM is never ignored, not even
    # for a moment: one that the parent has sent already would be lost.
    for number in of_parent:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with(parent)
    # One that retires the worker waits until the event loop receives it.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _OWN_SIGNALS | of_parent | {signal.SIGTERM})


def _end_with(parent: int) -> None:
    """Let the kernel stop this process when the parent dies; an orphan would keep its locks and its socket."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        # The parent died before the call.
        os._exit(1)

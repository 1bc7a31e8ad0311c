"""A program that supervises two workers which do nothing but send heartbeats, with little hang_limits.

`python -m tests.entrypoints.supervised MODE` prints its log as JSON. In the mode `mute` a replacement never sends a
heartbeat, as if its start hung. In the mode `patient` a worker that was asked to end has a minute for it.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import structlog
import trio

from entrypoints import logs
from entrypoints.heartbeats import HangLimits, beat
from entrypoints.workers import Generation, supervise_workers
from entrypoints.workers_memory import ReplacedWorkers, WorkersMemory

WORKERS = 2
SILENCE_SECONDS = 5.0
HANG_LIMITS = HangLimits(silence_seconds=SILENCE_SECONDS, start_seconds=8.0, kill_seconds=0.5)
HANG = signal.SIGWINCH

log = structlog.get_logger(__name__)


def main(mode: str) -> int:
    """Supervise the workers until SIGTERM."""
    logs.configure(log_format="json", log_level="info")
    memory = WorkersMemory(WORKERS)
    replaced = memory.replaced
    with socket.socket() as listener:
        status = supervise_workers(
            WORKERS,
            Generation(work=partial(_work, mode, replaced), stop_seconds_max=10.0),
            listener=listener,
            memory=memory,
            hang_limits=replace(HANG_LIMITS, kill_seconds=60.0) if mode == "patient" else HANG_LIMITS,
        )
    log.info("supervised.ended", **replaced.by_reason())
    return status


def _work(
    mode: str, replaced: ReplacedWorkers, number: int, report_ready: Callable[[], None] | None, heartbeat: int
) -> int:
    is_mute = mode == "mute" and sum(replaced.by_reason().values()) == 1
    trio.run(_beat_until_stopped, number, report_ready, heartbeat, is_mute)
    return 0


async def _beat_until_stopped(
    number: int, report_ready: Callable[[], None] | None, heartbeat: int, is_mute: bool
) -> None:
    signal.signal(HANG, _hang)
    with trio.open_signal_receiver(signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            if not is_mute:
                nursery.start_soon(beat, heartbeat)
            log.info("worker.ready", worker=number, process=os.getpid(), is_mute=is_mute)
            if report_ready is not None:
                report_ready()
            async for _ in signals:
                nursery.cancel_scope.cancel()


def _hang(_number: int, _frame: object) -> None:
    """Block the event loop, as code does that computes without end."""
    time.sleep(3600)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

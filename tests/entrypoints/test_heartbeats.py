"""A worker whose event loop does not run is ended and replaced by its parent; a parent that was away ends none.

`supervised.py` supervises workers that do nothing, with little hang_limits, because the real one takes ten seconds.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from entrypoints.heartbeats import HangLimits, Heartbeat, Pulse
from tests.entrypoints import supervised
from tests.processes import Service
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
HANG_LIMITS = HangLimits()


class Supervised(Service):
    """The program, with its log read as a server's."""

    def serving(self, count: int = supervised.WORKERS) -> list[int]:
        """Wait until so many workers were ready since the start; return the processes of those that run."""
        self.wait_for("worker.ready", times=count)
        wait_until(lambda: len(self.workers()) == supervised.WORKERS)
        return [worker.pid for worker in self.workers()]

    def number_of(self, process: int) -> int:
        """Return the number of a worker."""
        return next(line["worker"] for line in self.logged("worker.ready") if line["process"] == process)


@pytest.fixture
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Supervised]:
    """The program in the mode of the test."""
    log_file = tmp_path / "log"
    command = [sys.executable, "-m", "tests.entrypoints.supervised", getattr(request, "param", "plain")]
    with log_file.open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, process_group=0)
    yield Supervised(process, log_file, {}, tmp_path)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGSTOP, supervised.HANG])
def test_a_worker_that_hangs_is_killed_and_replaced_under_its_number(
    program: Supervised, number: signal.Signals
) -> None:
    hung, other = program.serving()

    os.kill(hung, number)
    replacement = next(process for process in program.serving(3) if process != other)

    [told] = program.logged("worker.hung")
    assert (told["process"], told["worker"]) == (hung, program.number_of(hung))
    assert told["silence_seconds"] >= supervised.SILENCE_SECONDS
    [died] = program.logged("worker.died")
    assert (died["process"], died["reason"], died["status"]) == (hung, "hung", -signal.SIGKILL)
    assert program.number_of(replacement) == program.number_of(hung)
    assert psutil.pid_exists(other)
    assert program.stop() == 0
    assert [(line["died"], line["hung"]) for line in program.logged("supervised.ended")] == [(0, 1)]


@pytest.mark.long
@pytest.mark.parametrize("program", ["patient"], indirect=True)
def test_a_worker_that_runs_again_after_it_was_told_to_end_stops_in_order(program: Supervised) -> None:
    hung, _ = program.serving()

    os.kill(hung, signal.SIGSTOP)
    program.wait_for("worker.hung")
    os.kill(hung, signal.SIGCONT)
    program.serving(3)

    [died] = program.logged("worker.died")
    assert (died["process"], died["status"], died["reason"]) == (hung, 0, "hung")


@pytest.mark.long
@pytest.mark.parametrize("program", ["mute"], indirect=True)
def test_a_replacement_whose_start_hangs_is_replaced_too(program: Supervised) -> None:
    first, _ = program.serving()

    os.kill(first, signal.SIGKILL)
    program.serving(4)

    [mute] = [line["process"] for line in program.logged("worker.ready") if line["is_mute"]]
    assert [line["process"] for line in program.logged("worker.hung")] == [mute]
    assert [line["reason"] for line in program.logged("worker.died")] == ["died", "hung"]


@pytest.mark.long
@pytest.mark.parametrize("stops_all", [False, True])
def test_a_parent_that_was_stopped_ends_no_worker_when_it_runs_again(program: Supervised, *, stops_all: bool) -> None:
    workers = program.serving()
    # A suspended machine stops all of them at once.
    stopped = [program.process.pid, *(workers if stops_all else [])]

    for process in stopped:
        os.kill(process, signal.SIGSTOP)
    time.sleep(2 * supervised.SILENCE_SECONDS)
    for process in stopped:
        os.kill(process, signal.SIGCONT)
    # The parent works again: it replaces a worker, and has looked at the others several times by then.
    os.kill(workers[0], signal.SIGKILL)
    after = program.serving(3)

    assert workers[1] in after
    assert program.logged("worker.hung") == []
    assert program.stop() == 0


def pulse(*, heard_at: float = 0.0, has_beaten: bool = True) -> Pulse:
    """The pulse of a worker whose heartbeat is not read."""
    return Pulse(heartbeat=Heartbeat(), heard_at=heard_at, has_beaten=has_beaten)


def test_a_worker_is_judged_by_its_silence_and_before_its_first_beat_by_its_start() -> None:
    assert not pulse().is_silent(HANG_LIMITS.silence_seconds, HANG_LIMITS)
    assert pulse().is_silent(HANG_LIMITS.silence_seconds + 0.1, HANG_LIMITS)
    assert not pulse(has_beaten=False).is_silent(HANG_LIMITS.start_seconds, HANG_LIMITS)
    assert pulse(has_beaten=False).is_silent(HANG_LIMITS.start_seconds + 0.1, HANG_LIMITS)


def test_a_beat_ends_the_silence_and_is_heard_once() -> None:
    heard = pulse(has_beaten=False)
    os.write(heard.heartbeat.writer, b"..")

    heard.listen(5.0)
    heard.listen(6.0)

    assert (heard.heard_at, heard.has_beaten) == (5.0, True)


def test_a_worker_that_was_told_to_end_is_killed_when_it_stays_silent_and_gets_its_time_when_it_does_not() -> None:
    told = pulse(heard_at=0.0)
    told.told_at = 10.0
    killed_at = 10.0 + HANG_LIMITS.kill_seconds + 0.1

    assert not told.is_silent(100.0, HANG_LIMITS)
    assert not told.is_overdue(10.0 + HANG_LIMITS.kill_seconds, HANG_LIMITS, 35.0)
    assert told.is_overdue(killed_at, HANG_LIMITS, 35.0)
    told.heard_at = 11.0
    assert not told.is_overdue(killed_at, HANG_LIMITS, 35.0)
    assert told.is_overdue(45.1, HANG_LIMITS, 35.0)


def test_a_new_period_begins_for_a_worker_and_for_its_end() -> None:
    renewed = pulse()
    renewed.told_at = 10.0

    renewed.renew(100.0)

    assert (renewed.heard_at, renewed.told_at) == (100.0, 100.0)

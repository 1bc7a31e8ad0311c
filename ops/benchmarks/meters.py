"""What a request costs a server and its PostgreSQL, exactly: instructions where perf counts them, else processor time.

Either is exact enough for loads of less than a second.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from ops.benchmarks.processes import PROC, tree
from ops.benchmarks.servers import CannotMeasure

NANOSECONDS_PER_MILLISECOND: Final = 1_000_000
NANOSECONDS_PER_SECOND: Final = 1_000_000_000
INSTRUCTIONS: Final = "instructions:u"
PERF_SECONDS_MAX: Final = 10.0
# More than `ack`.
ANSWER_BYTES: Final = 16
_PERF: Final = ("perf", "stat", "--field-separator=,")


class Count(Protocol):
    """Counts what processes use during a load, with their children; of the first one perhaps only its event loop."""

    def __call__(self, roots: Sequence[int], load: Callable[[], None], *, only_the_event_loop: bool) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """A way to count, and its unit."""

    unit: str
    count: Count


def processor_time(roots: Sequence[int], load: Callable[[], None], *, only_the_event_loop: bool) -> float:
    """Return the processor time, user and system, in milliseconds."""
    server, *others = roots

    def read() -> int:
        of_server = thread_nanoseconds(server) if only_the_event_loop else tree_nanoseconds([server])
        return of_server + tree_nanoseconds(others)

    before = read()
    load()
    return (read() - before) / NANOSECONDS_PER_MILLISECOND


def instructions(
    roots: Sequence[int], load: Callable[[], None], *, only_the_event_loop: bool, event: str = INSTRUCTIONS
) -> float:
    """Return what perf counts, by default instructions in user mode, in thousands."""
    server, *others = roots
    # The processes of PostgreSQL have one thread each, which has their number.
    counted = [server, *(each.pid for each in tree(others))] if only_the_event_loop else [e.pid for e in tree(roots)]
    whose = f"--{'tid' if only_the_event_loop else 'pid'}={','.join(map(str, counted))}"
    commands, to_perf = os.pipe()
    from_perf, answers = os.pipe()
    # perf begins on a command, because it needs some time to attach itself.
    perf = subprocess.Popen(
        [*_PERF, f"--event={event}", whose, "--delay=-1", f"--control=fd:{commands},{answers}"],
        pass_fds=(commands, answers),
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(commands)
    os.close(answers)

    def tell(command: bytes) -> None:
        # If perf has ended there is no answer, and its output says why.
        with suppress(BrokenPipeError):
            os.write(to_perf, command)
            os.read(from_perf, ANSWER_BYTES)

    try:
        tell(b"enable\n")
        load()
        tell(b"disable\n")
        perf.send_signal(signal.SIGINT)
        _, output = perf.communicate(timeout=PERF_SECONDS_MAX)
    finally:
        perf.kill()
        perf.wait()
        os.close(to_perf)
        os.close(from_perf)
    counted = parse_perf(output)
    if counted is None:
        raise CannotMeasure(f"perf has counted nothing: {output}")
    return counted / 1000


def parse_perf(output: str) -> float | None:
    """Return the sum of what perf has counted on each kind of processor; None if it has counted nothing."""
    values = [line.partition(",")[0] for line in output.splitlines() if "," in line]
    counted = [float(value) for value in values if value.replace(".", "").isdecimal()]
    return sum(counted) if counted else None


def best_meter() -> Meter:
    """Return the most exact one that works here; a virtual machine seldom offers the counters of its processor."""
    if shutil.which("perf"):
        tried = subprocess.run(
            [*_PERF, f"--event={INSTRUCTIONS}", "true"],
            check=False,
            capture_output=True,
            text=True,
            timeout=PERF_SECONDS_MAX,
        )
        if parse_perf(tried.stderr):
            return Meter(unit="thousand instructions", count=instructions)
    return Meter(unit="ms CPU", count=processor_time)


def tree_nanoseconds(roots: Sequence[int]) -> int:
    """Return the processor time of these processes and their children, including those that have ended."""
    used = 0
    for each in tree(roots):
        used += round(each.ended_cpu_seconds * NANOSECONDS_PER_SECOND)
        # A process of PostgreSQL that cleans up may end meanwhile.
        with suppress(OSError):
            used += time.clock_gettime_ns(_clock_of(each.pid))
    return used


def _clock_of(process: int) -> int:
    """Return the number of the clock of a process, as clock_getcpuclockid(3), which Python does not have."""
    return (~process << 3) | 2


def thread_nanoseconds(process: int) -> int:
    """Return the processor time of the first thread of a process."""
    # The first field; proc_pid_schedstat(5).
    return int((PROC / f"{process}/task/{process}/schedstat").read_text().split()[0])

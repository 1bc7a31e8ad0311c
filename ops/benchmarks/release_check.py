"""The check against a release: what the hot operations cost today, and what they cost then.

Both versions run on the same machine at the same time and are loaded one after the other in short turns: release,
today, today, release. What disturbs the machine for longer than a turn disturbs both, and the median drops what
disturbs one. What is above the limit is measured again after all others, when the disturbance may have passed, and
counts only if it is above the limit three times.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from ops.benchmarks import meters, releases, report, servers
from ops.benchmarks.hot_operations import COMPARED_WITH, FURTHER_OPERATIONS, HOT_OPERATIONS, HotOperation, Send
from ops.benchmarks.meters import Meter
from ops.benchmarks.progress import Say
from ops.benchmarks.releases import Release
from ops.benchmarks.targets import Target, target

# Long enough to fill the caches and to prepare the statements.
WARM_UP_SECONDS: Final = 0.5
# Many short turns: a median over few long ones depends on when a neighbour begins.
TURN_SECONDS: Final = 0.1
ROUNDS: Final = 20
MEASUREMENTS_MAX: Final = 3
# A report takes the median of this many measurements.
REPORTED: Final = 5
# What an operation may cost as a multiple of its ratio, because of the noise.
MARGIN: Final = 1.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What a request cost in each turn."""

    release: Sequence[float]
    today: Sequence[float]

    @property
    def ratio(self) -> float:
        """The ratio of the medians."""
        return statistics.median(self.today) / statistics.median(self.release)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The measurements of an operation, until one was within the limit."""

    name: str
    measurements: Sequence[Measurement]
    ratio_max: float

    @property
    def is_over(self) -> bool:
        """Whether all of them were above the limit."""
        return all(each.ratio > self.ratio_max for each in self.measurements)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseCheck:
    """The verdicts on all operations."""

    version: str
    unit: str
    verdicts: Sequence[Verdict]

    @property
    def is_over(self) -> bool:
        """Whether an operation is above the limit."""
        return any(verdict.is_over for verdict in self.verdicts)

    def table(self) -> str:
        """Return the table of the last measurements, and of all ratios."""
        heading = ("operation", f"{self.version}, {self.unit}", "today", "ratio", "limit", "verdict")
        return report.table(heading, [_line(verdict) for verdict in self.verdicts])


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """What the operations cost at another commit and today, which judges nothing."""

    version: str
    unit: str
    measurements: Mapping[str, Sequence[Measurement]]
    is_over: bool = False

    def table(self) -> str:
        """Return the table of the medians, and of all ratios."""
        heading = ("operation", f"{self.version}, {self.unit}", "today", "ratio", "of them all")
        return report.table(heading, [self._line(name, each) for name, each in self.measurements.items()])

    @staticmethod
    def _line(name: str, measurements: Sequence[Measurement]) -> Sequence[str]:
        ratios = sorted(each.ratio for each in measurements)
        median = statistics.median
        return (
            name,
            f"{median(median(each.release) for each in measurements):.3f}",
            f"{median(median(each.today) for each in measurements):.3f}",
            f"{median(ratios):.3f}",
            f"{ratios[0]:.3f} to {ratios[-1]:.3f}",
        )


def check_release(say: Say) -> ReleaseCheck:
    """Compare the working tree with the release that the ratios belong to."""
    release = releases.release(releases.RELEASES.read_text(), COMPARED_WITH)
    meter = meters.best_meter()
    with _both(release, say) as (released, today):
        verdicts = judge(HOT_OPERATIONS, partial(measure, released, today, meter), limits(), say)
    return ReleaseCheck(version=release.version, unit=meter.unit, verdicts=verdicts)


def compare_with(commit: str, say: Say) -> SideBySide:
    """Compare the working tree with another commit, which judges nothing."""
    version = Release(version=commit[:12], date="", commit=commit)
    meter = meters.best_meter()
    operations = (*HOT_OPERATIONS, *FURTHER_OPERATIONS)
    measurements: dict[str, list[Measurement]] = {operation.name: [] for operation in operations}
    with _both(version, say) as (released, today):
        for number in range(1, REPORTED + 1):
            for operation in operations:
                done = measure(released, today, meter, operation)
                measurements[operation.name].append(done)
                say(f"measurement {number} of {REPORTED}: {operation.name}, ratio {done.ratio:.3f}")
    return SideBySide(version=version.version, unit=meter.unit, measurements=measurements)


@contextmanager
def _both(release: Release, say: Say) -> Generator[tuple[Target, Target]]:
    """Run a release, and today's version, each with its data."""
    with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as name:
        folder = Path(name)
        gatehouse = releases.check_out(release, folder / "release", say)
        say(f"starting {release.version} and today's version, and creating their data")
        with (
            target(gatehouse, folder / "release-data") as released,
            target(servers.GATEHOUSE, folder / "today-data") as today,
        ):
            yield released, today


def limits() -> dict[str, float]:
    """Return the most that each operation may cost as a multiple of what it cost in the release."""
    return {each.name: each.ratio * MARGIN for each in HOT_OPERATIONS}


def judge(
    operations: Sequence[HotOperation],
    measured: Callable[[HotOperation], Measurement],
    ratios_max: Mapping[str, float],
    say: Say,
) -> list[Verdict]:
    """Measure all operations, and again the ones above the limit."""
    measurements: dict[str, list[Measurement]] = {operation.name: [] for operation in operations}
    above: Sequence[HotOperation] = operations
    for number in range(1, MEASUREMENTS_MAX + 1):
        for place, operation in enumerate(above, 1):
            done = measured(operation)
            measurements[operation.name].append(done)
            say(f"measurement {number}, {place} of {len(above)}: {operation.name}, ratio {done.ratio:.3f}")
        above = [each for each in above if measurements[each.name][-1].ratio > ratios_max[each.name]]
    return [Verdict(name=name, measurements=each, ratio_max=ratios_max[name]) for name, each in measurements.items()]


def measure(released: Target, today: Target, meter: Meter, operation: HotOperation) -> Measurement:
    """Measure an operation once."""
    sends = [operation.prepare(each) for each in (released, today)]
    # As many requests in every turn, and not as long, so that every turn does the same.
    requests = min(_requests_in_a_turn(send) for send in sends)

    def turn(each: Target, send: Send) -> float:
        def load() -> None:
            for _ in range(requests):
                send()

        counted = meter.count(each.server.roots, load, only_the_event_loop=operation.counts_only_the_event_loop)
        return counted / requests

    return in_turns(partial(turn, released, sends[0]), partial(turn, today, sends[1]))


def in_turns(release: Callable[[], float], today: Callable[[], float], *, rounds: int = ROUNDS) -> Measurement:
    """Measure the release and today's version in turn, so that neither is always first."""
    costs_of_release: list[float] = []
    costs_of_today: list[float] = []
    for _ in range(rounds):
        costs_of_release.append(release())
        costs_of_today += [today(), today()]
        costs_of_release.append(release())
    return Measurement(release=costs_of_release, today=costs_of_today)


def _requests_in_a_turn(send: Send) -> int:
    """Warm up, and return how many requests a turn has time for."""
    requests, began_at = 0, time.monotonic()
    while (elapsed := time.monotonic() - began_at) < WARM_UP_SECONDS:
        send()
        requests += 1
    return max(1, round(requests / elapsed * TURN_SECONDS))


def _line(verdict: Verdict) -> Sequence[str]:
    last = verdict.measurements[-1]
    return (
        verdict.name,
        f"{statistics.median(last.release):.3f}",
        f"{statistics.median(last.today):.3f}",
        ", ".join(f"{each.ratio:.3f}" for each in verdict.measurements),
        f"{verdict.ratio_max:.2f}",
        report.OVER if verdict.is_over else "ok",
    )

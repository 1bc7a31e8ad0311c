"""Each operation beside the bare server, in turn: bare, operation, bare, operation, bare.

Shared machines drift by tens of percent within a minute, so a figure means little and the ratio to what the bare server
did just before and just after means a lot. Both are reported as medians over the rounds, together with how much of the
machine others used meanwhile: they take caches and cores away, and what costs a switch between processes suffers most.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, Self, TypeAlias

from ops.benchmarks.machine import PROCESSORS
from ops.benchmarks.operations import BARE
from ops.benchmarks.processes import (
    cpu_seconds,
    machine_cpu_seconds,
    own_cpu_seconds,
    proportional_bytes,
    resident_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ops.benchmarks.load import Loader
    from ops.benchmarks.operations import Operation
    from ops.benchmarks.servers import RunningServer

    Say: TypeAlias = Callable[[str], None]

# Long enough to open the connections, fill the caches and prepare the statements.
WARM_UP_SECONDS: Final = 1
BYTES_PER_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The middle of several figures, and the two ends."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """Take it of at least one figure."""
        ordered = sorted(values)
        return cls(median=statistics.median(ordered), least=ordered[0], most=ordered[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one load did to one server."""

    requests_per_second: float
    p50_ms: float
    p99_ms: float
    cpu_ms_per_request: float
    # Of the Python process, and of it and PostgreSQL together, where the kernel tells.
    python_megabytes: float
    whole_megabytes: float | None
    errors: int
    # Which part of the machine worked for neither the server nor the loader.
    others_share: float


# What is compared; the rest says whether the comparison is worth anything.
COMPARED: Final = tuple(field.name for field in fields(Figures) if field.name not in {"errors", "others_share"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What an operation cost, and what the bare server did just before and just after."""

    operation: Figures
    bare: tuple[Figures, Figures]

    def ratio(self, name: str) -> float | None:
        """Compare one figure."""
        here, before, after = (getattr(figures, name) for figures in (self.operation, *self.bare))
        return None if None in (here, before, after) else here / ((before + after) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """All rounds of one operation on so many connections."""

    operation: Operation
    connections: int
    rounds: Sequence[Round]

    @property
    def errors(self) -> int:
        """How many requests failed."""
        return sum(each.operation.errors for each in self.rounds)

    @property
    def bare_errors(self) -> int:
        """How many requests to the bare server failed meanwhile."""
        return sum(bare.errors for each in self.rounds for bare in each.bare)

    @property
    def others_share(self) -> float:
        """Which part of the machine others used in a round, in the median."""
        return statistics.median(
            figures.others_share for each in self.rounds for figures in (each.operation, *each.bare)
        )

    @property
    def is_over(self) -> bool:
        """Whether it costs more than it may."""
        ratio, limit = self.ratio("cpu_ms_per_request"), self.operation.cpu_ratio_max
        return limit is not None and ratio is not None and ratio.median > limit

    def figure(self, name: str) -> Spread | None:
        """Give one figure of the operation over the rounds."""
        return _spread_of_known(getattr(each.operation, name) for each in self.rounds)

    def bare_figure(self, name: str) -> Spread | None:
        """Give one figure of the bare server over the same rounds."""
        return _spread_of_known(getattr(bare, name) for each in self.rounds for bare in each.bare)

    def ratio(self, name: str) -> Spread | None:
        """Give the ratio of one figure to the bare server's over the rounds."""
        return _spread_of_known(each.ratio(name) for each in self.rounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How operations are compared with the bare server."""

    service: RunningServer
    bare: RunningServer
    loader: Loader
    seconds: int
    rounds: int
    say: Say

    def rows(self, operations: Sequence[Operation], connections: int, *, reference: Operation = BARE) -> list[Row]:
        """Measure these operations over so many connections, each between two loads of the reference."""
        for operation in operations:
            ready = operation.ready(self.service, connections)
            self.loader(ready, self.service.port, connections, WARM_UP_SECONDS)
        self.loader(reference.ready(self.bare, connections), self.bare.port, connections, WARM_UP_SECONDS)

        rounds: list[list[Round]] = [[] for _ in operations]
        before = self.figures(reference, self.bare, connections)
        for number in range(1, self.rounds + 1):
            for operation, kept in zip(operations, rounds, strict=True):
                during = self.figures(operation, self.service, connections)
                after = self.figures(reference, self.bare, connections)
                kept.append(Round(operation=during, bare=(before, after)))
                before = after
                self.say(
                    f"{connections:3} connections, round {number} of {self.rounds}: {operation.name:10}"
                    f" {during.cpu_ms_per_request:.3f} ms CPU a request,"
                    f" {kept[-1].ratio('cpu_ms_per_request'):.2f} × the reference"
                )
        return [
            Row(operation=operation, connections=connections, rounds=kept)
            for operation, kept in zip(operations, rounds, strict=True)
        ]

    def figures(self, operation: Operation, server: RunningServer, connections: int) -> Figures:
        """Load one server, and read what that cost."""
        ready = operation.ready(server, connections)
        before = (time.monotonic(), machine_cpu_seconds(), own_cpu_seconds(), cpu_seconds(server.roots))
        load = self.loader(ready, server.port, connections, self.seconds)
        after = (time.monotonic(), machine_cpu_seconds(), own_cpu_seconds(), cpu_seconds(server.roots))
        elapsed, machine, own, spent = (late - early for early, late in zip(before, after, strict=True))
        whole_bytes = proportional_bytes(server.roots)
        return Figures(
            requests_per_second=load.requests / load.seconds,
            p50_ms=load.p50_ms,
            p99_ms=load.p99_ms,
            cpu_ms_per_request=spent * 1000 / load.requests,
            python_megabytes=resident_bytes(server.python_process) / BYTES_PER_MEGABYTE,
            whole_megabytes=None if whole_bytes is None else whole_bytes / BYTES_PER_MEGABYTE,
            errors=load.errors,
            # The two clocks are read one after the other, so nothing at all may come out a little below it.
            others_share=max(0.0, (machine - own - spent) / (elapsed * PROCESSORS)),
        )


def _spread_of_known(values: Iterable[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return Spread.of(known) if known else None

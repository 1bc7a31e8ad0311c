"""Compares each operation with the bare server, in turn: bare, operation, bare, operation, bare.

The speed of shared machines drifts by tens of percent within a minute, so the ratio to the bare server just before and
just after is more reliable than the figure itself. Both are reported as medians over the rounds, with the share of the
machine that other processes used meanwhile: they compete for caches and cores, which slows down context switches most.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Final, Self

from ops.benchmarks.load import Loader
from ops.benchmarks.machine import PROCESSORS
from ops.benchmarks.operation import BARE, Operation
from ops.benchmarks.processes import (
    cpu_seconds,
    machine_cpu_seconds,
    own_cpu_seconds,
    proportional_bytes,
    resident_bytes,
)
from ops.benchmarks.progress import Say
from ops.benchmarks.servers import RunningServer

# Long enough to open the connections, fill the caches and prepare the statements.
WARM_UP_SECONDS: Final = 1
BYTES_PER_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The median and the extremes of several figures."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """Compute it from one figure or more."""
        ordered = sorted(values)
        return cls(median=statistics.median(ordered), least=ordered[0], most=ordered[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The results of one load on one server."""

    requests_per_second: float
    p50_ms: float
    p99_ms: float
    cpu_ms_per_request: float
    # Of the Python process, and of it and PostgreSQL together, where the kernel provides it.
    python_megabytes: float
    whole_megabytes: float | None
    errors: int
    # The share of the machine that neither the server nor the loader used.
    others_share: float


# The compared figures; the others show whether the comparison is reliable.
COMPARED: Final = tuple(field.name for field in fields(Figures) if field.name not in {"errors", "others_share"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The figures of an operation, and the bare server's just before and just after."""

    operation: Figures
    bare: tuple[Figures, Figures]

    def ratio(self, name: str) -> float | None:
        """Return the ratio of one figure; None if it is unknown."""
        here, before, after = (getattr(figures, name) for figures in (self.operation, *self.bare))
        return None if None in (here, before, after) else here / ((before + after) / 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """All rounds of one operation over a number of connections."""

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
        """The median share of the machine that others used in a round."""
        return statistics.median(
            figures.others_share for each in self.rounds for figures in (each.operation, *each.bare)
        )

    @property
    def is_over(self) -> bool:
        """Whether it exceeds its limit."""
        ratio, limit = self.ratio("cpu_ms_per_request"), self.operation.cpu_ratio_max
        return limit is not None and ratio is not None and ratio.median > limit

    def figure(self, name: str) -> Spread | None:
        """Return one figure of the operation over the rounds."""
        return _spread_of_known(getattr(each.operation, name) for each in self.rounds)

    def bare_figure(self, name: str) -> Spread | None:
        """Return one figure of the bare server over the same rounds."""
        return _spread_of_known(getattr(bare, name) for each in self.rounds for bare in each.bare)

    def ratio(self, name: str) -> Spread | None:
        """Return the ratio of one figure to the bare server's over the rounds."""
        return _spread_of_known(each.ratio(name) for each in self.rounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A comparison of operations on the service with a reference on the bare server."""

    service: RunningServer
    bare: RunningServer
    loader: Loader
    seconds: int
    rounds: int
    say: Say

    def rows(self, operations: Sequence[Operation], connections: int, *, reference: Operation = BARE) -> list[Row]:
        """Measure these operations over a number of connections, each between two loads of the reference."""
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
        """Load one server, and return the figures."""
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
            # The counters are read one after the other, so the difference may be slightly negative.
            others_share=max(0.0, (machine - own - spent) / (elapsed * PROCESSORS)),
        )


def _spread_of_known(values: Iterable[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return Spread.of(known) if known else None

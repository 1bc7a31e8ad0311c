"""Figures that depend on no request: the duration of a start, the memory of an idle server, the rate of hashing."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from adapters.crypto.passwords import hashes_per_second
from ops.benchmarks import servers
from ops.benchmarks.comparing import BYTES_PER_MEGABYTE, Spread
from ops.benchmarks.machine import PROCESSORS
from ops.benchmarks.processes import resident_bytes
from ops.benchmarks.progress import Say

STARTS: Final = 3
# After this time the actors have finished their first period and the server is idle.
IDLE_SECONDS: Final = 3.0
START_SECONDS_MAX: Final = 3.0
IDLE_MEGABYTES_MAX: Final = 110.0
HASHING_ROUNDS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingFigure:
    """One figure over several tries, and its limits."""

    name: str
    unit: str
    values: Spread
    maximum: float | None = None
    minimum: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether it exceeds a limit."""
        is_more = self.maximum is not None and self.values.median > self.maximum
        return is_more or (self.minimum is not None and self.values.median < self.minimum)

    @property
    def limit(self) -> str:
        """The limits as text; empty without limits."""
        sides = (("≤", self.maximum), ("≥", self.minimum))
        return ", ".join(f"{sign} {bound:g} {self.unit}" for sign, bound in sides if bound is not None)


def starts(say: Say) -> list[StandingFigure]:
    """Start the service in an empty folder, and again in the same folder; measure until it is ready."""
    first: list[float] = []
    later: list[float] = []
    idle: list[float] = []
    for number in range(1, STARTS + 1):
        with tempfile.TemporaryDirectory(prefix="gatehouse-bench-") as folder:
            with servers.service(Path(folder) / "data") as server:
                first.append(server.start_seconds)
            with servers.service(Path(folder) / "data") as server:
                later.append(server.start_seconds)
                time.sleep(IDLE_SECONDS)
                idle.append(resident_bytes(server.python_process) / BYTES_PER_MEGABYTE)
        say(f"start {number} of {STARTS}: {first[-1]:.2f} s with initialisation, {later[-1]:.2f} s without")
    return [
        StandingFigure(name="first start to ready", unit="s", values=Spread.of(first), maximum=START_SECONDS_MAX),
        StandingFigure(name="later start to ready", unit="s", values=Spread.of(later), maximum=START_SECONDS_MAX),
        StandingFigure(name="idle Python process", unit="MB", values=Spread.of(idle), maximum=IDLE_MEGABYTES_MAX),
    ]


def hashing(say: Say) -> list[StandingFigure]:
    """Hash passwords on all processors, which is the upper limit of sign-ins."""
    say(f"Argon2 on {PROCESSORS} processors")
    rates = [hashes_per_second(threads=PROCESSORS) for _ in range(HASHING_ROUNDS)]
    return [StandingFigure(name=f"Argon2 hashes, {PROCESSORS} threads", unit="1/s", values=Spread.of(rates))]

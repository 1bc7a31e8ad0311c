"""How long a start takes, and the memory of an idle server."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Final

from ops.benchmarks import servers
from ops.benchmarks.figures import BYTES_PER_MEGABYTE, Figure, Spread
from ops.benchmarks.processes import resident_bytes
from ops.benchmarks.progress import Say

STARTS: Final = 3
# After this time the actors have finished their first period and the server is idle.
IDLE_SECONDS: Final = 3.0
START_SECONDS_MAX: Final = 3.0
IDLE_MEGABYTES_MAX: Final = 110.0


def starts(say: Say) -> list[Figure]:
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
        Figure(name="first start to ready", unit="s", values=Spread.of(first), maximum=START_SECONDS_MAX),
        Figure(name="later start to ready", unit="s", values=Spread.of(later), maximum=START_SECONDS_MAX),
        Figure(name="idle Python process", unit="MB", values=Spread.of(idle), maximum=IDLE_MEGABYTES_MAX),
    ]

"""The machine of the measurement. Figures of different machines, or of one under other load, are not comparable."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import subprocess
from pathlib import Path
from typing import Final

from adapters.postgres.embedded.programs import programs_folder

PROCESSORS: Final = len(os.sched_getaffinity(0))
PROGRAM_SECONDS_MAX: Final = 10.0


def description() -> dict[str, str]:
    """Return a description of the machine and of its software."""
    return {
        "processor": f"{_processor()}, {PROCESSORS} cores",
        "load before": f"{os.getloadavg()[0]:.1f}",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        "PostgreSQL": _postgresql_version(),
        "Argon2 build": _argon2_build(),
        "versions": ", ".join(
            f"{name} {importlib.metadata.version(name)}"
            for name in ("gatehouse", "hypercorn", "quart", "quart-trio", "trio", "psycopg")
        ),
    }


def _processor() -> str:
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return model[1] if model else platform.machine()


def _postgresql_version() -> str:
    finished = subprocess.run(
        [programs_folder() / "postgres", "--version"],
        check=True,
        capture_output=True,
        text=True,
        timeout=PROGRAM_SECONDS_MAX,
    )
    return finished.stdout.split()[-1]


def _argon2_build() -> str:
    """Return what ops/build_argon2.py recorded beside the library."""
    library = importlib.util.find_spec("_argon2_cffi_bindings")
    origin = library.origin if library else None
    assert origin is not None, "the bindings of argon2-cffi are not installed"
    note = Path(origin).with_name("built-for")
    return note.read_text().strip() if note.exists() else "published wheel"

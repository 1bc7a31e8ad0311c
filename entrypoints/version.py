"""Which version of Gatehouse runs: that of its package, or between two releases the one that `ops/version.py` noted."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

NOTE: Final = "gatehouse-version"


@cache
def version() -> str:
    """Return the version of Gatehouse."""
    # Imported here, because most commands do without, and it takes 20 ms.
    from importlib.metadata import version as version_of  # noqa: PLC0415

    return noted_version(Path(sys.prefix), version_of("gatehouse"))


def noted_version(environment: Path, package: str) -> str:
    """Return the version that is noted in an environment for this version of the package, or that itself."""
    with suppress(OSError):
        noted_for, _, noted = (environment / NOTE).read_text().partition(" ")
        # A package that was installed later is what its metadata say.
        if noted_for == package:
            return noted.strip()
    return package

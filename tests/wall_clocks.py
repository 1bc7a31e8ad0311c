"""The clock of a machine, which a test moves for the programs that it starts, by libfaketime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.other_postgres import require

LIBRARIES: Final = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))


@dataclass(frozen=True)
class WallClock:
    """A file that libfaketime reads at every look at the clock; each account may read it."""

    file: Path

    def __post_init__(self) -> None:
        require(is_there=bool(LIBRARIES), package="libfaketime")
        self.set("+0")

    def set(self, offset: str) -> None:
        """Move the clock to this far from the true time."""
        whole = self.file.with_suffix(".new")
        whole.write_text(f"{offset}\n")
        whole.chmod(0o644)
        whole.replace(self.file)

    @property
    def environment(self) -> Mapping[str, str]:
        """What gives this clock to a program; the time since the machine started stays the true one."""
        return {
            "LD_PRELOAD": str(LIBRARIES[0]),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    @property
    def wrapper(self) -> tuple[str, ...]:
        """The command that gives this clock to a program."""
        return ("env", *(f"{name}={value}" for name, value in self.environment.items()))

"""The programs that making and checking a release call, and the refusal of both."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
COMMAND_SECONDS_MAX: Final = 600


class ReleaseRefusedError(Exception):
    """The release cannot be made, or is not what it should be; the message says what to do."""


def output(*command: str) -> str:
    """Return what a command in the repository prints."""
    return run(*command, cwd=ROOT).decode()


def run(
    *command: str,
    cwd: Path,
    moment: int | None = None,
    settings: Mapping[str, str] | None = None,
    seconds_max: int = COMMAND_SECONDS_MAX,
) -> bytes:
    """Run a command to its end and return its output; raise `ReleaseRefusedError` when it fails."""
    done = subprocess.run(
        command,
        check=False,
        cwd=cwd,
        env=environment(moment) | dict(settings or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=seconds_max,
    )
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace")
        raise ReleaseRefusedError(f"{' '.join(command)} failed:\n{said}")
    return done.stdout


def environment(moment: int | None) -> dict[str, str]:
    """Return the environment without the settings of the user that would install elsewhere, or change what is built."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GATEHOUSE_"))}
    given |= {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8"}
    if moment is not None:
        given["SOURCE_DATE_EPOCH"] = str(moment)
    return given

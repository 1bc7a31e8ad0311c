"""How a command ends: with a status, and one line for an error that was to be expected."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from adapters.crypto.vault import SealBroken
from adapters.postgres.embedded.folder import DataFolderError
from adapters.postgres.embedded.server import EmbeddedPostgresError
from adapters.postgres.schema.migrations import MigrationError
from core.errors import Refusal
from core.platform.backups import BackupError
from entrypoints import logs
from entrypoints.refusals import CannotStart

# Errors that a command reports in one line; any other exception is a defect and shows its traceback.
REFUSALS: Final = (
    BackupError,
    CannotStart,
    DataFolderError,
    EmbeddedPostgresError,
    MigrationError,
    Refusal,
    SealBroken,
)


def exit_status_of(run: Callable[[], int | None]) -> int:
    """Run a command and return its exit status; print one of `REFUSALS` as one line."""
    try:
        with ungrouped_errors():
            return run() or 0
    except REFUSALS as refusal:
        logs.print_last(f"gatehouse: {refusal}\n", sys.stderr)
        return 1


@contextmanager
def ungrouped_errors() -> Generator[None]:
    """Raise an expected error without the exception groups that nurseries wrapped it in."""
    try:
        yield
    except BaseExceptionGroup as group:
        expected, defects = group.split((*REFUSALS, KeyboardInterrupt, BrokenPipeError))
        if expected is None or defects is not None:
            raise
        first: BaseException = expected
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None

"""`gatehouse users import`: reads a file of accounts in batches, and reports its progress and the lines it leaves out.

Only one batch is in memory at a time, and each has its own short transaction. There is no checkpoint: the next run
skips the accounts that are stored. `core/accounts/user_import.py` defines the format of a line.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

import trio

from core.accounts import user_import
from core.accounts.user_import import ImportedPerson, LineRejected, Problem
from core.email_addresses import ToAscii
from entrypoints.progress import Progress, share_of, size_of

if TYPE_CHECKING:
    from ports.clock import Clock
    from ports.database import Database

BATCH_LINES: Final = 2_000
LINE_BYTES_MAX: Final = 16 * 1024


@dataclass
class UserImportRun:
    """One import of one file, with its counts."""

    file: BinaryIO
    stored_form: Callable[[object], str | None]
    to_ascii: ToAscii
    clock: Clock
    out: TextIO
    seconds: Callable[[], float] = time.monotonic

    lines: int = 0
    accepted: int = 0
    added: int = 0
    rejected: Counter[Problem] = field(default_factory=Counter[Problem])
    is_at_end: bool = False

    def __post_init__(self) -> None:
        self._bytes = 0
        self._bytes_total = size_of(self.file)
        self._progress = Progress(self.out, self.seconds)

    async def run(self, database: Database | None) -> None:
        """Import the file; without a database, only read it."""
        with self._progress:
            while not self.is_at_end:
                # Reading from a pipe may block for ever; a stop signal must not wait for it.
                batch = await trio.to_thread.run_sync(self._next_batch, abandon_on_cancel=True)
                if batch and database is not None:
                    self.added += await database.transact(user_import.store, batch)
                self.accepted += len(batch)
                self._progress.show(self.lines, "lines", share=share_of(self._bytes, self._bytes_total))

    def summary(self, *, is_check: bool) -> list[str]:
        """Return the lines that summarize the import."""
        done = (
            f"Could be imported: {self.accepted:,}"
            if is_check
            else f"Imported: {self.added:,}. Skipped, because the address is taken: {self.accepted - self.added:,}"
        )
        sentences = [f"Lines read: {self.lines:,}. {done}. Left out: {self.rejected.total():,}."]
        sentences += [f"{count:>9,}  {problem}" for problem, count in self.rejected.most_common()]
        if is_check:
            sentences.append("Nothing was changed. Existing accounts were not checked.")
        elif not self.is_at_end:
            sentences.append("The file was not read to its end. Run the command again: it skips imported accounts.")
        return sentences

    def _next_batch(self) -> list[ImportedPerson]:
        batch: list[ImportedPerson] = []
        now = self.clock()
        for _, line in zip(range(BATCH_LINES), self._numbered_lines(), strict=False):
            try:
                if len(line) > LINE_BYTES_MAX:
                    raise LineRejected(Problem.TOO_LONG)
                if line.strip():
                    batch.append(user_import.read(line, self.stored_form, self.to_ascii, now=now))
            except LineRejected as rejected:
                self.rejected[rejected.problem] += 1
                self._progress.erase()
                self.out.write(f"Line {self.lines} is left out: {rejected.problem}.\n")
        return batch

    def _numbered_lines(self) -> Iterator[bytes]:
        while line := self._line():
            self.lines += 1
            yield line
        self.is_at_end = True

    def _line(self) -> bytes:
        """Read a line; return only the beginning of one that is too long."""
        line = part = self.file.readline(LINE_BYTES_MAX + 1)
        self._bytes += len(part)
        while len(part) > LINE_BYTES_MAX and not part.endswith(b"\n"):
            part = self.file.readline(LINE_BYTES_MAX + 1)
            self._bytes += len(part)
        return line

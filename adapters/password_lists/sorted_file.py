"""A sorted file of short lines in ASCII, searched by halves on disk: none of it is kept in memory.

A line is found by its key: what stands before the first colon, compared in lower case. Lines that begin with `#` at the
beginning of the file are its header. The file may end without a line end, and its lines may end with CR and LF.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, final

LINE_BYTES_MAX: Final = 100
_HEADER_BYTES_MAX: Final = 4096
# Of the lines that are compared by `problem`, spread over the file.
_SAMPLES: Final = 1000


class FileNotSorted(Exception):
    """A line of the file is too long, or stands before a smaller one; the message is a sentence for operators."""


@final
class SortedFile:
    """An open file that is searched; `OSError` where it cannot be read."""

    def __init__(self, path: Path) -> None:
        # Opening a pipe would otherwise wait for a program that writes to it; reading a file is as ever.
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        self._size = os.fstat(self._descriptor).st_size
        self._begins_at = self._after_header()

    def __del__(self) -> None:
        """Close the file when no search is under way any more, also on a thread that was left behind."""
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def find(self, key: bytes) -> bytes | None:
        """Return the line with this key, which is in lower case; None without one. Raise `FileNotSorted`."""
        begin, end = self._begins_at, self._size
        while begin < end:
            start, line = self._line_at((begin + end) // 2, begin)
            found = key_of(line)
            if found == key:
                return line
            if found < key:
                begin = start + len(line) + 1
            else:
                end = start
        return None

    def first(self) -> bytes:
        """Return the first line; empty in an empty file."""
        return self._line_at(self._begins_at, self._begins_at)[1]

    def require_sorted(self) -> None:
        """Raise `FileNotSorted` when lines that are spread over the file are not in order.

        Reading all of a file of forty gigabytes would take minutes; one that was not sorted does not pass by chance.
        """
        before = b""
        step = max(1, (self._size - self._begins_at) // _SAMPLES)
        for offset in range(self._begins_at, self._size, step):
            key = key_of(self._line_at(offset, self._begins_at)[1])
            if key < before:
                raise FileNotSorted("Its lines are not sorted.")
            before = key

    def _after_header(self) -> int:
        beginning, offset = os.pread(self._descriptor, _HEADER_BYTES_MAX, 0), 0
        while beginning.startswith(b"#", offset) and b"\n" in beginning[offset:]:
            offset = beginning.index(b"\n", offset) + 1
        return offset

    def _line_at(self, offset: int, begin: int) -> tuple[int, bytes]:
        """Return where the line around an offset starts, and the line without its end. One starts at `begin`."""
        from_offset = max(begin, offset - LINE_BYTES_MAX)
        block = os.pread(self._descriptor, 2 * LINE_BYTES_MAX, from_offset)
        line_end = block.rfind(b"\n", 0, offset - from_offset)
        if line_end < 0 and from_offset > begin:
            raise FileNotSorted(f"It has a line of more than {LINE_BYTES_MAX} characters.")
        start = from_offset + line_end + 1
        line, separator, _ = block[line_end + 1 :].partition(b"\n")
        if not separator and start + len(line) < self._size:
            raise FileNotSorted(f"It has a line of more than {LINE_BYTES_MAX} characters.")
        return start, line


def key_of(line: bytes) -> bytes:
    """Return the key of a line."""
    return line.partition(b":")[0].strip().lower()

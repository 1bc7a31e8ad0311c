"""Lists of common and of breached passwords: sorted files of short lines, searched by halves on disk."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar, final

import trio

from core.accounts.passwords import BreachUnknown
from ports.accounts.passwords import seconds_max

LINE_BYTES_MAX: Final = 100
_HEADER_BYTES_MAX: Final = 4096
# Of the lines that are compared by `problem`, spread over the file.
_SAMPLES: Final = 1000
FILE: Final = Path(__file__).with_name("common_passwords.txt")
Result = TypeVar("Result")
# Of their own, because a slow disk must not use up the threads that the process shares.
SEARCHES_AT_ONCE_MAX: Final = 4
_LINE: Final = re.compile(rb"[0-9A-Fa-f]{40}(:[0-9]{1,12})?\s*")


class FileNotSorted(Exception):
    """A line of the file is too long, or stands before a smaller one; the message is a sentence for operators."""


@final
class SortedFile:
    """An open file that is searched, of which nothing is kept in memory; `OSError` where it cannot be read.

    A line is found by its key: what stands before the first colon, compared in lower case. Lines that begin with `#` at
    the beginning of the file are its header. The file may end without a line end, and its lines may end with CR and LF.
    """

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


@final
class CommonPasswords:
    """Searches the file of `ops/common_passwords.py`, in some microseconds: the operating system keeps its 240 KB."""

    def __init__(self) -> None:
        self._file = SortedFile(FILE)

    def __call__(self, folded: str) -> bool:
        """Return whether a password, after folding of its case, is in the list."""
        # A password that is not ASCII is not in the list, and a colon would end the key.
        if not folded.isascii() or ":" in folded or "\n" in folded:
            return False
        return self._file.find(folded.encode("ascii")) is not None


def sha1_of(password: str) -> str:
    """Return the SHA-1 of a password in hexadecimal, in capitals."""
    # It is the key of these lists, and protects nothing.
    return hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper()


class BreachedFileInvalid(Exception):
    """The file cannot be used; the message is a sentence for operators."""


@final
class BreachedPasswordFile:
    """The port `BreachedPasswords`; raise `BreachedFileInvalid` for a file that cannot be read, or is no such list.

    It has SHA-1 in hexadecimal, sorted, each with or without a colon and a count behind it. That is the form in which
    `haveibeenpwned-downloader` writes the list of Have I Been Pwned, of some forty gigabytes.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = SortedFile(path)
            first = self._file.first()
        except OSError as error:
            raise BreachedFileInvalid(f"{path} cannot be read: {error.strerror}.") from None
        except FileNotSorted as invalid:
            raise BreachedFileInvalid(f"{path} is no such list. {invalid}") from None
        if not _LINE.fullmatch(first):
            # In an empty file, or one of other hashes, every password would be found to be clean.
            raise BreachedFileInvalid(f"{path} is no such list. Its first line is no SHA-1 in hexadecimal.")
        self._limiter = trio.CapacityLimiter(SEARCHES_AT_ONCE_MAX)

    async def contains(self, password: str, *, is_hurried: bool) -> bool:
        key = sha1_of(password).lower().encode("ascii")
        with trio.move_on_after(seconds_max(is_hurried=is_hurried)):
            return await self._on_a_thread(partial(self._file.find, key)) is not None
        raise BreachUnknown("The file was not read in time.")

    async def require_usable(self) -> None:
        """Raise `BreachUnknown` when the lines of the file are not sorted."""
        await self._on_a_thread(self._file.require_sorted)

    async def _on_a_thread(self, work: Callable[[], Result]) -> Result:
        try:
            # What a question that is cancelled leaves behind on its thread ends soon, and changes nothing.
            return await trio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)
        except FileNotSorted as invalid:
            raise BreachUnknown(str(invalid)) from None
        except OSError as error:
            raise BreachUnknown(f"The file cannot be read: {error.strerror}.") from None

"""Breached passwords in a local file: SHA-1 in hexadecimal, sorted, each with or without a colon and a count behind it.

That is the form in which `haveibeenpwned-downloader` writes the list of Have I Been Pwned, of some forty gigabytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar, final

import trio

from adapters.password_lists.sha1 import sha1_of
from adapters.password_lists.sorted_file import FileNotSorted, SortedFile
from core.accounts.new_passwords import BreachUnknown
from ports.accounts.passwords import seconds_max

Result = TypeVar("Result")

# Of their own, because a slow disk must not use up the threads that the process shares.
SEARCHES_AT_ONCE_MAX: Final = 4
_LINE: Final = re.compile(rb"[0-9A-Fa-f]{40}(:[0-9]{1,12})?\s*")


class BreachedFileInvalid(Exception):
    """The file cannot be used; the message is a sentence for operators."""


@final
class BreachedPasswordFile:
    """The port `BreachedPasswords`; raise `BreachedFileInvalid` for a file that cannot be read, or is no such list."""

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

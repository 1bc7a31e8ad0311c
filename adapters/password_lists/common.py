"""The commonest passwords, in the file beside this module; `ops/common_passwords.py` makes it."""

from __future__ import annotations

from pathlib import Path
from typing import Final, final

from adapters.password_lists.sorted_file import SortedFile

FILE: Final = Path(__file__).with_name("common_passwords.txt")


@final
class CommonPasswords:
    """Searches the file, which takes some microseconds: the operating system keeps its 240 KB."""

    def __init__(self) -> None:
        self._file = SortedFile(FILE)

    def __call__(self, folded: str) -> bool:
        """Return whether a password, after folding of its case, is in the list."""
        # A password that is not ASCII is not in the list, and a colon would end the key.
        if not folded.isascii() or ":" in folded or "\n" in folded:
            return False
        return self._file.find(folded.encode("ascii")) is not None

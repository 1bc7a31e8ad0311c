"""The groups of characters by which a search finds a part of an address, as in the indexes over `letter_groups`."""

from __future__ import annotations

from typing import Final

from core.email_addresses import WITHIN_CHARACTERS_MIN

# The length of the groups in the indexes, and so of the shortest part that they find.
GROUP_LETTERS: Final = WITHIN_CHARACTERS_MIN


def groups_in(part: str) -> list[str]:
    """Return groups that together have every character of a part; none of a part that is shorter than one.

    An address with the part has them all. What has them all and not the part is left out by comparing: each group that
    overlaps others takes reading the index, and leaves out little more.
    """
    last = len(part) - GROUP_LETTERS
    if last < 0:
        return []
    begins = [*range(0, last, GROUP_LETTERS), last]
    return sorted({part[begin : begin + GROUP_LETTERS] for begin in begins})

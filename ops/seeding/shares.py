"""How rows are divided among organizations: a few have most of them, as in reality, and the others a few each.

Each organization has somewhat less than the one before, by a power law. Of ten thousand organizations the first has a
fifth of all rows, and the last a few of a million.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import Final

EXPONENT: Final = 1.2
# The size of the cache: as many as are in use at once.
KEPT_MAX: Final = 8


class Shares:
    """A division of a number of things: the first organization has the first of them, and so on."""

    def __init__(self, things: int, organizations: int, *, least: int, most: int) -> None:
        weights = [(place + 1) ** -EXPONENT for place in range(organizations)]
        left, weight_left = things - least * organizations, sum(weights)
        sizes: list[int] = []
        for weight in weights:
            # What exceeds the maximum of one organization goes to those after it.
            more = min(most - least, round(left * min(1.0, weight / weight_left)))
            sizes.append(least + more)
            left, weight_left = left - more, max(weight_left - weight, weight)
        self._bounds = [0, *accumulate(self._with_the_rest(sizes, left, most))]

    def place(self, number: int) -> tuple[int, int]:
        """Return the organization that has a thing, and the position of the thing within it."""
        organization = bisect_right(self._bounds, number) - 1
        return organization, number - self._bounds[organization]

    def size(self, organization: int) -> int:
        """Return how many things an organization has."""
        return self._bounds[organization + 1] - self._bounds[organization]

    def _with_the_rest(self, sizes: list[int], left: int, most: int) -> list[int]:
        """Distribute what rounding has left over."""
        for place, size in enumerate(sizes):
            more = min(left, most - size)
            sizes[place] += more
            left -= more
        return sizes


@lru_cache(KEPT_MAX)
def shares(things: int, organizations: int, *, least: int, most: int) -> Shares:
    """Divide a number of things; no organization gets more than `most`, which must be enough for all of them."""
    return Shares(things, organizations, least=least, most=most)

"""How much each organization has: a few have most of everything, as in real life, and the others a little each.

The next one always has somewhat less than the one before, by a power law. Of ten thousand organizations the first has a
fifth of everything, and the last a few of a million.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate
from typing import Final

EXPONENT: Final = 1.2
# As many as are in use at once: what is asked for again is not worked out again.
KEPT_MAX: Final = 8


class Shares:
    """So many things, and which organization has which of them: the first one has the first of them, and so on."""

    def __init__(self, things: int, organizations: int, *, least: int, most: int) -> None:
        weights = [(place + 1) ** -EXPONENT for place in range(organizations)]
        left, weight_left = things - least * organizations, sum(weights)
        sizes: list[int] = []
        for weight in weights:
            # What one cannot take, because it has the most already, goes to those after it.
            more = min(most - least, round(left * min(1.0, weight / weight_left)))
            sizes.append(least + more)
            left, weight_left = left - more, max(weight_left - weight, weight)
        self._bounds = [0, *accumulate(self._with_the_rest(sizes, left, most))]

    def place(self, number: int) -> tuple[int, int]:
        """Give the organization that has a thing, and which of its things that is."""
        organization = bisect_right(self._bounds, number) - 1
        return organization, number - self._bounds[organization]

    def size(self, organization: int) -> int:
        """Give how many an organization has."""
        return self._bounds[organization + 1] - self._bounds[organization]

    def _with_the_rest(self, sizes: list[int], left: int, most: int) -> list[int]:
        """Hand out what rounding has left over."""
        for place, size in enumerate(sizes):
            more = min(left, most - size)
            sizes[place] += more
            left -= more
        return sizes


@lru_cache(KEPT_MAX)
def shares(things: int, organizations: int, *, least: int, most: int) -> Shares:
    """Share so many things out; nobody gets more than `most`, which together have to be enough."""
    return Shares(things, organizations, least=least, most=most)

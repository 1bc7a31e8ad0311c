"""The part of a matrix that the gate asks: drawn by a seed, and whole everywhere else.

`ops/test` without arguments sets the seed and prints it. In CI, and in a run that names its tests, there is none.
What a part reaches is chance, so a test that draws is marked `matrix`, and coverage does not count it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from random import Random
from typing import Final, TypeVar

from entrypoints.web.serving.routes import Route

Case = TypeVar("Case")

SEED: Final = "GATEHOUSE_TEST_SAMPLE"
# Of the cases of a matrix, one in so many.
ONE_IN: Final = 4


def drawn(cases: Iterable[Case], *of: object) -> list[Case]:
    """Return all cases, or where there is a seed a quarter of them, at least one, in their order.

    `of` tells draws of one test apart: the callers of a route are others than those of the next.
    """
    every = list(cases)
    if not (seed := os.environ.get(SEED)):
        return every
    number = -(-len(every) // ONE_IN)
    return [every[index] for index in sorted(Random(f"{seed} {of}").sample(range(len(every)), number))]


def drawn_of_each(routes: Iterable[Route], kinds: Sequence[Case]) -> list[tuple[Route, Case]]:
    """Return every route with all kinds of callers, or where there is a seed with the quarter that is drawn for it."""
    return [(route, kind) for route in routes for kind in drawn(kinds, route.method, route.path)]

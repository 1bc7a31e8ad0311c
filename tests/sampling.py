"""The part that the gate asks: a fixed quarter of a matrix, and an eighth of the tests of areas without a change.

`ops/test` without arguments asks for the part. In CI, and in a run that names its tests, every case is asked. The part
follows from the cases; by the seed of a report (`tests/drawing.py`) it is another one. What it reaches is by chance, so
a test that asks a part of a matrix is marked `matrix`, and coverage does not count it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from random import Random
from typing import TYPE_CHECKING, Final, TypeVar

from ops.testing.areas import ONE_IN, is_of_area
from tests.drawing import report_seed

if TYPE_CHECKING:
    from entrypoints.web.serving.routes import Route

Case = TypeVar("Case")

SAMPLE: Final = "GATEHOUSE_TEST_SAMPLE"
QUARTER: Final = "quarter"
# The folders and modules of the areas that are asked whole, separated by blanks; without it, all are.
WHOLE: Final = "GATEHOUSE_TEST_WHOLE"
# Of the cases of a matrix, one in so many is asked.
_CASES_ONE_IN: Final = 4


def drawn(cases: Iterable[Case], *of: object) -> list[Case]:
    """Return all cases, or where the environment asks for the part a quarter of them, at least one, in their order.

    `of` tells draws of one test apart: the next route has other callers.
    """
    every = list(cases)
    sample = os.environ.get(SAMPLE)
    assert sample in {None, "", QUARTER}, f"{SAMPLE} is {QUARTER} or nothing; another quarter is drawn by a report"
    if not sample:
        return every
    number = -(-len(every) // _CASES_ONE_IN)
    return [every[index] for index in sorted(Random(f"{report_seed()} {of}").sample(range(len(every)), number))]


def drawn_of_each(routes: Iterable[Route], kinds: Sequence[Case]) -> list[tuple[Route, Case]]:
    """Return every route with all kinds of callers, or with the quarter that is drawn for it."""
    return [(route, kind) for route in routes for kind in drawn(kinds, route.method, route.path)]


def is_asked(test: str) -> bool:
    """Return whether a run asks a test: all of an area that is asked whole, one in eight of another."""
    whole = tuple(os.environ.get(WHOLE, "").split())
    if not whole or test.startswith(whole) or not is_of_area(test):
        return True
    return Random(test).randrange(ONE_IN) == 0

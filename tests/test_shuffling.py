"""The order of a report: modules by a seed, the tests of a module as they stand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tests.shuffling import shuffled


@dataclass(frozen=True)
class Item:
    """A test, as far as its place goes."""

    path: Path
    name: str


ITEMS = cast("Any", [Item(Path(f"test_{module}.py"), name) for module in "abcdefgh" for name in ("last", "first")])


def test_a_seed_draws_an_order_of_modules_and_each_seed_another_one() -> None:
    orders = [[item.path for item in shuffled(ITEMS, seed)] for seed in range(5)]

    assert orders == [[item.path for item in shuffled(list(reversed(ITEMS)), seed)] for seed in range(5)]
    assert len(set(map(tuple, orders))) == 5


def test_the_tests_of_a_module_stay_together_in_their_order() -> None:
    order: list[Any] = shuffled(ITEMS, seed=1)

    assert sorted(order, key=lambda item: item.path) == ITEMS
    assert [item.path for item in order[::2]] == [item.path for item in order[1::2]]

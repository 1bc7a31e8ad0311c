"""What is left to chance in a row, and how a row is written down. A batch is drawn from its own number."""

from __future__ import annotations

import random
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Batch: TypeAlias = range

NULL: Final = "\\N"
# What stands before the digits of bytes; COPY takes two of these for one.
HEXADECIMAL: Final = "\\\\x"


class Draw:
    """Something of several, some more often than others."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.values = list(weights)
        self._upto = list(accumulate(weights.values()))

    def times(self, chance: random.Random, count: int) -> list[str]:
        """Draw so many, each from all; together, because that is several times as quick as one by one."""
        return chance.choices(self.values, cum_weights=self._upto, k=count)


def chance_of(table: str, batch: Batch) -> random.Random:
    """Give what a batch is drawn from, so that it comes out the same whether or not others were made before it."""
    return random.Random(f"{table} {batch.start}")  # noqa: S311 - the same in every run is what is wanted


def line(*values: str) -> str:
    """Write a row as COPY reads it."""
    # None of the values holds what COPY gives a meaning to.
    return "\t".join(values) + "\n"

"""The random parts of a row, and the form of a row. The random numbers of a batch depend only on its start."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import accumulate
from typing import Final, TypeAlias

Batch: TypeAlias = range

NULL: Final = "\\N"
# The prefix of hexadecimal bytes; COPY reads two backslashes as one.
HEXADECIMAL: Final = "\\\\x"


class Draw:
    """A weighted choice among values."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.values = list(weights)
        self._upto = list(accumulate(weights.values()))

    def times(self, chance: random.Random, count: int) -> list[str]:
        """Return this many random values; drawing them together is several times as fast as one by one."""
        return chance.choices(self.values, cum_weights=self._upto, k=count)


def chance_of(table: str, batch: Batch) -> random.Random:
    """Return the generator of a batch, which gives the same values whether or not other batches came before it."""
    return random.Random(f"{table} {batch.start}")  # noqa: S311 - reproducible on purpose


def line(*values: str) -> str:
    """Return a row in the text format of COPY."""
    # No value contains a character that is special to COPY.
    return "\t".join(values) + "\n"

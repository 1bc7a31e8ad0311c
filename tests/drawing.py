"""The seed of what a report draws anew in each run: histories, states, simulations and the parts of matrices.

Without the setting every run draws the same, so that what it finds follows from the commit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

SEED: Final = "GATEHOUSE_REPORT_SEED"
SEED_BY_ITSELF: Final = 0
# No test draws by so many numbers.
NUMBERS_MAX: Final = 1_000_000


def report_seed() -> int:
    """Return the seed of this run: a whole number, zero by itself."""
    return int(os.environ.get(SEED) or SEED_BY_ITSELF)


def drawn_numbers(numbers: Iterable[int]) -> list[int]:
    """Return the numbers by which a test draws: these by themselves, and others by each seed."""
    return [report_seed() * NUMBERS_MAX + number for number in numbers]

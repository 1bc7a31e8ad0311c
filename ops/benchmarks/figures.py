"""Figures with their limits: each is the median of several tries."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

BYTES_PER_MEGABYTE: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The median and the extremes of several values."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """Compute it from one value or more."""
        ordered = sorted(values)
        return cls(median=statistics.median(ordered), least=ordered[0], most=ordered[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure over several tries, and its limits."""

    name: str
    unit: str
    values: Spread
    maximum: float | None = None
    minimum: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether it exceeds a limit."""
        is_more = self.maximum is not None and self.values.median > self.maximum
        return is_more or (self.minimum is not None and self.values.median < self.minimum)

    @property
    def limit(self) -> str:
        """The limits as text; empty without limits."""
        sides = (("≤", self.maximum), ("≥", self.minimum))
        return ", ".join(f"{sign} {bound:g} {self.unit}" for sign, bound in sides if bound is not None)

"""The axes of plots: round numbers that fit what is drawn, and a few places below it that are named.

Numbers stand at equal distances, so that a style sheet can put them beside their lines. A place is named where its
point begins or ends, in the words of the reader's language: each day of a week, the Mondays of a month, the months of
a year.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.pages.frame.languages import SHORT_MONTHS, Language, marked

# The most steps of a scale, and the most labels of an axis; a phone shows every second label.
STEPS_MAX: Final = 5
NAMED_MAX: Final = 7
# Days of longer periods are named by their month and year, because some come twice.
_DAYS_WITH_DAY: Final = 200
_WEEK: Final = 7

_MONTH: Final = marked("%(month)s %(year)s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The numbers beside a drawing: from zero in equal steps to the end, which nothing drawn exceeds."""

    step: int
    steps: int

    @property
    def end(self) -> int:
        """The number at the upper end."""
        return self.step * self.steps

    @property
    def numbers(self) -> list[int]:
        """The numbers from the upper end down to zero."""
        return [self.step * number for number in range(self.steps, -1, -1)]


def scale_of(maximum: int) -> Scale:
    """Return the scale that shows a number; its step is one, two or five times a power of ten."""
    step = next(one for one in _round_numbers() if one * STEPS_MAX >= maximum)
    return Scale(step=step, steps=max(-(-maximum // step), 1))


def named_days(language: Language, days: Sequence[date]) -> list[str]:
    """Return the name of each day that an axis names, and nothing for the others."""
    span = (days[-1] - days[0]).days if days else 0
    if span > _DAYS_WITH_DAY:
        name, is_named = _month, _every(days)
    elif span > _WEEK and all((after - before).days == 1 for before, after in pairwise(days)):
        name, is_named = Language.short_day, [day.weekday() == 0 for day in days]
    else:
        name, is_named = Language.short_day, _every(days)
    return [name(language, day) if one else "" for day, one in zip(days, is_named, strict=True)]


def _every(days: Sequence[date]) -> list[bool]:
    """Return which days to name: the first, and others at equal distances from it."""
    distance = max(-(-len(days) // NAMED_MAX), 1)
    return [index % distance == 0 for index in range(len(days))]


def _month(language: Language, day: date) -> str:
    return language.text(_MONTH, month=language.text(SHORT_MONTHS[day.month - 1]), year=day.year)


def _round_numbers() -> Iterator[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10

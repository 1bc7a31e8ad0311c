"""Plots as inline SVG: bars, stacked bars, steps and sparklines, without scripts, styles or numbers of their own.

A handler makes a `Plot` of points, and `console/plots.html` shows it with a table of the same numbers:

    points = [Point(label=…, counts=(7, 2), hrefs=("/…", "/…"))]
    plot = bars(language_of(call), [_("Succeeded"), _("Refused")], points, unit=_("Sign-ins"))

    {% import "console/plots.html" as plots %}
    {{ plots.plot(plot, "sign-ins", _("Sign-ins per day"), csv="/….csv") }}

Each part of a bar leads to the list that it counts, and is left out where it counts nothing. A drawing stretches to the
width of the page, so it has no text in it: its axes stand beside it and below it. Numbers stand at equal distances,
so that a style sheet can put them beside their lines. A place is named where its point begins or ends, in the words of
the reader's language: each day of a week, the Mondays of a month, the months of a year. Series differ in their outline
as well as in their colour, which comes from the theme (`assets/styles/plots.css`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import groupby, pairwise
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.pages.frame.languages import SHORT_MONTHS, Language, marked

# The units of a drawing, which are no pixels.
HEIGHT: Final = 100.0
SLOT: Final = 10.0
BAR: Final = 6.5
# What counts a little beside much is still seen.
BAR_HEIGHT_MIN: Final = 2.0
# Fewer points leave their bars as wide as these many would.
POINTS_MIN: Final = 7
# The styles of series; the style sheet has as many.
SERIES_MAX: Final = 4
_OF_ONE: Final = marked("%(point)s: %(count)s")
_OF_SEVERAL: Final = marked("%(point)s, %(series)s: %(count)s")
Written = Callable[[int], str]
# The most steps of a scale, and the most labels of an axis; a phone shows every second label.
STEPS_MAX: Final = 5
NAMED_MAX: Final = 7
# Days of longer periods are named by their month and year, because some come twice.
_DAYS_WITH_DAY: Final = 200
_WEEK: Final = 7
_MONTH: Final = marked("%(month)s %(year)s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The values of a plot at one place, such as a day: a count for each series, and a link to the list that it counts.

    `label` is a finished text, `hrefs` are none or as many as the counts; an empty one leads nowhere. `name` is the
    label of the axis below at this point; most have none. A period that is not over yet, such as today, `is_now`.
    """

    label: str
    counts: tuple[int, ...]
    hrefs: tuple[str, ...] = ()
    name: str = ""
    is_now: bool = False

    def href(self, series: int) -> str:
        """Return the address of the list that a series counts; empty where there is none."""
        return self.hrefs[series] if self.hrefs else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A part of a drawing: its path, the place of its series, what it counts in words, and the list that it counts."""

    path: str
    series: int
    title: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A number of the table, as the language writes it, and the list that it counts."""

    text: str
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A row of the table: the label of its point, and a number for each series."""

    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A drawing with its axes and its table.

    `lines` are the paths of a plot of steps, which has no other marks. `numbers` are the labels of the vertical axis
    from its upper end down to zero, in the `unit`, and `grid` the path of their lines; without any count above zero
    nothing is drawn. `names` are labels of the axis below, each with its distance from the start in percent. `now` is
    the path of a background behind the period that is not over yet.
    """

    series: tuple[str, ...]
    unit: str
    width: float
    marks: tuple[Mark, ...]
    lines: tuple[str, ...]
    numbers: tuple[str, ...]
    grid: str
    names: tuple[tuple[str, str], ...]
    rows: tuple[TableRow, ...]
    now: str = ""

    @property
    def has_links(self) -> bool:
        """Whether a part of the drawing leads to a list."""
        return any(mark.href for mark in self.marks)


def bars(
    language: Language, series: Sequence[str], points: Sequence[Point], *, unit: str, written: Written | None = None
) -> Plot:
    """Return a plot of bars; bars of several series are stacked, so the series must add up.

    `written` writes a number of the unit; the default writes it as the language does.
    """
    words = _Words(language, tuple(series), unit, written or language.number)
    scale = scale_of(max((sum(point.counts) for point in points), default=0))
    marks = [
        Mark(path=path, series=place, title=words.title(point, place), href=point.href(place))
        for index, point in enumerate(points)
        for place, path in _bar(index, len(points), point.counts, scale.end)
    ]
    return _plot(words, points, marks, [], scale)


def steps(
    language: Language, series: str, points: Sequence[Point], *, unit: str, written: Written | None = None
) -> Plot:
    """Return a plot of what holds until it changes, such as a revenue: a line of steps, whose steps are marked."""
    words = _Words(language, (series,), unit, written or language.number)
    scale = scale_of(max((point.counts[0] for point in points), default=0))
    heights = [_unit(HEIGHT - HEIGHT * (point.counts[0] / scale.end)) for point in points]
    marks: list[Mark] = []
    lines: list[str] = []
    for place, run in groupby(range(len(points)), key=lambda index: (heights[index], points[index].href(0))):
        first, *others = run
        width = _unit(SLOT * (1 + len(others)))
        # A mark says from when on its number holds.
        path = f"M{_unit(SLOT * first)} {place[0]}h{width}"
        marks.append(Mark(path=path, series=0, title=words.title(points[first], 0), href=place[1]))
        lines.append(f"{place[0]}h{width}")
    return _plot(words, points, marks, [f"M0 {'V'.join(lines)}"] if lines else [], scale)


def sparkline(counts: Sequence[int]) -> tuple[float, str]:
    """Return the width and the path of a line without a scale, for a place beside its number."""
    top = scale_of(max(counts, default=0)).end
    return SLOT * max(len(counts), 1), _path(_places(counts, top))


def ranked(counts: Sequence[int]) -> list[str]:
    """Return the width of a bar for each count, as the share of the largest in hundred units."""
    largest = max(counts, default=0)
    return [_unit(max(100.0 * count / largest, BAR_HEIGHT_MIN)) if count else "0" for count in counts]


def _bar(index: int, points: int, counts: Sequence[int], top: int) -> list[tuple[int, str]]:
    """Return the parts of a bar by the place of their series, from the ground up; what counts nothing has none."""
    width = BAR * min(1.0, points / POINTS_MIN)
    start = SLOT * index + (SLOT - width) / 2
    heights = [max(HEIGHT * (count / top), BAR_HEIGHT_MIN) if count else 0.0 for count in counts]
    # What small parts have too much is taken from the largest, so that the parts together never exceed the scale.
    if counts:
        heights[heights.index(max(heights))] -= max(sum(heights) - HEIGHT, 0.0)
    ground = HEIGHT
    parts: list[tuple[int, str]] = []
    for place, height in enumerate(heights):
        if height:
            ground -= height
            parts.append((place, f"M{_unit(start)} {_unit(ground)}h{_unit(width)}v{_unit(height)}h-{_unit(width)}z"))
    return parts


def _places(counts: Sequence[int], top: int) -> list[str]:
    return [
        f"{_unit(SLOT * index + SLOT / 2)} {_unit(HEIGHT - HEIGHT * (count / top))}"
        for index, count in enumerate(counts)
    ]


def _path(places: Sequence[str]) -> str:
    return f"M{'L'.join(places)}" if places else ""


@dataclass(frozen=True, slots=True)
class _Words:
    """What a plot says: the names of its series and its unit, and how it writes a number."""

    language: Language
    series: tuple[str, ...]
    unit: str
    written: Written

    def title(self, point: Point, place: int) -> str:
        """Return what a mark says."""
        count = self.written(point.counts[place])
        if len(self.series) == 1:
            return self.language.text(_OF_ONE, point=point.label, count=count)
        return self.language.text(_OF_SEVERAL, point=point.label, series=self.series[place], count=count)

    def row(self, point: Point) -> TableRow:
        """Return the numbers of a point, as the table has them."""
        cells = (
            Cell(text=self.written(count), href=point.href(place) if count else "")
            for place, count in enumerate(point.counts)
        )
        return TableRow(label=point.label, cells=tuple(cells))


def _plot(words: _Words, points: Sequence[Point], marks: Sequence[Mark], lines: Sequence[str], scale: Scale) -> Plot:
    assert 0 < len(words.series) <= SERIES_MAX, "a plot has more series than styles"
    has_any = any(any(point.counts) for point in points)
    width = SLOT * max(len(points), 1)
    heights = [HEIGHT * number / scale.steps for number in range(scale.steps + 1)]
    return Plot(
        series=words.series,
        unit=words.unit,
        width=width,
        marks=tuple(marks) if has_any else (),
        lines=tuple(lines) if has_any else (),
        numbers=tuple(words.written(number) for number in scale.numbers) if has_any else (),
        grid="".join(f"M0 {_unit(height)}h{_unit(width)}" for height in heights),
        names=tuple(
            (_unit(100.0 * (index + 0.5) / len(points)), point.name) for index, point in enumerate(points) if point.name
        ),
        rows=tuple(words.row(point) for point in points),
        now="".join(
            f"M{_unit(SLOT * index)} 0h{_unit(SLOT)}v100h-{_unit(SLOT)}z"
            for index, one in enumerate(points)
            if one.is_now
        ),
    )


def _unit(value: float) -> str:
    """Return a length as short as it can be drawn."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


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

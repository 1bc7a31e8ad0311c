"""Plots as inline SVG: bars, stacked bars, lines and sparklines, without scripts, styles or numbers of their own.

A handler makes a `Plot` of points, and `console/plots.html` shows it with a table of the same numbers:

    plot = bars(language_of(call), [_("Succeeded"), _("Refused")], [Point(label=…, counts=(7, 2), hrefs=("/…", "/…"))])

    {% import "console/plots.html" as plots %}
    {{ plots.plot(plot, "sign-ins", _("Sign-ins per day"), csv="/….csv") }}

Each part of a bar leads to the list that it counts, and is none where it counts nothing. A drawing stretches to the
width of the page, so it has no text in it: what is written stands beside it, as HTML. Series differ in their outline as
well as in their colour, which is that of the theme (`assets/styles/plots.css`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.lazy_dataclasses import dataclass
from entrypoints.pages.frame.languages import Language, marked

# The units of a drawing, which are no pixels.
HEIGHT: Final = 100.0
SLOT: Final = 10.0
BAR: Final = 8.0
# What counts a little beside much is still seen.
BAR_HEIGHT_MIN: Final = 2.0
# Fewer points leave their bars as wide as these many would.
POINTS_MIN: Final = 7
# The styles of series; the style sheet has as many.
SERIES_MAX: Final = 4

_OF_ONE: Final = marked("%(point)s: %(count)s")
_OF_SEVERAL: Final = marked("%(point)s, %(series)s: %(count)s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What a plot shows at one place, such as a day: a count for each series, and the list that each counts.

    `label` is a finished text, `hrefs` are none or as many as the counts; an empty one leads nowhere.
    """

    label: str
    counts: tuple[int, ...]
    hrefs: tuple[str, ...] = ()

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
    """A drawing with its scale and its table.

    `lines` are the paths of a plot of lines, whose marks are its points. `top` is the number at the upper end, empty
    where all counts are zero: then nothing is drawn.
    """

    series: tuple[str, ...]
    width: float
    marks: tuple[Mark, ...]
    lines: tuple[str, ...]
    top: str
    ends: tuple[str, ...]
    rows: tuple[TableRow, ...]

    @property
    def has_links(self) -> bool:
        """Whether a part of the drawing leads to a list."""
        return any(mark.href for mark in self.marks)


def bars(language: Language, series: Sequence[str], points: Sequence[Point]) -> Plot:
    """Return a plot of bars; those of several series stand on each other, so the series must add up."""
    top = scale_end(max((sum(point.counts) for point in points), default=0))
    marks = [
        Mark(path=path, series=place, title=_title(language, series, point, place), href=point.href(place))
        for index, point in enumerate(points)
        for place, path in _bar(index, len(points), point.counts, top)
    ]
    return _plot(language, series, points, marks, [], top)


def line(language: Language, series: Sequence[str], points: Sequence[Point]) -> Plot:
    """Return a plot of a line for each series, whose points are marked."""
    top = scale_end(max((max(point.counts, default=0) for point in points), default=0))
    marks: list[Mark] = []
    lines: list[str] = []
    for place in range(len(series)):
        places = _places([point.counts[place] for point in points], top)
        lines.append(_path(places))
        marks += [
            # A line of no length: its round ends are drawn as a dot, whatever the drawing is stretched to.
            Mark(path=f"M{at}h0", series=place, title=_title(language, series, point, place), href=point.href(place))
            for at, point in zip(places, points, strict=True)
        ]
    return _plot(language, series, points, marks, lines, top)


def sparkline(counts: Sequence[int]) -> tuple[float, str]:
    """Return the width and the path of a line without a scale, for a place beside its number."""
    top = scale_end(max(counts, default=0))
    return SLOT * max(len(counts), 1), _path(_places(counts, top))


def ranked(counts: Sequence[int]) -> list[str]:
    """Return the width of a bar for each count, as the share of the largest in hundred units."""
    largest = max(counts, default=0)
    return [_unit(max(100.0 * count / largest, BAR_HEIGHT_MIN)) if count else "0" for count in counts]


def scale_end(maximum: int) -> int:
    """Return where a scale ends that shows the maximum: one, two or five times a power of ten."""
    end = 1
    while end < maximum:
        for factor in (2, 5, 10):
            if end * factor >= maximum:
                return end * factor
        end *= 10
    return end


def _bar(index: int, points: int, counts: Sequence[int], top: int) -> list[tuple[int, str]]:
    """Return the parts of a bar by the place of their series, from the ground up; what counts nothing has none."""
    width = BAR * min(1.0, points / POINTS_MIN)
    start = SLOT * index + (SLOT - width) / 2
    # The least heights are set aside first, so that the parts together never reach beyond the scale.
    free = HEIGHT - BAR_HEIGHT_MIN * sum(count > 0 for count in counts)
    ground = HEIGHT
    parts: list[tuple[int, str]] = []
    for place, count in enumerate(counts):
        if count:
            height = BAR_HEIGHT_MIN + free * (count / top)
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


def _plot(
    language: Language,
    series: Sequence[str],
    points: Sequence[Point],
    marks: Sequence[Mark],
    lines: Sequence[str],
    top: int,
) -> Plot:
    assert 0 < len(series) <= SERIES_MAX, "a plot has more series than styles"
    has_any = any(any(point.counts) for point in points)
    ends = (points[0].label, points[-1].label) if len(points) > 1 else tuple(point.label for point in points)
    return Plot(
        series=tuple(series),
        width=SLOT * max(len(points), 1),
        marks=tuple(marks) if has_any else (),
        lines=tuple(lines) if has_any else (),
        top=language.number(top) if has_any else "",
        ends=ends,
        rows=tuple(_row(language, point) for point in points),
    )


def _row(language: Language, point: Point) -> TableRow:
    cells = (
        Cell(text=language.number(count), href=point.href(place) if count else "")
        for place, count in enumerate(point.counts)
    )
    return TableRow(label=point.label, cells=tuple(cells))


def _title(language: Language, series: Sequence[str], point: Point, place: int) -> str:
    count = language.number(point.counts[place])
    if len(series) == 1:
        return language.text(_OF_ONE, point=point.label, count=count)
    return language.text(_OF_SEVERAL, point=point.label, series=series[place], count=count)


def _unit(value: float) -> str:
    """Return a length as short as it can be drawn."""
    return f"{value:.2f}".rstrip("0").rstrip(".")

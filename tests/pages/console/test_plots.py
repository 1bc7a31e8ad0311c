"""Plots: bars that show what they count, however small, large, few or many, and a table of the same numbers."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

import pytest

from entrypoints.pages.console import plots
from entrypoints.pages.console.plots import Plot, Point, bars, line, scale_end, sparkline
from entrypoints.pages.frame.languages import ENGLISH, LANGUAGES
from entrypoints.pages.frame.rendering import templates

_BAR: Final = re.compile(r"M(?P<x>[\d.]+) (?P<y>[\d.]+)h(?P<width>[\d.]+)v(?P<height>[\d.]+)h-[\d.]+z")


def shown(plot: Plot) -> str:
    environment = templates(ENGLISH)
    template = environment.from_string(
        '{% import "console/plots.html" as plots %}{{ plots.plot(plot, "one", "Sign-ins", csv="/one.csv") }}'
    )
    return template.render(plot=plot)


def parts(plot: Plot) -> list[tuple[float, float, float, float]]:
    """Return the start, end, upper and lower edge of each part."""
    found: list[tuple[float, float, float, float]] = []
    for mark in plot.marks:
        match = _BAR.fullmatch(mark.path)
        assert match is not None, mark.path
        x, y, width, height = (float(match[name]) for name in ("x", "y", "width", "height"))
        found.append((x, x + width, y, y + height))
    return found


@pytest.mark.parametrize(
    ("maximum", "end"),
    [(0, 1), (1, 1), (2, 2), (3, 5), (5, 5), (6, 10), (11, 20), (4_999, 5_000), (10**18 + 1, 2 * 10**18)],
)
def test_a_scale_ends_at_a_round_number(maximum: int, end: int) -> None:
    assert scale_end(maximum) == end


def test_a_part_that_counts_nothing_is_none_and_the_table_has_it() -> None:
    plot = bars(ENGLISH, ["Succeeded", "Refused"], [Point(label="Monday", counts=(3, 0), hrefs=("/3", "/0"))])

    assert [(mark.series, mark.title, mark.href) for mark in plot.marks] == [(0, "Monday, Succeeded: 3", "/3")]
    assert [(cell.text, cell.href) for cell in plot.rows[0].cells] == [("3", "/3"), ("0", "")]


@pytest.mark.parametrize("days", [1, 2, 7, 30, 366])
@pytest.mark.parametrize("counts", [(1, 1), (10**15, 1), (1, 10**15), (0, 5), (7, 10**15)])
def test_every_part_is_seen_inside_of_the_drawing(days: int, counts: tuple[int, int]) -> None:
    plot = bars(ENGLISH, ["Succeeded", "Refused"], [Point(label=f"Day {day}", counts=counts) for day in range(days)])

    found = parts(plot)
    assert len(found) == days * sum(count > 0 for count in counts)
    for start, end, upper, lower in found:
        assert 0 <= start < end <= plot.width
        assert 0 <= upper < lower <= plots.HEIGHT
        assert lower - upper >= plots.BAR_HEIGHT_MIN - 0.01
    columns = sorted({(start, end) for start, end, _, _ in found})
    assert all(end < start for (_, end), (start, _) in pairwise(columns))


def test_parts_stand_on_each_other_in_the_order_of_their_series() -> None:
    plot = bars(ENGLISH, ["Succeeded", "Refused"], [Point(label="Monday", counts=(3, 2))])

    (_, _, upper, lower), (_, _, top, middle) = parts(plot)
    assert lower == plots.HEIGHT
    assert upper == pytest.approx(middle, abs=0.02)
    assert top == pytest.approx(0, abs=0.02)


def test_counts_of_zero_draw_nothing_and_say_so() -> None:
    plot = bars(ENGLISH, ["Refused"], [Point(label="Monday", counts=(0,)), Point(label="Tuesday", counts=(0,))])

    html = shown(plot)
    assert "<svg" not in html
    assert "Nothing in this period." in html
    assert html.count('<th scope="row">') == 2


def test_no_point_at_all_has_neither_drawing_nor_table() -> None:
    html = shown(bars(ENGLISH, ["Refused"], []))

    assert "<svg" not in html
    assert "<table" not in html
    assert parts(bars(ENGLISH, ["Refused"], [])) == []
    assert line(ENGLISH, ["Refused"], []).lines == ()


def test_numbers_are_those_of_the_language() -> None:
    german = bars(LANGUAGES["de"], ["Abgelehnt"], [Point(label="Montag", counts=(1_234_567,))])

    assert german.top == "2.000.000"
    assert german.rows[0].cells[0].text == "1.234.567"
    assert german.marks[0].title == "Montag: 1.234.567"


def test_a_drawing_with_links_is_a_group_and_one_without_is_an_image() -> None:
    with_links = shown(bars(ENGLISH, ["Refused"], [Point(label="Monday", counts=(1,), hrefs=("/?a=1&b=2",))]))
    without = shown(bars(ENGLISH, ["Refused"], [Point(label="Monday", counts=(1,))]))

    assert 'role="group" aria-labelledby="one-title"' in with_links
    assert '<a href="/?a=1&amp;b=2"><title>Monday: 1</title>' in with_links
    assert 'role="img" aria-labelledby="one-title"' in without
    assert '<a href="/one.csv" download>' in without


def test_hostile_labels_are_escaped() -> None:
    hostile = '"><script>alert(1)</script>%(point)s'
    html = shown(bars(ENGLISH, [hostile, "Refused"], [Point(label=hostile, counts=(1, 2), hrefs=("/1", "/2"))]))

    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;%(point)s" in html
    assert " style=" not in html


def test_a_line_goes_through_its_points() -> None:
    points = [Point(label=str(count), counts=(count, 0), hrefs=(f"/{count}", "")) for count in (0, 5, 10)]
    plot = line(ENGLISH, ["Day", "Week"], points)

    assert plot.lines == ("M5 100L15 50L25 0", "M5 100L15 100L25 100")
    assert [mark.path for mark in plot.marks if mark.series == 0] == ["M5 100h0", "M15 50h0", "M25 0h0"]
    assert plot.top == "10"
    assert 'class="line series-2"' in shown(plot)


def test_a_sparkline_of_nothing_is_empty() -> None:
    assert sparkline([]) == (10.0, "")
    assert sparkline([1, 2]) == (20.0, "M5 50L15 0")
    environment = templates(ENGLISH)
    template = environment.from_string('{% import "console/plots.html" as plots %}{{ plots.sparkline(one, "a<b") }}')
    assert 'aria-label="a&lt;b"' in template.render(one=sparkline([0, 0]))


def test_ranked_bars_are_shares_of_the_largest() -> None:
    assert plots.ranked([]) == []
    assert plots.ranked([0, 0]) == ["0", "0"]
    assert plots.ranked([200, 100, 1, 0]) == ["100", "50", "2", "0"]

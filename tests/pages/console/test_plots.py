"""Plots: bars that show what they count, however small, large, few or many, and a table of the same numbers."""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

import pytest

from entrypoints.pages.console import plots
from entrypoints.pages.console.plots import Plot, Point, bars, named_days, scale_of, sparkline, steps
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
    ("maximum", "numbers"),
    [
        (0, [1, 0]),
        (1, [1, 0]),
        (3, [3, 2, 1, 0]),
        (6, [6, 4, 2, 0]),
        (11, [15, 10, 5, 0]),
        (4_999, [5_000, 4_000, 3_000, 2_000, 1_000, 0]),
        (10**18 + 1, [15 * 10**17, 10**18, 5 * 10**17, 0]),
    ],
)
def test_a_scale_has_few_round_numbers_and_ends_soon_after_the_maximum(maximum: int, numbers: list[int]) -> None:
    assert scale_of(maximum).numbers == numbers


def test_an_axis_names_days_mondays_or_months_in_the_language() -> None:
    first = date(2026, 10, 28)

    def named(*, days: int, distance: int = 1, tag: str = "en") -> list[str]:
        shown = [first + timedelta(days=day) for day in range(0, days, distance)]
        return [name for name in named_days(LANGUAGES[tag], shown) if name]

    assert named(days=7)[:2] == ["28 Oct", "29 Oct"]
    assert named(days=30) == ["2 Nov", "9 Nov", "16 Nov", "23 Nov"]
    assert named(days=90, distance=7, tag="de")[:2] == ["28. Okt.", "11. Nov."]
    assert named(days=365, distance=30)[:2] == ["Oct 2026", "Dec 2026"]
    assert named(days=0) == []


def test_a_part_that_counts_nothing_is_none_and_the_table_has_it() -> None:
    plot = bars(
        ENGLISH, ["Succeeded", "Refused"], [Point(label="Monday", counts=(3, 0), hrefs=("/3", "/0"))], unit="Sign-ins"
    )

    assert [(mark.series, mark.title, mark.href) for mark in plot.marks] == [(0, "Monday, Succeeded: 3", "/3")]
    assert [(cell.text, cell.href) for cell in plot.rows[0].cells] == [("3", "/3"), ("0", "")]


@pytest.mark.parametrize("days", [1, 2, 7, 30, 366])
@pytest.mark.parametrize("counts", [(1, 1), (10**15, 1), (1, 10**15), (0, 5), (7, 10**15)])
def test_every_part_is_seen_inside_of_the_drawing(days: int, counts: tuple[int, int]) -> None:
    plot = bars(
        ENGLISH,
        ["Succeeded", "Refused"],
        [Point(label=f"Day {day}", counts=counts) for day in range(days)],
        unit="Sign-ins",
    )

    found = parts(plot)
    assert len(found) == days * sum(count > 0 for count in counts)
    for start, end, upper, lower in found:
        assert 0 <= start < end <= plot.width
        assert 0 <= upper < lower <= plots.HEIGHT
        assert lower - upper >= plots.BAR_HEIGHT_MIN - 0.01
    columns = sorted({(start, end) for start, end, _, _ in found})
    assert all(end < start for (_, end), (start, _) in pairwise(columns))


def test_parts_stand_on_each_other_in_the_order_of_their_series() -> None:
    plot = bars(ENGLISH, ["Succeeded", "Refused"], [Point(label="Monday", counts=(3, 2))], unit="Sign-ins")

    (_, _, upper, lower), (_, _, top, middle) = parts(plot)
    assert lower == plots.HEIGHT
    assert upper == pytest.approx(middle, abs=0.02)
    assert top == pytest.approx(0, abs=0.02)


def test_counts_of_zero_draw_nothing_and_say_so() -> None:
    plot = bars(
        ENGLISH, ["Refused"], [Point(label="Monday", counts=(0,)), Point(label="Tuesday", counts=(0,))], unit="Sign-ins"
    )

    html = shown(plot)
    assert "<svg" not in html
    assert "Nothing in this period." in html
    assert html.count('<th scope="row">') == 2


def test_no_point_at_all_has_neither_drawing_nor_table() -> None:
    html = shown(bars(ENGLISH, ["Refused"], [], unit="Sign-ins"))

    assert "<svg" not in html
    assert "<table" not in html
    assert parts(bars(ENGLISH, ["Refused"], [], unit="Sign-ins")) == []
    assert steps(ENGLISH, "Refused", [], unit="Sign-ins").lines == ()


def test_numbers_are_those_of_the_language() -> None:
    german = bars(LANGUAGES["de"], ["Abgelehnt"], [Point(label="Montag", counts=(1_234_567,))], unit="Sign-ins")

    assert german.numbers == ("1.500.000", "1.000.000", "500.000", "0")
    assert german.rows[0].cells[0].text == "1.234.567"
    assert german.marks[0].title == "Montag: 1.234.567"


def test_a_drawing_with_links_is_a_group_and_one_without_is_an_image() -> None:
    with_links = shown(
        bars(ENGLISH, ["Refused"], [Point(label="Monday", counts=(1,), hrefs=("/?a=1&b=2",))], unit="Sign-ins")
    )
    without = shown(bars(ENGLISH, ["Refused"], [Point(label="Monday", counts=(1,))], unit="Sign-ins"))

    assert 'role="group" aria-labelledby="one-title"' in with_links
    assert '<a href="/?a=1&amp;b=2"><title>Monday: 1</title>' in with_links
    assert 'role="img" aria-labelledby="one-title"' in without
    assert '<a href="/one.csv" download>' in without


def test_hostile_labels_are_escaped() -> None:
    hostile = '"><script>alert(1)</script>%(point)s'
    html = shown(
        bars(ENGLISH, [hostile, "Refused"], [Point(label=hostile, counts=(1, 2), hrefs=("/1", "/2"))], unit="Sign-ins")
    )

    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;%(point)s" in html
    assert " style=" not in html


def test_steps_hold_until_the_next_point_and_are_written_in_their_unit() -> None:
    points = [Point(label=str(count), counts=(count,), name=f"{count} Nov") for count in (0, 500, 1_000)]
    plot = steps(ENGLISH, "Revenue", points, unit="EUR a month", written=lambda cents: f"{cents / 100:.2f} EUR")

    assert plot.lines == ("M0 100h10V50h10V0h10",)
    assert [mark.path for mark in plot.marks] == ["M0 100h10", "M10 50h10", "M20 0h10"]
    assert plot.marks[1].title == "500: 5.00 EUR"
    unchanged = steps(ENGLISH, "Revenue", [points[1], points[1], points[2]], unit="EUR a month")
    assert unchanged.lines == ("M0 50h20V0h10",)
    assert [mark.path for mark in unchanged.marks] == ["M0 50h20", "M20 0h10"]
    assert plot.numbers[0] == "10.00 EUR"
    assert plot.rows[2].cells[0].text == "10.00 EUR"
    html = shown(plot)
    assert 'class="line series-1"' in html
    assert '<p class="plot-unit" data-value>EUR a month</p>' in html
    assert '<text x="50%" y="1em">500 Nov</text>' in html


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

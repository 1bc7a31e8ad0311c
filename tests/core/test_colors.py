"""Colours and their contrast (WCAG 2.2)."""

from __future__ import annotations

import colorsys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.colors import (
    BLACK,
    DARK_SURFACE,
    GROUND,
    WHITE,
    checked_color,
    contrast,
    mixed,
    readable_on,
    text_color_on,
    tint_of,
)
from core.errors import BadRequest

COLORS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [(WHITE, BLACK, 21.0), (WHITE, WHITE, 1.0), ("#777777", WHITE, 4.48), ("#0000ff", WHITE, 8.59)],
)
def test_the_contrast_is_that_of_the_guidelines(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == pytest.approx(ratio, abs=0.005)
    assert contrast(one, other) == contrast(other, one)


@given(COLORS)
def test_text_is_readable_on_every_colour(color: str) -> None:
    assert contrast(color, text_color_on(color)) >= 4.5


@pytest.mark.parametrize("text", ["", "red", "#fff", "#12345g", "14544a", "#14544a1", "#14544a;x"])
def test_another_notation_is_refused(text: str) -> None:
    with pytest.raises(BadRequest):
        checked_color(text, "primary_color")


def test_a_colour_is_stored_in_lower_case() -> None:
    assert checked_color(" #14544A ", "primary_color") == "#14544a"


def test_a_mixture_has_its_share_of_both_colours() -> None:
    assert mixed("#102030", WHITE, 1) == "#102030"
    assert mixed("#102030", WHITE, 0) == WHITE
    assert mixed(BLACK, "#ff8000", 0.5) == "#804000"


def test_a_colour_that_is_lightened_stays_as_saturated_as_it_is() -> None:
    channels = [int(readable_on("#8a3b12", DARK_SURFACE)[place : place + 2], 16) / 255 for place in (1, 3, 5)]

    hue, _, saturation = colorsys.rgb_to_hls(*channels)

    assert (hue, saturation) == pytest.approx((20.5 / 360, 0.77), abs=0.01)


@given(COLORS, st.sampled_from([GROUND, DARK_SURFACE, WHITE, BLACK]))
def test_every_colour_can_be_made_readable_on_a_ground(color: str, ground: str) -> None:
    assert contrast(readable_on(color, ground), ground) >= 4.5


def test_a_colour_that_is_readable_stays_as_it_is() -> None:
    assert readable_on("#14544a", GROUND) == "#14544a"
    assert readable_on("#14544a", DARK_SURFACE) != "#14544a"


def test_a_tint_is_as_strong_as_text_in_the_colour_allows() -> None:
    assert tint_of("#14544a", WHITE) == mixed("#14544a", WHITE, 0.12)
    assert contrast("#707000", tint_of("#707000", WHITE)) >= 4.5
    # Just readable on white, and on nothing darker.
    assert tint_of("#767676", WHITE) == WHITE

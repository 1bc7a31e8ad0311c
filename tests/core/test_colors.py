"""Colours and their contrast (WCAG 2.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.colors import BLACK, WHITE, checked_color, contrast, text_color_on
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

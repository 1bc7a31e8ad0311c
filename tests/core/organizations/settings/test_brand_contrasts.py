"""The contrasts that a branding needs, and the colours that pages compute to be readable."""

from __future__ import annotations

import pytest

from core.colors import BLACK, DARK_SURFACE, GROUND, TEXT_CONTRAST_MIN, WHITE, contrast
from core.organizations.settings.brand_contrasts import ColorUse, computed_colors, required_contrasts


def test_without_colours_nothing_is_required_or_computed() -> None:
    assert required_contrasts(None, "#000000") == ()
    assert computed_colors(None, None) == []


@pytest.mark.parametrize(
    ("primary", "background", "are_enough"),
    [
        ("#14544a", None, (True, True)),
        ("#14544a", "#000000", (True, False)),
        ("#ffcc00", None, (False, False)),
        ("#ffcc00", "#000000", (False, True)),
    ],
)
def test_the_main_colour_stands_out_from_white_and_from_the_background(
    primary: str, background: str | None, are_enough: tuple[bool, bool]
) -> None:
    white, ground = required_contrasts(primary, background)

    assert (white.is_enough, ground.is_enough) == are_enough
    assert white.ratio == contrast(primary, WHITE)
    assert ground.ratio == contrast(primary, background or GROUND)
    assert (str(white.what), str(ground.what)) == ("white", "the background colour")


def test_text_is_black_or_white_and_links_are_changed_as_little_as_it_takes() -> None:
    computed = {one.use: one for one in computed_colors("#737373", "#ffff00")}

    assert computed[ColorUse.TEXT_ON_BUTTONS].color == WHITE
    assert computed[ColorUse.TEXT_ON_BACKGROUND].color == BLACK
    assert not computed[ColorUse.LIGHT_LINKS].is_as_chosen
    assert contrast(computed[ColorUse.LIGHT_LINKS].color, GROUND) >= TEXT_CONTRAST_MIN
    assert not computed[ColorUse.DARK_ACCENT].is_as_chosen
    assert contrast(computed[ColorUse.DARK_ACCENT].color, DARK_SURFACE) >= TEXT_CONTRAST_MIN
    assert all(one.ratio >= TEXT_CONTRAST_MIN for one in computed.values())


def test_a_readable_colour_stays_as_it_was_chosen() -> None:
    light = {one.use: one for one in computed_colors("#14544a", None)}
    dark = {one.use: one for one in computed_colors("#ffcc00", None)}

    assert light[ColorUse.LIGHT_LINKS].is_as_chosen
    assert dark[ColorUse.DARK_ACCENT].is_as_chosen
    assert ColorUse.TEXT_ON_BACKGROUND not in light

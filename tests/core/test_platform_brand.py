"""The name and the colour of the platform."""

from __future__ import annotations

import pytest

from core.errors import BadRequest
from core.platform_brand import NAME_DEFAULT, PlatformBrand, checked_platform_color, checked_platform_name


def test_without_settings_the_platform_has_the_name_and_the_look_of_the_product() -> None:
    assert PlatformBrand() == PlatformBrand(name=NAME_DEFAULT, color=None, logo=None)


@pytest.mark.parametrize("name", ["Acme ID", "Björk & Söhne", "例子"])
def test_a_name_is_taken(name: str) -> None:
    assert checked_platform_name(f" {name} ") == name


@pytest.mark.parametrize("name", ["", "x" * 41, "Acme\nID", "Acme\u202eID", 'The "Acme"', "Acme: ID", "<Acme>"])
def test_a_name_that_a_mail_or_an_app_would_misread_is_refused(name: str) -> None:
    with pytest.raises(BadRequest):
        checked_platform_name(name)


@pytest.mark.parametrize("color", ["#14544a", "#C00000", "#767676"])
def test_a_colour_is_taken_that_is_readable_on_white(color: str) -> None:
    assert checked_platform_color(color) == color.lower()


@pytest.mark.parametrize("color", ["red", "#fff", "#777777", "#ffcc00"])
def test_another_colour_is_refused(color: str) -> None:
    with pytest.raises(BadRequest):
        checked_platform_color(color)

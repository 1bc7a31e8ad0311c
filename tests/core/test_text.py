"""Text that people type: slugs, names, reasons."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadRequest
from core.organizations import organizations
from core.text import (
    MESSAGE_CHARACTERS_MAX,
    SLUG_CHARACTERS_MAX,
    SLUG_CHARACTERS_MIN,
    checked_message,
    checked_name,
    checked_slug,
    slug_of_name,
)


@pytest.mark.parametrize("text", ["abc", "a-b", "1-2-3", "a" * SLUG_CHARACTERS_MAX, "123"])
def test_a_valid_slug_is_returned_unchanged(text: str) -> None:
    assert checked_slug(text) == text


@pytest.mark.parametrize(
    "text", ["", "ab", "a" * 51, "-abc", "abc-", "a--b", "Abc", "a_b", "a b", "abc\n", "äbc", "a.b", "١٢٣"]
)
def test_an_invalid_slug_is_refused_with_the_name_of_its_field(text: str) -> None:
    with pytest.raises(BadRequest) as refused:
        checked_slug(text, "org_slug")

    assert refused.value.details[0].field == "org_slug"


@given(st.text(st.sampled_from("ab1-A_"), max_size=SLUG_CHARACTERS_MAX + 2))
def test_a_text_is_a_slug_exactly_when_it_satisfies_decisions_5_1(text: str) -> None:
    is_slug = (
        SLUG_CHARACTERS_MIN <= len(text) <= SLUG_CHARACTERS_MAX
        and re.fullmatch(r"[a-z0-9-]+", text) is not None
        and not text.startswith("-")
        and not text.endswith("-")
        and re.search("--", text) is None
    )

    try:
        checked_slug(text)
    except BadRequest:
        assert not is_slug
    else:
        assert is_slug


@pytest.mark.parametrize(
    "name",
    [
        "Acme",
        "Ada & Söhne",
        "Acme Inc.",
        "J.P. Morgan & Co.",
        "Verein e.V.",
        "Trgovina d.o.o.",
        "St. Mary's",
        "Release 2.0",
        "1.2.3",
        "A/B Testing: the book",
        "株式会社エイダ",
        "Family 👨‍👩‍👧",
    ],
)
def test_an_ordinary_name_of_an_organization_is_accepted(name: str) -> None:
    assert organizations.checked_name(f" {name} ") == name


@pytest.mark.parametrize(
    "name",
    [
        "evil.example/login",
        "Acme - go to evil.example",
        "https://evil",
        "HTTP://1",
        "www.evil",
        "WWW\uff0eevil",
        "evil\u3002example",
        "evil\uff0eexample",
        "evil.\u200dexample",
        "evil\ufe0f.example",
        "evil\uff61example",
        "\uff45\uff56\uff49\uff4c\uff0e\uff45\uff58\uff41\uff4d\uff50\uff4c\uff45",
        "xn--evil.xn--example",
        "пример.рф",
        "ada@example.com",
        "http 192.0.2.7/login",
    ],
)
def test_a_name_of_an_organization_is_no_address_of_the_web(name: str) -> None:
    with pytest.raises(BadRequest) as refused:
        organizations.checked_name(name)

    assert refused.value.details[0].field == "name"
    assert "Write it without dots" in refused.value.message


@pytest.mark.parametrize(
    "character",
    "\x00\n\r\t\x1f\x7f\x85\u2028\u2029\u202e\u2066\u200e\u200f\u061c\u200b\u2060\ufeff\u00ad\ue000\u3164\u2800\U000e0041",
)
def test_a_name_has_no_control_direction_or_invisible_characters(character: str) -> None:
    with pytest.raises(BadRequest):
        checked_name(f"Ac{character}me", characters_min=1)


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Harbour & Works", "harbour-works"),
        ("  Café Größe, 2. Stock ", "cafe-grosse-2-stock"),
        ("Ann's Shop", "anns-shop"),
        ("東京", ""),
        (f"{'x' * 49} y", "x" * 49),
    ],
)
def test_a_name_proposes_a_slug(name: str, slug: str) -> None:
    assert slug_of_name(name) == slug
    assert slug == "" or checked_slug(slug) == slug


def test_a_message_is_one_line_and_may_be_empty() -> None:
    assert checked_message(" Hi,\r\nsee you at 10.30.\nAda ") == "Hi, see you at 10.30. Ada"
    assert checked_message(" \n ") == ""
    assert len(checked_message("é" * MESSAGE_CHARACTERS_MAX)) == MESSAGE_CHARACTERS_MAX
    assert checked_message("x\r\n" * 150) == " ".join("x" * 150)


@pytest.mark.parametrize(
    "message", ["a" * 301, "a\tb", "a\x00b", "a\u202eb", "a\u200bb", "www.evil", "http://x", "ada@evil.example"]
)
def test_a_message_that_misleads_is_refused(message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        checked_message(message)

    assert refused.value.details[0].field == "message"

"""Normal forms of Unicode are made of bounded texts alone."""

from __future__ import annotations

import unicodedata
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import text as normal_forms
from core.accounts import names
from core.errors import BadRequest
from core.text import (
    COMPOSED_OF_MAX,
    SLUG_CHARACTERS_MAX,
    TEXT_CHARACTERS_MAX,
    is_normalized,
    mentions_web_address,
    normalized,
    slug_of_name,
    stored_form,
)

MARKS = "a" + "\u0301\u0327" * 30_000


@given(st.text(max_size=60))
def test_a_short_text_is_normalized_as_unicode_says(text: str) -> None:
    assert normalized("NFC", text, characters_max=60) == unicodedata.normalize("NFC", text)
    assert is_normalized("NFKC", text, characters_max=60) == unicodedata.is_normalized("NFKC", text)


@given(st.text(max_size=20))
def test_a_text_that_fits_when_it_is_composed_is_not_refused_in_its_longest_form(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)

    assert normalized("NFC", unicodedata.normalize("NFD", composed), characters_max=len(composed)) == composed


def test_no_character_is_composed_of_more() -> None:
    characters = map(chr, range(0x110000))

    assert max(len(unicodedata.normalize("NFD", character)) for character in characters) == COMPOSED_OF_MAX


def test_a_longer_text_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise AssertionError("a long text is normalized")

    monkeypatch.setattr(normal_forms, "unicodedata", SimpleNamespace(normalize=fail, is_normalized=fail))

    assert normalized("NFC", MARKS, characters_max=1_000) is None
    assert not is_normalized("NFKC", MARKS, characters_max=1_000)
    assert stored_form(f" {MARKS} ") == MARKS
    assert mentions_web_address(MARKS)
    with pytest.raises(BadRequest):
        names.checked(MARKS)


def test_a_name_that_is_sent_decomposed_is_as_long_as_it_is_composed() -> None:
    name = "é" * 100

    assert names.checked(unicodedata.normalize("NFD", f"  {name}  ")) == name
    assert stored_form(unicodedata.normalize("NFD", "é" * TEXT_CHARACTERS_MAX)) == "é" * TEXT_CHARACTERS_MAX


def test_a_long_name_proposes_a_slug_of_its_beginning() -> None:
    assert slug_of_name("Ünïted " + MARKS) == "united-a"
    assert len(slug_of_name("x" * 60_000)) == SLUG_CHARACTERS_MAX

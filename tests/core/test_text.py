"""Text that people type: slugs, names, reasons."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadRequest
from core.text import SLUG_CHARACTERS_MAX, SLUG_CHARACTERS_MIN, checked_slug


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
        and "--" not in text
    )

    try:
        checked_slug(text)
    except BadRequest:
        assert not is_slug
    else:
        assert is_slug

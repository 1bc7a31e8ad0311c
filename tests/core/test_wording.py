"""Texts with values."""

from __future__ import annotations

from core.errors import BadRequest
from core.wording import Grouped, Wording


def test_a_wording_is_its_finished_english() -> None:
    text = Wording(
        "At most %(maximum)s of %(names)s, or 5 %% of %(count)s.", maximum=3, names="a, b", count=Grouped(12000)
    )

    assert text == "At most 3 of a, b, or 5 % of 12,000."
    assert (text.template, text.values["maximum"]) == (
        "At most %(maximum)s of %(names)s, or 5 %% of %(count)s.",
        3,
    )


def test_a_refusal_keeps_the_wording_of_a_field() -> None:
    refusal = BadRequest.of_field("name", Wording("At most %(maximum)s.", maximum=3))

    assert refusal.message == "name: At most 3."
    assert isinstance(refusal.details[0].message, Wording)


def test_the_text_of_an_error_is_the_one_that_it_was_raised_with() -> None:
    text = Wording("At most %(maximum)s.", maximum=3)

    assert Wording.of(ValueError(text)) is text
    assert Wording.of(ValueError("plain")) == "plain"
    assert Wording.of(ValueError()) == ""
    assert Wording.of(ValueError(3)) == "3"

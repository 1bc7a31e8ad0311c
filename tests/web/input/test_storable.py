"""Input that no type rules out: properties of its detection, over any JSON."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.web.input.storable import as_shown, is_storable, nul_escape, unbounded_numbers, unstorable_fields

texts = st.text(st.characters() | st.sampled_from('\x00\ud800\udfff[]{}"\\'), max_size=5)
leaves = st.none() | st.booleans() | st.integers() | texts
json_values = st.recursive(
    leaves, lambda inside: st.lists(inside, max_size=5) | st.dictionaries(texts, inside, max_size=5), max_leaves=20
)


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(text for item in value.values() for text in texts_in(item))]
    if isinstance(value, list):
        return [text for item in value for text in texts_in(item)]
    return [value] if isinstance(value, str) else []


@given(json_values)
def test_the_position_of_a_nul_is_returned_exactly_when_there_is_one(value: Any) -> None:
    data = json.dumps([value]).encode()

    position = nul_escape(data)

    assert (position is not None) == any("\x00" in text for text in texts_in(value))


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (rb"ab", None),
        (rb"ab\u0000", 2),
        (rb"ab\\u0000", None),
        (rb"ab\\\u0000", 4),
        (rb"\\u0000\u00e9\u0000", 13),
    ],
)
def test_the_position_of_a_nul_is_that_of_its_escape(text: bytes, position: int | None) -> None:
    assert nul_escape(text) == position


@given(json_values)
def test_a_field_is_named_exactly_when_a_text_cannot_be_stored(value: Any) -> None:
    data = json.dumps([value]).encode()

    fields = list(unstorable_fields(data))

    assert (not fields) == all(map(is_storable, texts_in(json.loads(data))))


def test_a_field_is_named_by_its_path() -> None:
    data = json.dumps({"a": [1, {"b": {"c": ["", "x\x00"]}}]}).encode()

    assert list(unstorable_fields(data)) == ["a[1].b.c[1]"]


@pytest.mark.parametrize("data", [rb'"\ud800"', rb'{"a": "\u0000", "a": "b"}'])
def test_a_text_outside_of_every_field_has_no_field_name(data: bytes) -> None:
    assert list(unstorable_fields(data)) == []


@given(st.text(st.characters() | st.sampled_from("\x00\ud800")))
def test_a_shown_text_can_be_stored_and_encoded(text: str) -> None:
    shown = as_shown(text)

    assert is_storable(shown)
    assert shown.encode() or not text
    assert len(shown) == len(text)


class Loose(msgspec.Struct):
    """A body with unbounded numbers in all places where they can occur."""

    bounded: Annotated[int, msgspec.Meta(ge=0, le=9)]
    half_bounded: Annotated[int, msgspec.Meta(ge=0)]
    maybe: int | None
    many: list[int]
    named: dict[str, int]
    inside: list["Inner"]
    itself: "Loose | None"
    real: float
    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)


class Inner(msgspec.Struct):
    """A nested struct."""

    count: int
    exact: Literal[1, 2] = 1


def test_unbounded_numbers_are_found_everywhere() -> None:
    assert unbounded_numbers(Loose) == ["half_bounded", "maybe", "many[]", "named{}", "inside[].count"]

"""Input that no type rules out: properties of its detection, over any JSON."""

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.web.storable import (
    NESTING_LEVELS_MAX,
    as_shown,
    is_nested_too_deeply,
    is_storable,
    unbounded_numbers,
    unstorable_fields,
)

texts = st.text(st.characters() | st.sampled_from('\x00\ud800\udfff[]{}"\\'), max_size=5)
leaves = st.none() | st.booleans() | st.integers() | texts
json_values = st.recursive(
    leaves, lambda inside: st.lists(inside, max_size=5) | st.dictionaries(texts, inside, max_size=5), max_leaves=20
)


def levels(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(levels, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(levels, value), default=0)
    return 0


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(text for item in value.values() for text in texts_in(item))]
    if isinstance(value, list):
        return [text for item in value for text in texts_in(item)]
    return [value] if isinstance(value, str) else []


@given(json_values, st.integers(0, 2 * NESTING_LEVELS_MAX))
def test_a_body_is_nested_too_deeply_when_it_has_more_levels_than_allowed(value: Any, more_levels: int) -> None:
    for level in range(more_levels):
        value = [value] if level % 2 else {"[": value}

    assert is_nested_too_deeply(json.dumps(value).encode()) is (levels(value) > NESTING_LEVELS_MAX)


@given(st.binary())
def test_the_nesting_of_any_bytes_can_be_checked(data: bytes) -> None:
    assert isinstance(is_nested_too_deeply(data + b"[" * NESTING_LEVELS_MAX), bool)


@given(json_values)
def test_a_field_is_named_exactly_when_a_text_cannot_be_stored(value: Any) -> None:
    data = json.dumps([value]).encode()

    fields = list(unstorable_fields(data))

    assert (not fields) == all(map(is_storable, texts_in(value)))


def test_a_field_is_named_by_its_path() -> None:
    data = json.dumps({"a": [1, {"b": {"c": ["", "x\x00"]}}]}).encode()

    assert list(unstorable_fields(data)) == ["a[1].b.c[1]"]


def test_a_body_that_is_only_a_text_has_no_field_name() -> None:
    assert list(unstorable_fields(rb'"\ud800"')) == []


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

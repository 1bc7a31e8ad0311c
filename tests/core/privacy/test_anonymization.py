"""The placeholder of an anonymized person, and the replacement of addresses in texts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.privacy.anonymization import placeholder_of, without_addresses

ADDRESSES = ["ada@example.com", "a.da+x@example.com"]
GONE = "gone@deleted.local"


def test_the_placeholder_contains_the_time_in_microseconds() -> None:
    moment = datetime(2026, 2, 3, 4, 5, 6, 7, tzinfo=UTC)

    assert placeholder_of(moment) == "anonymized-20260203040506000007@deleted.local"


@pytest.mark.parametrize(
    "text",
    [
        "ada@example.com",
        "Asked by Ada@Example.COM.",
        "<ada@example.com>, (a.da+x@example.com)",
        "ada@example.com\nada@example.com",
        "to:ada@example.com!",
    ],
)
def test_the_addresses_are_replaced_in_texts(text: str) -> None:
    cleaned = without_addresses(text, ADDRESSES, GONE)

    assert "ada@example.com" not in cleaned.lower()
    assert "a.da+x@example.com" not in cleaned
    assert GONE in cleaned


@pytest.mark.parametrize(
    "text",
    ["xada@example.com", "x.ada@example.com", "ada@example.com.au", "ada@example.comx", "aXda+x@example.com", ""],
)
def test_similar_addresses_of_others_are_kept(text: str) -> None:
    assert without_addresses(text, ADDRESSES, GONE) == text


def test_the_addresses_are_replaced_in_nested_values_and_nothing_else_changes() -> None:
    value = {"email": "ada@example.com", "list": ["ada@example.com", 7, None, True, {"x": "bob@example.com"}]}

    assert without_addresses(value, ADDRESSES, GONE) == {
        "email": GONE,
        "list": [GONE, 7, None, True, {"x": "bob@example.com"}],
    }

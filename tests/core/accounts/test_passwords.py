"""New passwords: which are accepted."""

from __future__ import annotations

import pytest

from core.accounts.passwords import problem


@pytest.mark.parametrize("password", ["12345678", "é" * 8, "p" * 128, "correct horse"])
def test_a_password_of_8_to_128_characters_is_accepted(password: str) -> None:
    assert problem(password) is None


@pytest.mark.parametrize(
    ("password", "found"),
    [
        ("1234567", "at least 8 characters"),
        ("p" * 129, "at most 128 characters"),
        ("1234567\x00", "a character that cannot be used"),
    ],
)
def test_another_password_is_refused_with_what_is_wrong(password: str, found: str) -> None:
    assert found in (problem(password) or "")

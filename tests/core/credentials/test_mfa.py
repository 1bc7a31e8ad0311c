"""How the code of an authenticator app may be typed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.credentials import mfa


@pytest.mark.parametrize("typed", ["012345", "012 345", " 01 23 45\n", "0\t1 2 3 4 5"])
def test_six_digits_in_any_groups_are_a_code(typed: str) -> None:
    assert mfa.totp_code(typed) == "012345"


@pytest.mark.parametrize(
    "typed",
    ["", "12345", "1234567", "12345a", "-12345", "012-345", "٠١٢٣٤٥", "\uff10\uff11\uff12\uff13\uff14\uff15", "¹²³⁴⁵⁶"],
)
def test_other_text_is_no_code(typed: str) -> None:
    assert mfa.totp_code(typed) is None


@given(st.text())
def test_any_text_yields_six_ascii_digits_or_none(typed: str) -> None:
    code = mfa.totp_code(typed)

    assert code is None or re.fullmatch(r"[0-9]{6}", code)

"""What a person types as the code of a mail."""

from __future__ import annotations

import pytest

from core.accounts.links import typed_code


@pytest.mark.parametrize("typed", ["123456", " 123456\n", "123 456", "12 34 56", "123\N{NO-BREAK SPACE}456"])
def test_a_code_may_be_typed_with_spaces(typed: str) -> None:
    assert typed_code(typed) == "123456"


@pytest.mark.parametrize("typed", ["", "12345", "1234567", "123-456", "12345a", "١٢٣٤٥٦", "6fd2e1a8-8f3b-4a39-9a0e"])
def test_anything_else_is_no_code(typed: str) -> None:
    assert typed_code(typed) is None

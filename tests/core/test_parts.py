"""Rows in parts."""

from __future__ import annotations

from uuid import UUID

import pytest

from core.parts import in_parts, read_in_parts

ROWS = [UUID(int=number) for number in range(7)]


@pytest.mark.parametrize("number", [0, 1, 3, 4, 6, 7])
def test_all_rows_come_once_and_in_their_order(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.parts.ROWS_AT_ONCE_MAX", 3)
    asked: list[UUID | None] = []

    def read(*, after: UUID | None, limit: int) -> list[UUID]:
        asked.append(after)
        return [one for one in ROWS[:number] if after is None or one > after][:limit]

    expected = [ROWS[first : min(first + 3, number)] for first in range(0, number, 3)]
    assert list(in_parts(ROWS[:number])) == expected
    assert list(read_in_parts(read, lambda one: one)) == expected
    # After a part that is not full, no further part is asked for.
    assert len(asked) == number // 3 + 1

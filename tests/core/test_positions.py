"""The position in a list, as it stands in an address."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from core.positions import Position, position_of

ID = UUID("0191d3c1-0000-7000-8000-00000000000f")


def test_a_position_is_read_as_it_was_written() -> None:
    east = timezone(timedelta(hours=5))
    for at in (datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC), datetime(2026, 2, 3, 4, 5, 6, tzinfo=east)):
        assert position_of(str(Position(at=at, id=ID))) == Position(at=at, id=ID)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "_",
        "yesterday",
        f"_{ID}",
        f"2026-02-03T04:05:06_{ID}",
        "2026-02-03T04:05:06Z_7",
        f"0001-01-01T00:00:00Z_{ID}",
    ],
)
def test_a_damaged_position_is_the_begin_of_the_list(text: str) -> None:
    assert position_of(text) is None

"""Ranges of ids that rows of a time can have."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from core.ids import FIRST_ID, LAST_ID, end_id_until, first_id_at, first_id_since, id_later, ids_of_days, moment_of

NOON = datetime(2026, 2, 3, 12, tzinfo=UTC)


def test_an_id_is_made_up_to_an_hour_before_the_time_of_its_row_and_up_to_a_minute_after_it() -> None:
    assert moment_of(first_id_since(NOON)) == NOON - timedelta(hours=1)
    assert end_id_until(NOON) > first_id_at(NOON + timedelta(minutes=1))
    assert end_id_until(NOON) <= first_id_at(NOON + timedelta(minutes=1, milliseconds=1))


def test_days_are_a_range_of_ids_from_an_hour_before_them() -> None:
    first, end = ids_of_days(date(2026, 2, 3), date(2026, 2, 4))

    assert moment_of(first) == datetime(2026, 2, 2, 23, tzinfo=UTC)
    assert moment_of(end) > datetime(2026, 2, 5, 0, 1, tzinfo=UTC) - timedelta(milliseconds=2)


def test_any_days_have_ids() -> None:
    first, end = ids_of_days(date.min, date.max)

    assert first == FIRST_ID
    assert end > first_id_at(NOON)


def test_an_id_that_is_later_than_any_is_the_last_one() -> None:
    entry_id = first_id_at(datetime(2026, 11, 1, tzinfo=UTC))

    assert id_later(entry_id, timedelta(days=30)) == first_id_at(datetime(2026, 12, 1, tzinfo=UTC))
    assert id_later(UUID(int=LAST_ID.int - 1), timedelta(days=1)) == LAST_ID

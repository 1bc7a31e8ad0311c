"""The ids that rows of a time can have."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from core.ids import (
    CLOCKS_DIFFER_MAX,
    FIRST_ID,
    SETTLES_AFTER,
    end_id_until,
    first_id_after,
    first_id_at,
    first_id_since,
    ids_of_days,
    sure_end_id_until,
    sure_first_id_since,
)

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def test_a_row_since_a_moment_may_have_an_id_of_an_hour_before() -> None:
    assert first_id_since(NOW) == first_id_at(NOW - SETTLES_AFTER)
    assert first_id_since(datetime(1970, 1, 1, tzinfo=UTC)) == FIRST_ID


def test_a_row_until_a_moment_may_have_an_id_of_a_clock_that_is_ahead() -> None:
    assert end_id_until(NOW) == first_id_at(NOW + CLOCKS_DIFFER_MAX + MILLISECOND)


def test_between_two_ids_every_row_is_of_a_time() -> None:
    assert sure_first_id_since(NOW) == first_id_at(NOW + CLOCKS_DIFFER_MAX + MILLISECOND)
    assert sure_end_id_until(NOW) == first_id_at(NOW - SETTLES_AFTER - MILLISECOND)
    assert sure_end_id_until(datetime(1970, 1, 1, tzinfo=UTC)) == FIRST_ID


def test_the_rows_of_days_have_ids_of_both_days() -> None:
    assert ids_of_days(date(2026, 2, 3), date(2026, 2, 4)) == (
        first_id_since(datetime(2026, 2, 3, tzinfo=UTC)),
        end_id_until(datetime(2026, 2, 4, 23, 59, 59, 999999, tzinfo=UTC)),
    )


def test_a_row_that_was_written_after_another_may_have_an_id_of_a_clock_that_is_behind() -> None:
    assert first_id_after(first_id_at(NOW)) == first_id_at(NOW - CLOCKS_DIFFER_MAX)
    assert first_id_after(UUID(int=7)) == FIRST_ID
    assert first_id_after(UUID(int=2**128 - 1)) < UUID(int=2**128 - 1)

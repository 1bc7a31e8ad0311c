"""The ids around the times of a log that are asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core import log_times
from core.errors import BadRequest
from core.ids import FIRST_ID, LAST_ID, first_id_at
from core.log_times import LogTimes

SINCE = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
UNTIL = SINCE + timedelta(days=1)


def test_ids_of_these_times_lie_within_and_around_them() -> None:
    times = LogTimes(since=SINCE, until=UNTIL)

    around = [times.first_id, first_id_at(SINCE), times.sure_first_id]
    assert [*around, times.sure_end_id, first_id_at(UNTIL), times.end_id] == sorted(
        {*around, times.sure_end_id, first_id_at(UNTIL), times.end_id}
    )
    assert times.are_given


def test_any_time_has_every_id() -> None:
    times = LogTimes()

    assert (times.first_id, times.end_id) == (times.sure_first_id, times.sure_end_id) == (FIRST_ID, LAST_ID)
    assert not times.are_given
    assert LogTimes(until=UNTIL).are_given


def test_times_are_typed_without_a_zone_in_utc() -> None:
    assert log_times.typed("2026-02-03 04:05:06", " ") == LogTimes(since=SINCE)
    assert log_times.typed("", "2026-02-04T05:05:06+01:00") == LogTimes(until=UNTIL)


def test_what_is_no_time_is_refused_for_both_at_once() -> None:
    with pytest.raises(BadRequest) as refused:
        log_times.typed("yesterday", "tomorrow")

    assert [one.field for one in refused.value.details] == ["since", "until"]

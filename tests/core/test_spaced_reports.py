"""Events that may happen a thousand times a minute are reported at once, then at intervals with a count."""

from __future__ import annotations

from core.spaced_reports import KINDS_MAX, SpacedReports


def test_the_first_is_reported_at_once_and_later_ones_at_intervals_with_their_number() -> None:
    reports = SpacedReports(seconds_min=10)

    reported = [reports.count(now) for now in (100, 101, 109.9, 110, 111, 200)]

    assert reported == [1, None, None, 3, None, 2]


def test_kinds_are_reported_apart() -> None:
    reports = SpacedReports(seconds_min=10)

    assert [reports.count(0, kind) for kind in ("53100", "23505", "53100", "23505")] == [1, 1, None, None]
    assert reports.count(10, "53100") == 2


def test_kinds_without_end_take_no_memory_without_end() -> None:
    reports = SpacedReports(seconds_min=10)

    assert [reports.count(0, kind) for kind in range(KINDS_MAX)] == [1] * KINDS_MAX
    assert reports.count(0, 0) is None
    assert reports.count(0, "one more") == 1
    # Counting has begun anew.
    assert reports.count(0, 0) == 1
    assert reports.count(0, "one more") is None

"""Months by UTC, in which the use of services for customers is counted."""

from __future__ import annotations

from datetime import UTC, date, datetime


def month_of(at: datetime) -> date:
    """Return the first day of the month of a time."""
    return at.astimezone(UTC).date().replace(day=1)

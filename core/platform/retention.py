"""How long kinds of records are kept; the operator sets each time within bounds.

The bounds follow from what the interface promises and from what reads the records, so that no page shows too little.
"""

from __future__ import annotations

from datetime import timedelta
from enum import Enum
from typing import Final

YEARS_MAX: Final = 10
_DAYS_MAX: Final = YEARS_MAX * 365
# Longer than any installation lives.
FOR_EVER: Final = timedelta(days=1_000 * 365)


class Retention(Enum):
    """A kind of records with the default, the minimum and the maximum of days for which they are kept.

    A kind that is kept for ever by default can be shortened.
    """

    # Pages and endpoints show 400 days, so that no number changes when a month is deleted.
    LOGIN_EVENTS = ("login_events", 400, 400)
    # The security log is kept for ever, unless a law requires the operator to shorten it; its entries of anonymizations
    # always stay. A user record shows 400 days of it.
    MFA_EVENTS = ("mfa_events", FOR_EVER.days, 400)
    INVITATIONS = ("invitations", 400, 30)
    # The links of a registration are valid for a day, and mails are kept for seven.
    UNPROVED_ACCOUNTS = ("unproved_accounts", 30, 8)
    SESSIONS = ("sessions", 30, 1)
    # No token and no session of a device is valid for so long.
    DEVICES = ("devices", 365, 120)
    LINKS = ("links", 30, 1)
    ORGANIZATION_KEYS = ("organization_keys", 90, 1)
    # Deleting the events, which are kept for 90 days, deletes them too.
    DELIVERIES = ("deliveries", 90, 1, 90)
    # The interface promises 30 days.
    JOBS = ("jobs", 30, 30)
    PROVISIONING_LOG = ("provisioning_log", 30, 30)
    # The console shows the problems of a connection, and its last test.
    CONNECTION_PROBLEMS = ("connection_problems", 90, 30)
    # A page of the payment provider is open for a day.
    CHECKOUTS = ("checkouts", 30, 2)
    # The payment provider repeats events for three days.
    CANCELLATIONS = ("cancellations", 90, 7)

    default: timedelta
    days_min: int
    days_max: int

    def __new__(cls, value: str, days: int, days_min: int, days_max: int = _DAYS_MAX) -> Retention:
        member = object.__new__(cls)
        member._value_ = value
        member.default = FOR_EVER if days == FOR_EVER.days else timedelta(days=days)
        member.days_min = days_min
        member.days_max = days_max
        return member

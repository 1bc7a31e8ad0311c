"""The risk of a sign-in: a score that is the sum of a few simple factors.

What is usual follows from the user's earlier sign-ins: their countries and their hours of the day. Locations are
compared by country, because the city of an IP address is a guess that changes daily for the same phone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork

RISK_HIGH: Final = 0.7
FAILURES_WINDOW: Final = timedelta(minutes=15)
# Five reach the maximum score, so more are not counted.
FAILURES_MAX: Final = 5
HABITS_WINDOW: Final = timedelta(days=90)
# Only the newest count; a user who signs in more than daily has shown their habits in less time.
HABIT_SIGN_INS_MAX: Final = 100
# A user with fewer sign-ins has no habits yet.
HABIT_SIGN_INS_MIN: Final = 10
HABIT_HOURS: Final = 3
_HOURS_OF_DAY: Final = 24


class RiskFactor(Enum):
    """A reason for a higher risk, and its weight."""

    NEW_DEVICE = ("new_device", 0.3)
    UNKNOWN_LOCATION = ("unknown_location", 0.2)
    UNUSUAL_TIME = ("unusual_time", 0.1)
    PROXY = ("proxy", 0.1)
    FAILED_ATTEMPT = ("failed_attempt", 0.2)

    weight: float

    def __new__(cls, value: str, weight: float) -> RiskFactor:
        member = object.__new__(cls)
        member._value_ = value
        member.weight = weight
        return member


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """The approximate location of an IP address; the country as a two-letter code (ISO 3166)."""

    country: str | None
    city: str | None
    is_proxy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """A user's earlier sign-ins: how many, from which countries, in which hours of the day (UTC).

    `failures` counts recently refused attempts that raise the risk, `waiting` recent attempts that waited for a second
    factor or a choice.
    for a second factor or a choice.
    """

    sign_ins: int
    countries: Sequence[str]
    hours: Sequence[int]
    failures: int
    waiting: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """The risk factors, each as often as it counts, and the sum of their weights, at most 1."""

    factors: tuple[str, ...]
    score: float
    location: Location | None

    @property
    def is_high(self) -> bool:
        """Whether a trusted device does not suffice, or the user is warned."""
        return self.score > RISK_HIGH

    @property
    def percent(self) -> int:
        """The score as it is stored, from 0 to 100."""
        return round(self.score * 100)


def defer_habits(uow: UnitOfWork, user_id: UUID) -> Deferred[Habits]:
    """Defer reading the habits that an attempt to sign in is compared with."""
    return uow.login_events.defer_habits(user_id)


def assess(uow: UnitOfWork, habits: Habits, *, is_known_device: bool) -> Risk:
    """Return the risk of an attempt to sign in, given the user's habits."""
    location = uow.locations.find(uow.origin.ip_address)
    return _weighed(_factors(location, habits, uow.now, is_known_device=is_known_device), location)


def _weighed(factors: Sequence[RiskFactor], location: Location | None) -> Risk:
    return Risk(
        factors=tuple(factor.value for factor in factors),
        # Rounded, because binary fractions of tenths do not add up exactly.
        score=min(1.0, round(sum(factor.weight for factor in factors), 2)),
        location=location,
    )


def _factors(location: Location | None, habits: Habits, now: datetime, *, is_known_device: bool) -> list[RiskFactor]:
    factors: list[RiskFactor] = []
    if not is_known_device:
        factors.append(RiskFactor.NEW_DEVICE)
    if location is not None and _is_elsewhere(location, habits):
        factors.append(RiskFactor.UNKNOWN_LOCATION)
    if _is_unusual_hour(now.hour, habits):
        factors.append(RiskFactor.UNUSUAL_TIME)
    if location is not None and location.is_proxy:
        factors.append(RiskFactor.PROXY)
    return factors + [RiskFactor.FAILED_ATTEMPT] * habits.failures


def _is_elsewhere(location: Location, habits: Habits) -> bool:
    # Without earlier countries none is unknown; otherwise the first sign-in of every user would be suspicious.
    return location.country is not None and bool(habits.countries) and location.country not in habits.countries


def _is_unusual_hour(hour: int, habits: Habits) -> bool:
    has_habits = habits.sign_ins >= HABIT_SIGN_INS_MIN
    return has_habits and all(_hours_between(hour, usual) > HABIT_HOURS for usual in habits.hours)


def _hours_between(one: int, other: int) -> int:
    """Return the distance of two hours of the day, across midnight if that is shorter."""
    apart = abs(one - other)
    return min(apart, _HOURS_OF_DAY - apart)

"""How risky a sign-in looks: the sum of a few plain reasons (identity 2.5, decisions 4.3).

What counts as usual is what the person did before: where and at what time of the day they signed in. Where an address
is, is known by country, because a city is a guess that changes from day to day on one and the same telephone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork

FAILURES_COUNT_FOR: Final = timedelta(minutes=15)
# Five make the whole score, so more are not counted.
FAILURES_MAX: Final = 5
HABITS_ARE_OF: Final = timedelta(days=90)
# The newest of them; whoever signs in more often than daily has shown their habits in less time.
HABIT_SIGN_INS_MAX: Final = 100
# With fewer sign-ins than this nobody has habits yet.
HABIT_SIGN_INS_MIN: Final = 10
HABIT_HOURS: Final = 3
_HOURS_OF_DAY: Final = 24


class RiskFactor(Enum):
    """A reason for caution, and how much it weighs."""

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
    """Where an address seems to be; the country as its two letters (ISO 3166)."""

    country: str | None
    city: str | None
    is_proxy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What is remembered of a person's sign-ins: how many, from which countries, in which hours of the day (UTC).

    `failures` are those of the last minutes.
    """

    sign_ins: int
    countries: Sequence[str]
    hours: Sequence[int]
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """The reasons, each as often as it counts, and their sum, at most 1."""

    factors: tuple[str, ...]
    score: float
    location: Location | None

    @property
    def percent(self) -> int:
        """The score as it is stored."""
        return round(self.score * 100)


def defer_habits(uow: UnitOfWork, user_id: UUID) -> Deferred[Habits]:
    """Ask for what an attempt to sign in is compared with."""
    return uow.login_events.defer_habits(
        user_id,
        since=uow.now - HABITS_ARE_OF,
        sign_ins_max=HABIT_SIGN_INS_MAX,
        failures_since=uow.now - FAILURES_COUNT_FOR,
        failures_max=FAILURES_MAX,
    )


def assess(uow: UnitOfWork, habits: Habits, *, is_known_device: bool) -> Risk:
    """Look at an attempt to sign in, and at those before it."""
    location = uow.locations.find(uow.origin.ip_address)
    return _weighed(_factors(location, habits, uow.now, is_known_device=is_known_device), location)


def _weighed(factors: Sequence[RiskFactor], location: Location | None) -> Risk:
    return Risk(
        factors=tuple(factor.value for factor in factors),
        # Rounded, so that tenths add up to what a person would say they are.
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
    # With nothing to compare with no country is unknown: the first sign-in of everybody would be suspicious.
    return location.country is not None and bool(habits.countries) and location.country not in habits.countries


def _is_unusual_hour(hour: int, habits: Habits) -> bool:
    has_habits = habits.sign_ins >= HABIT_SIGN_INS_MIN
    return has_habits and all(_hours_between(hour, usual) > HABIT_HOURS for usual in habits.hours)


def _hours_between(one: int, other: int) -> int:
    """Count the hours between two hours of the day, the short way round."""
    apart = abs(one - other)
    return min(apart, _HOURS_OF_DAY - apart)

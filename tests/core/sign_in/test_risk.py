"""The risk of a sign-in: what adds to it, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.deferred import Deferred
from core.sessions.origins import Origin
from core.sign_in import risk
from core.sign_in.risk import FAILURES_MAX, HABIT_SIGN_INS_MIN, Habits, Location, Risk, RiskFactor

ORIGIN = Origin(ip_address="192.0.2.7")
NO_HABITS = Habits(sign_ins=0, countries=[], hours=[], failures=0)
AT_HOME = Location(country="NL", city="Delft")
ABROAD = Location(country="PT", city="Porto")
BY_PROXY = Location(country="NL", city=None, is_proxy=True)


@dataclass
class FakeUnitOfWork:
    """The part of a unit of work that the risk assessment needs."""

    habits_now: Habits = NO_HABITS
    location: Location | None = None
    now: datetime = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
    origin: Origin = ORIGIN

    @property
    def locations(self) -> FakeUnitOfWork:
        return self

    @property
    def login_events(self) -> FakeUnitOfWork:
        return self

    def find(self, ip_address: str | None) -> Location | None:
        assert ip_address == self.origin.ip_address
        return self.location

    def defer_habits(self, _user_id: Any) -> Deferred[Habits]:
        return lambda: self.habits_now


def assess(fake: FakeUnitOfWork | None = None, *, is_known_device: bool = True) -> Risk:
    uow: Any = fake or FakeUnitOfWork()
    return risk.assess(uow, risk.defer_habits(uow, uuid4())(), is_known_device=is_known_device)


def habits(**differences: Any) -> Habits:
    usual: dict[str, Any] = {"sign_ins": HABIT_SIGN_INS_MIN, "countries": ["NL"], "hours": [10], "failures": 0}
    return Habits(**{**usual, **differences})


@pytest.mark.parametrize(
    ("factor", "weight"),
    [
        (RiskFactor.NEW_DEVICE, 0.3),
        (RiskFactor.UNKNOWN_LOCATION, 0.2),
        (RiskFactor.UNUSUAL_TIME, 0.1),
        (RiskFactor.PROXY, 0.1),
        (RiskFactor.FAILED_ATTEMPT, 0.2),
    ],
)
def test_each_factor_has_the_documented_weight(factor: RiskFactor, weight: float) -> None:
    assert factor.weight == weight


def test_a_known_device_with_usual_behaviour_is_no_risk() -> None:
    assert assess(FakeUnitOfWork(habits(), AT_HOME)) == Risk(factors=(), score=0.0, location=AT_HOME)


def test_a_new_device_counts() -> None:
    assert assess(is_known_device=False) == Risk(factors=("new_device",), score=0.3, location=None)


class TestLocation:
    """A country from which the user did not sign in before."""

    def test_another_country_counts(self) -> None:
        assert assess(FakeUnitOfWork(habits(), ABROAD)) == Risk(
            factors=("unknown_location",), score=0.2, location=ABROAD
        )

    def test_each_earlier_country_is_known(self) -> None:
        assert assess(FakeUnitOfWork(habits(countries=["NL", "PT"]), ABROAD)).factors == ()

    def test_another_city_in_a_known_country_does_not_count(self) -> None:
        assert assess(FakeUnitOfWork(habits(), Location(country="NL", city="Zwolle"))).factors == ()

    def test_the_first_country_is_not_unknown(self) -> None:
        assert assess(FakeUnitOfWork(habits(countries=[]), ABROAD)).factors == ()

    @pytest.mark.parametrize("location", [None, Location(country=None, city="Porto")])
    def test_a_location_without_a_country_does_not_count(self, location: Location | None) -> None:
        assert assess(FakeUnitOfWork(habits(), location)).factors == ()

    def test_a_proxy_counts_also_in_a_known_country(self) -> None:
        assert assess(FakeUnitOfWork(habits(), BY_PROXY)) == Risk(factors=("proxy",), score=0.1, location=BY_PROXY)


class TestTime:
    """An hour of the day, in UTC, at which the user does not usually sign in."""

    @pytest.mark.parametrize("hour", [3, 6, 14, 22])
    def test_more_than_three_hours_from_every_usual_hour_count(self, hour: int) -> None:
        moment = FakeUnitOfWork(habits(hours=[10]), now=datetime(2026, 2, 3, hour, tzinfo=UTC))

        assert assess(moment) == Risk(factors=("unusual_time",), score=0.1, location=None)

    @pytest.mark.parametrize("hour", [7, 8, 10, 12, 13])
    def test_up_to_three_hours_do_not_count(self, hour: int) -> None:
        assert assess(FakeUnitOfWork(habits(hours=[10]), now=datetime(2026, 2, 3, hour, tzinfo=UTC))).factors == ()

    @pytest.mark.parametrize(("usual", "hour"), [(23, 2), (22, 1), (0, 21), (1, 22)])
    def test_hours_are_compared_across_midnight(self, usual: int, hour: int) -> None:
        assert assess(FakeUnitOfWork(habits(hours=[usual]), now=datetime(2026, 2, 3, hour, tzinfo=UTC))).factors == ()

    def test_one_usual_hour_nearby_is_enough(self) -> None:
        assert assess(FakeUnitOfWork(habits(hours=[1, 9, 20]))).factors == ()

    def test_a_user_with_fewer_than_ten_sign_ins_has_no_habits(self) -> None:
        assert assess(FakeUnitOfWork(habits(sign_ins=9, hours=[20]))).factors == ()
        assert assess(FakeUnitOfWork(habits(sign_ins=10, hours=[20]))).factors == ("unusual_time",)


class TestFailures:
    """Recently refused attempts."""

    def test_each_failure_counts(self) -> None:
        assert assess(FakeUnitOfWork(habits(failures=3))) == Risk(
            factors=("failed_attempt",) * 3, score=0.6, location=None
        )

    def test_at_most_five_failures_of_the_last_fifteen_minutes_count(self) -> None:
        assert timedelta(minutes=15) == risk.FAILURES_WINDOW
        assert FAILURES_MAX * RiskFactor.FAILED_ATTEMPT.weight == 1.0


def test_habits_are_those_of_the_last_ninety_days() -> None:
    assert timedelta(days=90) == risk.HABITS_WINDOW


def test_all_factors_together_score_one() -> None:
    moment = FakeUnitOfWork(
        habits(hours=[20], failures=FAILURES_MAX), Location(country="PT", city="Porto", is_proxy=True)
    )

    seen = assess(moment, is_known_device=False)

    assert seen.score == 1.0
    assert seen.percent == 100
    assert seen.factors == ("new_device", "unknown_location", "unusual_time", "proxy", *("failed_attempt",) * 5)


@given(
    st.booleans(),
    st.sampled_from([None, AT_HOME, ABROAD, BY_PROXY]),
    st.integers(0, 20),
    st.lists(st.integers(0, 23)),
    st.integers(0, FAILURES_MAX),
)
def test_the_score_is_the_sum_of_its_factors_up_to_one(
    is_known_device: bool, location: Location | None, sign_ins: int, hours: list[int], failures: int
) -> None:
    moment = FakeUnitOfWork(habits(sign_ins=sign_ins, hours=hours, failures=failures), location)

    seen = assess(moment, is_known_device=is_known_device)

    tenths = sum(round(RiskFactor(factor).weight * 10) for factor in seen.factors)
    assert seen.score == min(10, tenths) / 10
    assert seen.percent == min(10, tenths) * 10

"""How risky a sign-in looks (identity 2.5, decisions 4.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sessions.callers import Origin
from core.sign_in import risk
from core.sign_in.risk import FAILURES_MAX, HABIT_SIGN_INS_MIN, Habits, Location, Risk, RiskFactor

if TYPE_CHECKING:
    from core.deferred import Deferred

ORIGIN = Origin(ip_address="192.0.2.7")
NOBODYS = Habits(sign_ins=0, countries=[], hours=[], failures=0)
AT_HOME = Location(country="NL", city="Delft")
ABROAD = Location(country="PT", city="Porto")
BY_PROXY = Location(country="NL", city=None, is_proxy=True)


@dataclass
class Moment:
    """As much of a unit of work as a sign-in is judged by."""

    habits_now: Habits = NOBODYS
    location: Location | None = None
    now: datetime = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
    origin: Origin = ORIGIN
    asked: dict[str, Any] = field(default_factory=dict)

    @property
    def locations(self) -> Moment:
        return self

    @property
    def login_events(self) -> Moment:
        return self

    def find(self, ip_address: str | None) -> Location | None:
        assert ip_address == self.origin.ip_address
        return self.location

    def defer_habits(self, _user_id: Any, **limits: Any) -> Deferred[Habits]:
        self.asked = limits
        return lambda: self.habits_now


def assess(moment: Moment | None = None, *, is_known_device: bool = True) -> Risk:
    uow: Any = moment or Moment()
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
def test_each_reason_weighs_what_the_document_says(factor: RiskFactor, weight: float) -> None:
    assert factor.weight == weight


def test_a_known_device_doing_what_it_always_does_is_no_risk() -> None:
    assert assess(Moment(habits(), AT_HOME)) == Risk(factors=(), score=0.0, location=AT_HOME)


def test_a_new_device_counts() -> None:
    assert assess(is_known_device=False) == Risk(factors=("new_device",), score=0.3, location=None)


class TestPlace:
    """A country where the person did not sign in before."""

    def test_another_country_counts(self) -> None:
        assert assess(Moment(habits(), ABROAD)) == Risk(factors=("unknown_location",), score=0.2, location=ABROAD)

    def test_each_of_the_countries_before_is_known(self) -> None:
        assert assess(Moment(habits(countries=["NL", "PT"]), ABROAD)).factors == ()

    def test_another_city_is_no_other_place(self) -> None:
        assert assess(Moment(habits(), Location(country="NL", city="Zwolle"))).factors == ()

    def test_the_first_place_of_all_is_not_unknown(self) -> None:
        assert assess(Moment(habits(countries=[]), ABROAD)).factors == ()

    @pytest.mark.parametrize("location", [None, Location(country=None, city="Porto")])
    def test_without_a_country_nothing_is_said(self, location: Location | None) -> None:
        assert assess(Moment(habits(), location)).factors == ()

    def test_a_proxy_counts_wherever_it_is(self) -> None:
        assert assess(Moment(habits(), BY_PROXY)) == Risk(factors=("proxy",), score=0.1, location=BY_PROXY)


class TestTime:
    """An hour of the day, by UTC, in which the person does not sign in."""

    @pytest.mark.parametrize("hour", [3, 6, 14, 22])
    def test_more_than_three_hours_from_all_others_counts(self, hour: int) -> None:
        moment = Moment(habits(hours=[10]), now=datetime(2026, 2, 3, hour, tzinfo=UTC))

        assert assess(moment) == Risk(factors=("unusual_time",), score=0.1, location=None)

    @pytest.mark.parametrize("hour", [7, 8, 10, 12, 13])
    def test_three_hours_are_no_difference(self, hour: int) -> None:
        assert assess(Moment(habits(hours=[10]), now=datetime(2026, 2, 3, hour, tzinfo=UTC))).factors == ()

    @pytest.mark.parametrize(("usual", "hour"), [(23, 2), (22, 1), (0, 21), (1, 22)])
    def test_midnight_lies_between_two_hours_like_any_other(self, usual: int, hour: int) -> None:
        assert assess(Moment(habits(hours=[usual]), now=datetime(2026, 2, 3, hour, tzinfo=UTC))).factors == ()

    def test_one_usual_hour_nearby_is_enough(self) -> None:
        assert assess(Moment(habits(hours=[1, 9, 20]))).factors == ()

    def test_whoever_signed_in_less_than_ten_times_has_no_habits(self) -> None:
        assert assess(Moment(habits(sign_ins=9, hours=[20]))).factors == ()
        assert assess(Moment(habits(sign_ins=10, hours=[20]))).factors == ("unusual_time",)


class TestFailures:
    """Refused attempts of late."""

    def test_each_counts(self) -> None:
        assert assess(Moment(habits(failures=3))) == Risk(factors=("failed_attempt",) * 3, score=0.6, location=None)

    def test_they_count_for_fifteen_minutes_and_five_are_all_that_matter(self) -> None:
        moment = Moment()

        assess(moment)

        assert moment.asked["failures_since"] == moment.now - timedelta(minutes=15)
        assert moment.asked["failures_max"] * RiskFactor.FAILED_ATTEMPT.weight == 1.0


def test_habits_are_those_of_the_last_ninety_days() -> None:
    moment = Moment()

    assess(moment)

    assert moment.asked["since"] == moment.now - timedelta(days=90)


def test_everything_at_once_is_one_and_not_more() -> None:
    moment = Moment(habits(hours=[20], failures=FAILURES_MAX), Location(country="PT", city="Porto", is_proxy=True))

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
def test_the_score_is_the_sum_of_its_reasons_up_to_one(
    is_known_device: bool, location: Location | None, sign_ins: int, hours: list[int], failures: int
) -> None:
    moment = Moment(habits(sign_ins=sign_ins, hours=hours, failures=failures), location)

    seen = assess(moment, is_known_device=is_known_device)

    tenths = sum(round(RiskFactor(factor).weight * 10) for factor in seen.factors)
    assert seen.score == min(10, tenths) / 10
    assert seen.percent == min(10, tenths) * 10

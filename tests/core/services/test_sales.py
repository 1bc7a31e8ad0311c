"""What is sold in a period, from the sums of its days."""

from __future__ import annotations

from datetime import date, timedelta
from uuid import UUID

from core.services.sales import PlanSums, Sold, SoldDay, SoldNames, SoldSums, sales_of

TODAY = date(2026, 2, 3)
PERIOD = [TODAY - timedelta(days=number) for number in (2, 1, 0)]
SERVICE, PLAN = UUID(int=1), UUID(int=2)
NOTHING = {"begun": 0, "ended": 0, "live": 0, "late": 0, "cents": 0}


def of_day(day: date, **changes: int) -> SoldDay:
    """Return the changes of a day."""
    return SoldDay(day=day, currency="usd", **(NOTHING | changes))


def of_plan(plan_id: UUID = PLAN, **changes: int) -> PlanSums:
    """Return all changes of a plan."""
    return PlanSums(service_id=SERVICE, plan_id=plan_id, currency="usd", **(NOTHING | changes))


def test_what_was_sold_before_the_period_is_sold_on_its_first_day() -> None:
    days = [
        of_day(PERIOD[0] - timedelta(days=1), begun=9, live=2, cents=200),
        of_day(PERIOD[1], begun=1, live=1, cents=100),
        of_day(PERIOD[2], ended=1, live=-1, cents=-100),
    ]
    sums = SoldSums(days=days, plans=[of_plan(begun=1, ended=1, live=2, cents=200)])
    names = SoldNames(plans={}, services={SERVICE: ("Shop", "shop")})

    found = sales_of(sums, names, PERIOD, since=None)

    assert [one.live for one in found.by_day["usd"]] == [2, 3, 2]
    assert found.now == {"usd": Sold(live=2, cents=200)}
    assert list(found.begun.values()) == [0, 1, 0]
    assert list(found.ended.values()) == [0, 0, 1]
    [plan] = found.plans
    assert (plan.plan_name, plan.service_name, plan.sold, plan.begun) == (None, "Shop", found.now["usd"], 1)


def test_plans_that_are_not_sold_any_more_are_shown_only_for_a_period_with_changes_of_them() -> None:
    plans = [of_plan(UUID(int=3)), of_plan(UUID(int=4), ended=1), of_plan(live=1)]

    found = sales_of(SoldSums(days=[], plans=plans), SoldNames(plans={}, services={}), PERIOD, since=None)

    assert [one.plan_id for one in found.plans] == [PLAN, UUID(int=4)]

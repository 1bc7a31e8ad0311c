"""What is sold in a period, from the sums of its days."""

from __future__ import annotations

from datetime import date, timedelta
from uuid import UUID

from core.services.sales import Sold, SoldDay, SoldNames, sales_of

TODAY = date(2026, 2, 3)
PERIOD = [TODAY - timedelta(days=number) for number in (2, 1, 0)]
SERVICE, PLAN = UUID(int=1), UUID(int=2)


def of_day(day: date, **changes: int) -> SoldDay:
    """Return the changes of a day."""
    counts = {"begun": 0, "ended": 0, "live": 0, "late": 0, "cents": 0} | changes
    return SoldDay(day=day, service_id=SERVICE, plan_id=PLAN, currency="usd", **counts)


def test_what_was_sold_before_the_period_is_sold_on_its_first_day() -> None:
    rows = [
        of_day(PERIOD[0] - timedelta(days=1), begun=9, live=2, cents=200),
        of_day(PERIOD[1], begun=1, live=1, cents=100),
        of_day(PERIOD[2], ended=1, live=-1, cents=-100),
    ]
    names = SoldNames(plans={}, services={SERVICE: ("Shop", "shop")})

    found = sales_of(rows, names, PERIOD, since=None)

    assert [one.live for one in found.by_day["usd"]] == [2, 3, 2]
    assert found.now == {"usd": Sold(live=2, cents=200)}
    assert list(found.begun.values()) == [0, 1, 0]
    assert list(found.ended.values()) == [0, 0, 1]
    [plan] = found.plans
    assert (plan.plan_name, plan.service_name, plan.sold, plan.begun) == (None, "Shop", found.now["usd"], 1)


def test_what_a_process_that_is_ahead_has_written_is_in_no_number_yet() -> None:
    rows = [of_day(TODAY, begun=1, live=1, cents=100), of_day(TODAY + timedelta(days=1), begun=1, live=1, cents=100)]

    found = sales_of(rows, SoldNames(plans={}, services={}), PERIOD, since=None)

    assert found.now["usd"] == found.plans[0].sold == Sold(live=1, cents=100)

"""What an organization sells agrees with its subscriptions, whatever became of them and however much is added up."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.driver.connection import Connection
from core.services import sales
from core.services.sales import ChangeFilter, ChangeKind, Sold
from tests.clock import SettableClock
from tests.world.builder import Builder

DAYS = 20


@pytest.fixture
def acme(builder: Builder) -> UUID:
    """An organization that sells."""
    return builder.organization()


def sold(uow: Any, organization_id: UUID) -> sales.Sales:
    """Return the sales of an organization over the last days."""
    today = uow.now.date()
    period = [today - timedelta(days=number) for number in reversed(range(DAYS))]
    sums = uow.sales.sums(organization_id, since=period[0], until=today)
    names = uow.sales.names(organization_id)
    return sales.sales_of(sums, names, period, since=uow.sales.first_day(organization_id))


def present(connection: Connection, organization_id: UUID) -> dict[str, Sold]:
    """Return what is sold according to the subscriptions themselves."""
    rows = connection.execute(
        """
        SELECT p.currency, count(*), count(*) FILTER (WHERE b.status = 'past_due'), sum(p.price_cents)::bigint
        FROM   subscriptions b
        JOIN   plans p ON p.id = b.plan_id
        WHERE  b.organization_id = %s AND b.status IN ('active', 'past_due')
        GROUP  BY p.currency
        """,
        (organization_id,),
    )
    return {currency: Sold(live=live, late=late, cents=cents) for currency, live, late, cents in rows}


def check_plans(found: sales.Sales) -> None:
    """Check that the plans together are what is sold, and what has begun and ended in the period."""
    assert sum(one.begun for one in found.plans) == sum(found.begun.values())
    assert sum(one.ended for one in found.plans) == sum(found.ended.values())
    for currency, now in found.now.items():
        assert sum(one.sold.cents for one in found.plans if one.currency == currency) == now.cents


def test_the_book_agrees_with_the_subscriptions_after_any_history(
    builder: Builder,
    acme: UUID,
    connection: Connection,
    clock: SettableClock,
    transact: Callable[..., Any],
) -> None:
    chance = random.Random(29)
    service = builder.service(acme)
    plans = [builder.plan(acme, service.id, name) for name in ("Pro", "Team", "Max")]
    connection.execute("UPDATE plans SET currency = 'eur', price_cents = 900 WHERE id = %s", (plans[2],))
    users = [builder.user(f"user{number}@example.com") for number in range(12)]
    states = ("active", "past_due", "cancelled", "expired")
    subscriptions = [builder.subscription(chance.choice(plans), user) for user in users]
    by_day: dict[Any, dict[str, Sold]] = {}
    for _ in range(DAYS - 1):
        by_day[clock().date()] = present(connection, acme)
        clock.advance(timedelta(days=1))
        for _ in range(chance.randrange(8)):
            connection.execute(
                "UPDATE subscriptions SET status = %s, plan_id = %s, updated_at = %s WHERE id = %s",
                (chance.choice(states), chance.choice(plans), clock(), chance.choice(subscriptions)),
            )
        if chance.random() < 0.3:
            connection.execute(
                "UPDATE plans SET price_cents = %s, updated_at = %s WHERE id = %s",
                (chance.randrange(5_000), clock(), chance.choice(plans[:2])),
            )
        if chance.random() < 0.2:
            connection.execute(
                "UPDATE plans SET currency = %s, updated_at = %s WHERE id = %s",
                (chance.choice(("usd", "eur")), clock(), plans[2]),
            )
        transact(sales.add_up, chance.randrange(1, 5))
    by_day[clock().date()] = present(connection, acme)

    for _ in range(2):
        found = transact(sold, acme)
        for place, day in enumerate(found.days):
            series = {currency: days[place] for currency, days in found.by_day.items() if days[place] != Sold()}
            assert series == by_day[day]
        check_plans(found)
        for kind, counts in ((ChangeKind.BEGUN, found.begun), (ChangeKind.ENDED, found.ended)):
            for day, count in counts.items():
                wanted = ChangeFilter(kind=kind, since=day, until=day)
                behind = transact(lambda uow, wanted=wanted: uow.sales.count_changes(acme, wanted, counted_max=10_001))
                assert behind == count
        # Once more when all is added up.
        while transact(sales.add_up, 50):
            pass
    assert connection.execute("SELECT count(*) FROM subscription_changes WHERE NOT is_counted").fetchall() == [(0,)]
    totals = transact(lambda uow: uow.sales.totals())
    assert totals == present(connection, acme)


def test_what_a_process_that_is_ahead_has_written_is_in_no_number_yet(
    builder: Builder, acme: UUID, clock: SettableClock, transact: Callable[..., Any]
) -> None:
    plan = builder.plan(acme, builder.service(acme).id)
    builder.subscription(plan, builder.user("now@example.com"))
    clock.advance(timedelta(days=1))
    builder.subscription(plan, builder.user("ahead@example.com"))
    clock.advance(-timedelta(days=1))

    for _ in range(2):
        found = transact(sold, acme)
        assert [one.live for one in found.now.values()] == [one.sold.live for one in found.plans] == [1]
        # Once more when both are added up.
        transact(sales.add_up, 50)
        assert not transact(sales.has_new)


def test_a_subscription_that_is_deleted_has_ended_and_an_organization_leaves_nothing(
    builder: Builder, acme: UUID, connection: Connection, transact: Callable[..., Any]
) -> None:
    other = builder.organization("globex")
    for organization_id in (acme, other):
        service = builder.service(organization_id)
        builder.subscription(builder.plan(organization_id, service.id), builder.user(f"{organization_id}@example.com"))
    transact(sales.add_up, 1)

    connection.execute("DELETE FROM subscriptions WHERE organization_id = %s", (acme,))
    connection.execute("DELETE FROM organizations WHERE id = %s", (other,))

    assert connection.execute("SELECT organization_id, kind FROM subscription_changes ORDER BY kind").fetchall() == [
        (acme, "begun"),
        (acme, "ended"),
    ]
    assert transact(sales.has_new)
    transact(sales.add_up, 50)
    assert transact(lambda uow: uow.sales.totals()) == {}
    assert connection.execute("SELECT live, late, cents FROM currency_totals").fetchall() == [(0, 0, 0)]
    for table in ("subscription_days", "subscription_totals"):
        assert connection.execute(
            f"SELECT count(*) FROM {table} WHERE organization_id = %s".encode(), (other,)
        ).fetchall() == [(0,)]


def test_sellers_come_in_the_order_of_what_they_sell_page_by_page(
    builder: Builder, connection: Connection, transact: Callable[..., Any]
) -> None:
    for number in range(5):
        organization_id = builder.organization(f"seller-{number}")
        service = builder.service(organization_id)
        plan = builder.plan(organization_id, service.id)
        connection.execute("UPDATE plans SET price_cents = %s WHERE id = %s", (100 * (number // 2), plan))
        builder.subscription(plan, builder.user(f"{number}@example.com"))
    transact(sales.add_up, 50)

    found: list[str] = []
    after: Any = None
    while page := transact(lambda uow, after=after: uow.sales.sellers("usd", after=after, limit=2)):
        found += [one.slug for one in page]
        after = (page[-1].sold.cents, page[-1].id)

    assert sorted(found) == [f"seller-{number}" for number in range(5)]
    assert found[0] == "seller-4"
    assert set(found[1:3]) == {"seller-2", "seller-3"}

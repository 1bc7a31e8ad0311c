"""How many people use a service for its customers, each counted once in a month."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from ports.unit_of_work import UnitOfWork
from tests.concurrency import at_once
from tests.world import internal
from tests.world.customer_backend import CustomerBackend
from tests.world.trade import Trade


@pytest.fixture
def trade(shop: CustomerBackend) -> Trade:
    """A vendor with a service for customers, whose backend has a key, and another organization."""
    return shop.trade


async def sign_in(trade: Trade, who: str, customer: str) -> dict[str, Any]:
    """Sign in to the service for a customer, and return the tokens."""
    trade.world.clock.advance(timedelta(seconds=1))
    answer = await trade.world.log_in(f"{who}@example.com", org_slug="acme", service_slug="shop", customer=customer)
    assert answer.status == 200, answer.text
    return answer.json


def month_of(trade: Trade) -> str:
    return f"{trade.world.clock():%Y-%m}"


async def test_each_person_counts_once_for_a_customer_and_once_in_all(shop: CustomerBackend, trade: Trade) -> None:
    beta = await trade.begin(external_id="B-7")
    gamma = trade.world.team("gamma")
    trade.world.member(gamma.organization_id, trade.customer.ids["head"])
    gamma_id = trade.world.customer(trade.service, gamma.organization_id)
    for who, customer in (("head", "beta"), ("worker", "beta"), ("head", "beta"), ("head", "gamma")):
        await sign_in(trade, who, customer)

    month = month_of(trade)
    of_beta = await trade.at_vendor("GET", f"/{beta}/usage?month={month}")
    by_key = await shop.backend.request("GET", f"/customers/{beta}/usage?month={month}")
    in_all = await shop.backend.request("GET", f"/usage?month={month}")

    assert of_beta.json == by_key.json == {"month": month, "active_people": 2}
    assert in_all.json == {
        "month": month,
        "customers": [
            {"customer_id": beta, "external_id": "B-7", "active_people": 2},
            {"customer_id": str(gamma_id), "external_id": None, "active_people": 1},
        ],
        "active_people": 2,
    }


async def test_a_refresh_counts_in_the_month_in_which_it_is(trade: Trade) -> None:
    beta = await trade.begin()
    tokens = await sign_in(trade, "head", "beta")
    before = month_of(trade)
    for _ in range(5):
        trade.pass_time(timedelta(days=7))
        refreshed = await trade.world.client.post("/api/auth/refresh", body={"refresh_token": tokens["refresh_token"]})
        assert refreshed.status == 200, refreshed.text
        tokens = refreshed.json

    assert before != month_of(trade)
    for month in (before, month_of(trade)):
        answer = await trade.at_vendor("GET", f"/{beta}/usage?month={month}")
        assert answer.json["active_people"] == 1, month


async def test_a_month_that_is_none_or_has_not_begun_is_refused(trade: Trade) -> None:
    beta = await trade.begin()

    for month in ("2026-13", "now", "2099-01", "2026-1"):
        answer = await trade.at_vendor("GET", f"/{beta}/usage?month={month}")
        assert answer.status == 400, month


async def test_another_service_is_told_nothing(shop: CustomerBackend, trade: Trade) -> None:
    beta = await trade.begin()
    other = trade.world.service(trade.vendor.organization_id, "desk")
    trade.world.serve_customers(other)

    answer = await trade.vendor.request(
        "owner", "GET", f"/services/desk/customers/{beta}/usage?month={month_of(trade)}"
    )

    assert answer.status == 404


async def test_whom_the_vendor_admits_counts_by_sign_in_and_refresh_like_a_member(trade: Trade) -> None:
    beta = await trade.begin()
    world = trade.world
    internal.admit(world, await internal.internal_of(world, UUID(beta)), world.user("guest@example.com"))
    tokens = await sign_in(trade, "guest", "beta")
    refreshed = await world.client.post("/api/auth/refresh", body={"refresh_token": tokens["refresh_token"]})
    assert refreshed.status == 200, refreshed.text

    answer = await trade.at_vendor("GET", f"/{beta}/usage?month={month_of(trade)}")

    assert answer.json["active_people"] == 1


@pytest.mark.parametrize("gone", ["anonymized", "deleted"])
async def test_the_figures_stay_exact_when_a_person_is_gone(trade: Trade, gone: str) -> None:
    beta = await trade.begin()
    await sign_in(trade, "worker", "beta")
    worker = trade.customer.ids["worker"]

    if gone == "anonymized":
        root = await trade.world.signed_in_platform_owner()
        answer = await root.delete(f"/api/privacy/forget/{worker}")
        assert answer.status == 200, answer.text
    else:
        trade.world.connection.execute("DELETE FROM memberships WHERE user_id = %s", (worker,))
        trade.world.connection.execute("DELETE FROM users WHERE id = %s", (worker,))

    answer = await trade.at_vendor("GET", f"/{beta}/usage?month={month_of(trade)}")
    assert answer.json["active_people"] == 1


async def test_many_sign_ins_at_once_count_one_person_once(trade: Trade) -> None:
    beta = await trade.begin()
    trade.world.clock.advance(timedelta(seconds=1))

    answers = await at_once(
        *[lambda: trade.world.log_in("worker@example.com", org_slug="acme", service_slug="shop", customer="beta")] * 4
    )

    assert [one.status for one in answers] == [200] * 4
    answer = await trade.at_vendor("GET", f"/{beta}/usage?month={month_of(trade)}")
    assert answer.json["active_people"] == 1


async def test_a_customer_that_can_be_restored_is_not_counted_until_it_is(shop: CustomerBackend, trade: Trade) -> None:
    made = (await trade.at_vendor("POST", body={"name": "Globex"})).json["id"]
    internal.admit(trade.world, await internal.internal_of(trade.world, UUID(made)), trade.customer.ids["worker"])
    await sign_in(trade, "worker", made)
    path = f"/usage?month={month_of(trade)}"
    before = (await shop.backend.request("GET", path)).json

    await trade.at_vendor("DELETE", f"/{made}")
    ended = (await shop.backend.request("GET", path)).json
    await trade.at_vendor("POST", f"/{made}/restore")

    assert before["active_people"] == 1
    assert (ended["customers"], ended["active_people"]) == ([], 0)
    assert (await shop.backend.request("GET", path)).json == before


async def test_a_person_who_moves_to_another_account_counts_once(trade: Trade) -> None:
    beta = await trade.begin()
    await sign_in(trade, "worker", "beta")
    worker, new_id = trade.customer.ids["worker"], trade.world.new_id()

    def split(uow: UnitOfWork) -> None:
        organization_id = trade.customer.organization_id
        assert uow.account_splits.make(organization_id, worker, new_id, "moved@example.com", at=uow.now)
        uow.account_splits.move_person(organization_id, worker, new_id, at=uow.now)
        uow.account_splits.move_access(organization_id, worker, new_id, stays_confirmed=True)

    await trade.world.installation.database.transact(split)
    await sign_in(trade, "moved", "beta")

    answer = await trade.at_vendor("GET", f"/{beta}/usage?month={month_of(trade)}")
    assert answer.json["active_people"] == 1

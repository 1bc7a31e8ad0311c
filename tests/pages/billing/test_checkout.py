"""The page on which a member buys a plan for themselves."""

from __future__ import annotations

import re

import pytest

from tests.pages.billing.shopper import Shopper
from tests.pages.copied import copied
from tests.shown_text import shows
from tests.world.billing import Seller
from tests.world.visitor import Visitor

PLANS = "/app/organizations/acme/services/shop/plans"


@pytest.fixture
async def buyer(seller: Seller, visitor: Visitor) -> Visitor:
    """The browser of a member of an organization with an owner."""
    world = seller.world
    world.member(seller.organization_id, world.user("ann@example.com"), "owner")
    await visitor.sign_in("buyer@example.com")
    return visitor


async def test_a_member_buys_by_the_link_of_a_plan_and_returns(
    seller: Seller, shopper: Shopper, buyer: Visitor
) -> None:
    page = f"{PLANS}/{seller.plans['pro']}/buy"
    seller.world.connection.execute("UPDATE plans SET features = '{<b>reports</b>}' WHERE name = 'Pro'")

    offer = await buyer.open(page)
    begun = await buyer.submit(offer, page, is_followed=False)
    paid = await shopper.press(begun.headers["Location"])
    early = await buyer.open(paid.headers["Location"].removeprefix("http://localhost:8000"))
    await shopper.send()
    back = await buyer.open(paid.headers["Location"].removeprefix("http://localhost:8000"))

    assert "This is a sandbox: no money moves." in offer.text
    assert "9.90 USD" in offer.text
    assert "<b>reports" not in offer.text
    assert "/sandbox/checkout/" in begun.headers["Location"]
    for returned in (early, back):
        assert "The subscription begins as soon as" in returned.text
        assert 'href="/app/account/subscriptions"' in returned.text
        assert f'action="{page}"' not in returned.text
    assert "You have a subscription to this service already." in back.text
    assert [row[:3] for row in seller.subscriptions()] == [(seller.buyer_id, "pro", "active")]
    late = await buyer.submit(offer, page)
    assert (late.status, "You already have a subscription" in late.text) == (409, True)


async def test_a_plan_without_a_price_cannot_be_bought(seller: Seller, buyer: Visitor) -> None:
    page = f"{PLANS}/{seller.plans['free']}/buy"

    offer = await buyer.open(page)
    token = re.findall('name="form_token" value="([^"]+)"', offer.text)[0]
    refused = await buyer.post(page, {"form_token": token})

    assert "This plan cannot be bought" in offer.text
    assert f'action="{page}"' not in offer.text
    assert (refused.status, "it has no price at the payment provider" in refused.text) == (400, True)
    assert "billing_price_id" not in refused.text


async def test_a_plan_of_no_service_is_not_found(seller: Seller, buyer: Visitor) -> None:
    plan = f"{PLANS}/{seller.plans['pro']}"

    assert (await buyer.open(f"{plan}/buy")).status == 200
    assert (await buyer.open(f"{plan}/buy".replace("/plans/", "-not/plans/"))).status == 404


async def test_the_page_of_a_plan_leads_to_its_checkout(seller: Seller, buyer: Visitor) -> None:
    plan = f"{PLANS}/{seller.plans['team']}"

    page = await buyer.open(plan)

    assert copied(page, "checkout") == f"http://localhost:8000{plan}/buy"
    assert "/api/service/users/$USER_ID/checkout" in page.text
    assert "team" in (await buyer.follow(page, f"http://localhost:8000{plan}/buy")).text.lower()


async def test_an_outsider_is_told_nothing_of_a_plan(seller: Seller, visitor: Visitor) -> None:
    seller.world.user("eve@example.com")
    await visitor.sign_in("eve@example.com")

    refused = await visitor.open(f"{PLANS}/{seller.plans['pro']}/buy")

    assert refused.status == 403
    assert not shows(refused.text, "Pro")

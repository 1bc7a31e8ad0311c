"""The page of one's own subscriptions, and the way to the portal of the payment provider."""

from __future__ import annotations

import re
from datetime import timedelta
from uuid import uuid4

import pytest

from core.billing.own_subscriptions import SUBSCRIPTIONS_MAX
from tests.pages.billing.shopper import Shopper
from tests.shown_text import shows
from tests.world.backend import Backend, insert_key
from tests.world.billing import Seller
from tests.world.builder import EMAIL
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of

PAGE = "/app/account/subscriptions"
KEY = f"sk_abc123_{'k' * 43}"


@pytest.fixture
async def ada(seller: Seller, visitor: Visitor) -> Visitor:
    """A browser in which Ada has signed in, an end user of the shop."""
    user_id = seller.world.user()
    seller.world.link(seller.organization_id, seller.service.id, user_id)
    await visitor.sign_in()
    return visitor


async def buy(seller: Seller, shopper: Shopper) -> None:
    """Let Ada buy a plan as a customer of her own, through the backend of the shop."""
    insert_key(seller.world, seller.organization_id, seller.service.id, KEY)
    backend = Backend(seller.world, seller.organization_id, seller.service.id, KEY)
    path = f"/users/{seller.world.user_id(EMAIL)}/checkout"
    started = await backend.request("POST", path, body=seller.purchase())
    assert started.status == 200, started.text
    assert (await shopper.press(started.json["checkout_url"])).status == 303
    await shopper.send()


def portal_of(seller: Seller) -> str:
    """Return where the form of the shop leads."""
    return f"{PAGE}/{seller.service.id}/portal"


async def test_who_has_none_is_told_so(ada: Visitor) -> None:
    assert "You have not subscribed to anything." in (await ada.open(PAGE)).text


async def test_what_one_pays_for_is_shown_and_leads_to_the_own_portal(
    seller: Seller, ada: Visitor, shopper: Shopper
) -> None:
    await buy(seller, shopper)

    listed = await ada.open(PAGE)
    step = await ada.submit(listed, portal_of(seller))
    match = re.search(r'class="button" href="([^"]+)"', step.text)
    assert match is not None
    portal = await shopper.open(match[1])

    for words in ("Shop of Acme", "Plan: Pro", "Active", "The present period ends", "at the payment provider"):
        assert words in listed.text
    assert "Pro" in portal.text
    [(details, actor)] = seller.world.audit_entries("billing.portal_opened", "details", "actor_user_id")
    assert details["user_id"] == str(actor) == str(seller.world.user_id(EMAIL))


async def test_the_portal_asks_for_a_recent_sign_in(seller: Seller, ada: Visitor, shopper: Shopper) -> None:
    await buy(seller, shopper)
    fields = forms_of(await ada.open(PAGE))[0].fields
    seller.world.clock.advance(timedelta(minutes=11))

    answer = await ada.post(portal_of(seller), fields, is_followed=False)

    assert answer.headers["Location"].startswith("/app/sign-in-again?")


async def test_what_others_gave_says_where_it_is_changed(seller: Seller, ada: Visitor) -> None:
    world, user_id = seller.world, seller.world.user_id(EMAIL)
    world.subscription(seller.plans["pro"], user_id, "expired")
    world.subscription(seller.plans["pro"], user_id)

    page = await ada.open(PAGE)
    refused = await ada.post(portal_of(seller), forms_of(page)[0].fields)

    assert page.text.count("Shop of Acme") == 1
    assert "You change it in the application, or ask Acme." in page.text
    assert "Manage payment" not in page.text
    assert (refused.status, (await ada.post(f"{PAGE}/{uuid4()}/portal", forms_of(page)[0].fields)).status) == (404, 404)


async def test_what_has_ended_stays_listed(seller: Seller, ada: Visitor) -> None:
    seller.world.subscription(seller.plans["pro"], seller.world.user_id(EMAIL), "cancelled")

    page = await ada.open(PAGE)

    assert "Cancelled" in page.text
    assert "It was paid until" in page.text


async def test_what_the_organization_pays_for_its_administrators_change(
    seller: Seller, shopper: Shopper, visitor: Visitor
) -> None:
    await shopper.buy()
    buyer = seller.world.value("SELECT u.email FROM users u JOIN subscriptions s ON s.user_id = u.id")
    await visitor.sign_in(buyer)

    page = await visitor.open(PAGE)

    assert "Acme pays for it. Its administrators change it." in page.text
    assert "Manage payment" not in page.text


async def test_a_session_for_another_organization_shows_and_opens_nothing(
    seller: Seller, ada: Visitor, shopper: Shopper
) -> None:
    await buy(seller, shopper)
    fields = forms_of(await ada.open(PAGE))[0].fields
    seller.world.connection.execute(
        "UPDATE sessions SET confined_to = %s FROM browser_sessions WHERE session_id = id",
        (seller.world.organization("globex"),),
    )

    assert not shows((await ada.open(PAGE)).text, "Shop")
    assert (await ada.post(portal_of(seller), fields)).status == 404


async def test_very_many_are_counted(seller: Seller, ada: Visitor) -> None:
    world, user_id = seller.world, seller.world.user_id(EMAIL)
    for number in range(SUBSCRIPTIONS_MAX + 1):
        service = world.service(seller.organization_id, f"app-{number}")
        world.subscription(world.plan(seller.organization_id, service.id), user_id)

    assert f"there are {SUBSCRIPTIONS_MAX + 1}." in (await ada.open(PAGE)).text


async def test_a_plan_whose_payment_is_overdue_is_shown_before_a_newer_one_that_ended(
    seller: Seller, ada: Visitor
) -> None:
    user_id, service = seller.world.user_id(EMAIL), seller.service
    gold = seller.world.plan(seller.organization_id, service.id, "Gold plan")
    old = seller.world.plan(seller.organization_id, service.id, "Old plan")
    seller.world.subscription(gold, user_id, "past_due")
    seller.world.clock.advance(timedelta(days=1))
    seller.world.subscription(old, user_id, "cancelled")
    # The session has ended meanwhile.
    await ada.sign_in()

    page = await ada.open(PAGE)

    assert "Gold plan" in page.text
    assert "Payment overdue" in page.text
    assert "Old plan" not in page.text


async def test_a_plan_whose_payment_is_overdue_is_that_of_the_profile_and_of_the_end_user(
    seller: Seller, ada: Visitor
) -> None:
    user_id, service = seller.world.user_id(EMAIL), seller.service
    gold = seller.world.plan(seller.organization_id, service.id, "Gold plan")
    old = seller.world.plan(seller.organization_id, service.id, "Old plan")
    seller.world.subscription(gold, user_id, "past_due")
    seller.world.clock.advance(timedelta(days=1))
    seller.world.subscription(old, user_id, "cancelled")
    owner = seller.world.user("owner-of-acme@example.com")
    seller.world.member(seller.organization_id, owner, "owner")

    tokens = await seller.world.sign_in(org_slug="acme", service_slug="shop")
    profile = await seller.world.client.get("/api/user", token=tokens.access_token)
    console = Visitor(seller.world.client)
    await console.sign_in("owner-of-acme@example.com")
    listed = await console.open("/app/organizations/acme/people/end-users")
    insert_key(seller.world, seller.organization_id, service.id, KEY)
    backend = Backend(seller.world, seller.organization_id, service.id, KEY)
    current = await backend.request("GET", f"/subscriptions/{user_id}")

    assert profile.json["plan"] == "Gold plan"
    assert claims_of(tokens.access_token)["subscription_status"] == "past_due"
    assert (current.json["plan_name"], current.json["status"]) == ("Gold plan", "past_due")
    assert "Gold plan" in listed.text
    assert "Old plan" not in listed.text

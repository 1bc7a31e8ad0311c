"""Buying from the sandbox provider, and where it exists; `test_sandbox_portal.py` tests its portal."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from core.billing import sandbox
from core.secrets import Secret
from entrypoints import capabilities, equipment
from entrypoints.installation import Installation
from entrypoints.settings import Settings
from tests.application import serving
from tests.pages.billing.shopper import BUTTON, FORM, Shopper
from tests.world.backend import KEY, Backend, insert_key
from tests.world.billing import CHECKOUT, MONTH, Seller
from tests.world.world import assert_refused

JSON = {"Accept": "application/json"}


def production(installation: Installation) -> Installation:
    """Return the installation outside development mode, as its settings connect it without a payment provider."""
    settings = replace(installation.settings, dev=False)
    billing = equipment.billing_gateway(settings, installation.database, installation.clock)
    return replace(installation, settings=settings, billing=billing)


async def test_the_checkout_page_shows_service_plan_and_price_and_that_no_money_moves(shopper: Shopper) -> None:
    page = await shopper.open((await shopper.start())["checkout_url"])

    assert page.status == 200
    for words in ("Shop", "Pro", "9.90 USD", "no money moves", "Pay 9.90 USD", "Cancel"):
        assert words in page.text
    assert 'href="https://app.example.com/prices"' in page.text


async def test_browsers_may_follow_the_form_to_the_seller_and_nowhere_else(shopper: Shopper) -> None:
    page = await shopper.open((await shopper.start())["checkout_url"])

    assert "form-action 'self' https://app.example.com;" in page.headers["Content-Security-Policy"]


async def test_paying_leads_to_the_seller_with_the_id_of_the_session(shopper: Shopper) -> None:
    session = await shopper.start()

    paid = await shopper.press(session["checkout_url"])

    assert paid.status == 303
    assert paid.headers["Location"] == f"https://app.example.com/thanks?session={session['session_id']}"


async def test_paying_begins_a_subscription(shopper: Shopper, seller: Seller) -> None:
    await shopper.buy()

    [(user_id, plan, status, end)] = seller.subscriptions()
    assert (user_id, plan, status) == (seller.buyer_id, "pro", "active")
    assert end == seller.world.clock().replace(microsecond=0) + MONTH
    assert shopper.waiting() == 0


async def test_an_end_user_buys_through_their_service_and_manages_that_alone(shopper: Shopper, seller: Seller) -> None:
    world = seller.world
    insert_key(world, seller.organization_id, seller.service.id, KEY)
    backend = Backend(world, seller.organization_id, seller.service.id, KEY)
    bob = backend.user("bob@example.com")
    await shopper.buy()

    started = await backend.request("POST", f"/users/{bob}/checkout", body=seller.purchase("team"))
    assert started.status == 200, started.text
    assert (await shopper.press(started.json["checkout_url"])).status == 303
    await shopper.send()

    assert {(user_id, plan, status) for user_id, plan, status, _ in seller.subscriptions()} == {
        (seller.buyer_id, "pro", "active"),
        (bob, "team", "active"),
    }
    customers = world.rows("SELECT organization_id, seller_organization_id, user_id FROM billing_customers")
    assert set(customers) == {(seller.organization_id, None, None), (None, seller.organization_id, bob)}
    opened = await backend.request("POST", f"/users/{bob}/portal", body={"return_url": "https://app.example.com/me"})
    own, organizations = await shopper.open(opened.json["portal_url"]), await shopper.open(await shopper.portal())
    assert ("Team" in own.text, "Pro" in own.text) == (True, False)
    assert ("Team" in organizations.text, "Pro" in organizations.text) == (False, True)


async def test_paying_twice_buys_once(shopper: Shopper, seller: Seller) -> None:
    session = await shopper.start()

    first, second = await shopper.press(session["checkout_url"]), await shopper.press(session["checkout_url"])
    await shopper.send()

    assert first.headers["Location"] == second.headers["Location"]
    assert len(seller.subscriptions()) == 1
    assert "paid already" in (await shopper.open(session["checkout_url"])).text


async def test_opening_the_page_and_cancelling_buys_nothing(shopper: Shopper, seller: Seller) -> None:
    await shopper.open((await shopper.start())["checkout_url"])
    await shopper.send()

    assert seller.subscriptions() == []


async def test_the_events_bind_the_customer(shopper: Shopper, seller: Seller) -> None:
    await shopper.buy()

    [(organization_id, method)] = seller.world.rows(
        "SELECT organization_id, default_payment_method FROM billing_customers"
    )
    assert organization_id == seller.organization_id
    assert method.startswith("pm_sandbox_")


async def test_an_unknown_page_is_not_found(shopper: Shopper, subtests: pytest.Subtests) -> None:
    for session_id in ("cs_sandbox_guess", "x", "%2e%2e", "cs_1?"):
        with subtests.test(session_id=session_id):
            for kind in ("checkout", "portal"):
                assert (await shopper.open(f"/sandbox/{kind}/{session_id}")).status == 404
                assert (await shopper.press(f"/sandbox/{kind}/{session_id}", BUTTON)).status == 404


async def test_a_page_expires_after_a_day(shopper: Shopper, seller: Seller) -> None:
    session = await shopper.start()
    seller.world.clock.advance(sandbox.SESSION_LIFETIME)

    assert (await shopper.open(session["checkout_url"])).status == 404
    assert (await shopper.press(session["checkout_url"])).status == 404


async def test_a_checkout_is_no_portal_and_a_portal_no_checkout(shopper: Shopper) -> None:
    session, portal = await shopper.start(), await shopper.portal()

    assert (await shopper.open(portal.replace("/portal/", "/checkout/"))).status == 404
    assert (await shopper.press(portal.replace("/portal/", "/checkout/"))).status == 404
    assert (await shopper.open(session["checkout_url"].replace("/checkout/", "/portal/"))).status == 404


async def test_a_form_of_another_site_is_refused(shopper: Shopper, seller: Seller, subtests: pytest.Subtests) -> None:
    session, portal = await shopper.start(), await shopper.portal()

    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.example.com"},
        {"Origin": "null"},
    ):
        with subtests.test(headers=headers):
            paid = await shopper.press(session["checkout_url"], headers=headers)
            acted = await shopper.press(portal, BUTTON, headers=headers)

            assert (paid.status, acted.status) == (403, 403)
            assert seller.world.rows("SELECT FROM sandbox_subscriptions") == []


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "same-origin"}, {"Origin": "http://localhost:8000"}])
async def test_a_form_of_the_page_itself_is_accepted(shopper: Shopper, headers: dict[str, str]) -> None:
    assert (await shopper.press((await shopper.start())["checkout_url"], headers=headers)).status == 303


async def test_a_sandbox_that_is_closed_sells_nothing_and_keeps_what_it_has_sold(
    installation: Installation, shopper: Shopper, seller: Seller
) -> None:
    session = await shopper.start("team")
    await shopper.buy()
    portal, closed = await shopper.portal(), production(installation)
    world = replace(seller.world, client=serving(closed))
    manager = await world.signed_in_member(seller.organization_id, role="admin")

    refused = [await manager.post("/api/organizations/acme/billing/portal", {"return_url": "https://app.example.com"})]
    for address in (session["checkout_url"], portal):
        path = address.removeprefix("http://localhost:8000")
        refused.append(await world.client.get(path, headers=JSON))
        data = urlencode(BUTTON).encode()
        refused.append(await world.client.post(path, data=data, headers=JSON | {"Content-Type": FORM}))

    for answer in refused:
        assert_refused(answer, 500, "BILLING_ERROR")
        assert "GATEHOUSE_BILLING_SANDBOX=on" in answer.json["error"]
    assert seller.state() == ("pro", "active")
    await closed.billing.cancel_subscription(shopper.subscription_id())
    await shopper.send()
    assert seller.state() == ("pro", "cancelled")


async def test_a_first_purchase_of_a_closed_sandbox_leaves_nothing_behind(
    installation: Installation, seller: Seller
) -> None:
    buyer = await replace(seller, world=replace(seller.world, client=serving(production(installation)))).buyer()

    answer = await buyer.post(CHECKOUT, seller.purchase())

    assert_refused(answer, 500, "BILLING_ERROR")
    assert "GATEHOUSE_BILLING_SANDBOX=on" in answer.json["error"]
    for table in ("billing_checkouts", "sandbox_customers", "sandbox_sessions"):
        assert seller.world.rows(f"SELECT 1 FROM {table}") == [], table


async def test_with_a_payment_provider_the_pages_do_not_exist(installation: Installation, shopper: Shopper) -> None:
    checkout, portal = (await shopper.start())["checkout_url"], await shopper.portal()
    routes = capabilities.routes(is_development=True, has_billing_provider=True)
    client = serving(installation, routes)

    for address in (checkout, portal):
        path = address.removeprefix("http://localhost:8000")
        assert_refused(await client.get(path), 404, "NOT_FOUND")
        assert_refused(await client.post(path, data=b""), 404, "NOT_FOUND")
    assert not any("/sandbox/" in route.path for route in routes)


def test_a_payment_provider_turns_the_sandbox_off() -> None:
    settings = Settings(dev=True)

    assert settings.has_billing_sandbox
    assert not replace(settings, billing_secret_key=Secret("sk_live_1")).has_billing_sandbox


async def test_ids_of_pages_cannot_be_guessed(shopper: Shopper) -> None:
    session_id = (await shopper.start())["session_id"]

    assert re.fullmatch(r"cs_sandbox_[A-Za-z0-9_-]{43}", session_id)

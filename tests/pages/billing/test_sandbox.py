"""The pages of the sandbox provider, and what its events lead to (decisions 6.5)."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from actors.sandbox_sender import SandboxSender
from core.billing import sandbox
from core.secrets import Secret
from entrypoints import capabilities, equipment
from entrypoints.settings import Settings
from tests.application import serving
from tests.world.billing import CHECKOUT, MONTH, Seller
from tests.world.world import assert_refused

if TYPE_CHECKING:
    from entrypoints.installation import Installation
    from tests.application import Answer
    from tests.doorbells import RecordedDoorbells

JSON = {"Accept": "application/json"}
FORM = "application/x-www-form-urlencoded"
BUTTON = {"subscription_id": "sub_sandbox_1", "action": "renew"}


def production(installation: Installation) -> Installation:
    """Return the installation outside development mode, as its settings connect it without a payment provider."""
    settings = replace(installation.settings, dev=False)
    billing = equipment.billing_gateway(settings, installation.database, installation.clock)
    return replace(installation, settings=settings, billing=billing)


class Shopper:
    """A buyer with a browser, and the sender of the sandbox's events, which runs when told to."""

    def __init__(self, seller: Seller, doorbells: Any) -> None:
        self.seller = seller
        installation = seller.world.installation
        self.portal_address = ""
        self._sender = SandboxSender(
            database=installation.database, doorbells=doorbells, receiver=installation.billing_receiver
        )

    async def open(self, address: str) -> Answer:
        """Open a page by its address."""
        return await self.seller.world.client.get(address.removeprefix("http://localhost:8000"))

    async def press(
        self, address: str, fields: dict[str, str] | None = None, *, headers: dict[str, str] | None = None
    ) -> Answer:
        """Send the form of a page."""
        data = "&".join(f"{name}={value}" for name, value in (fields or {}).items()).encode()
        path = address.removeprefix("http://localhost:8000")
        return await self.seller.world.client.post(path, data=data, headers={"Content-Type": FORM} | (headers or {}))

    async def start(self, plan: str = "pro") -> dict[str, str]:
        """Start a checkout."""
        answer = await (await self.seller.buyer()).post(CHECKOUT, self.seller.purchase(plan))
        assert answer.status == 200, answer.text
        return answer.json

    async def buy(self) -> None:
        """Buy a plan, and let the events arrive."""
        assert (await self.press((await self.start())["checkout_url"])).status == 303
        await self.send()

    async def portal(self) -> str:
        """Open the portal as the owner; return its address."""
        owner = await self.seller.world.signed_in_member(self.seller.organization_id, email="owner@example.com")
        answer = await owner.post(
            "/api/organizations/acme/billing/portal", {"return_url": "https://app.example.com/billing"}
        )
        assert answer.status == 200, answer.text
        return answer.json["portal_url"]

    async def send(self) -> None:
        """Send the events that are due."""
        await self._sender.send_due()

    def subscription_id(self) -> str:
        """Return the id of the sandbox's subscription."""
        return self.seller.world.value("SELECT id FROM sandbox_subscriptions")

    def waiting(self) -> int:
        """Return how many events wait to be sent."""
        return self.seller.world.value("SELECT count(*) FROM sandbox_deliveries")


@pytest.fixture
def shopper(seller: Seller, doorbells: RecordedDoorbells) -> Shopper:
    """The buyer."""
    return Shopper(seller, doorbells)


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


@pytest.mark.parametrize("session_id", ["cs_sandbox_guess", "x", "%2e%2e", "cs_1?"])
async def test_an_unknown_page_is_not_found(shopper: Shopper, session_id: str) -> None:
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


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.example.com"},
        {"Origin": "null"},
    ],
)
async def test_a_form_of_another_site_is_refused(shopper: Shopper, seller: Seller, headers: dict[str, str]) -> None:
    session, portal = await shopper.start(), await shopper.portal()

    paid = await shopper.press(session["checkout_url"], headers=headers)
    acted = await shopper.press(portal, BUTTON, headers=headers)

    assert (paid.status, acted.status) == (403, 403)
    assert seller.world.rows("SELECT FROM sandbox_subscriptions") == []


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "same-origin"}, {"Origin": "http://localhost:8000"}])
async def test_a_form_of_the_page_itself_is_accepted(shopper: Shopper, headers: dict[str, str]) -> None:
    assert (await shopper.press((await shopper.start())["checkout_url"], headers=headers)).status == 303


async def test_the_portal_lists_the_subscriptions_with_their_buttons(shopper: Shopper) -> None:
    await shopper.buy()

    page = await shopper.open(await shopper.portal())

    for words in ("Shop: Pro", "9.90 USD", "active", "no money moves", "Renew", "Let a payment fail", "Cancel"):
        assert words in page.text


async def test_the_portal_of_a_customer_without_subscriptions_says_what_to_do(shopper: Shopper) -> None:
    assert "Start a checkout first" in (await shopper.open(await shopper.portal())).text


async def act(shopper: Shopper, action: str, **fields: str) -> Answer:
    """Press a button of the portal, and let the events arrive."""
    shopper.seller.world.clock.advance(timedelta(seconds=2))
    shopper.portal_address = shopper.portal_address or await shopper.portal()
    form = {"subscription_id": shopper.subscription_id(), "action": action} | fields
    answer = await shopper.press(shopper.portal_address, form)
    await shopper.send()
    return answer


async def test_a_renewal_extends_the_period(shopper: Shopper, seller: Seller) -> None:
    await shopper.buy()
    before = seller.period_end()

    answer = await act(shopper, "renew")

    assert answer.status == 303
    assert seller.period_end() == before + int(MONTH.total_seconds())


async def test_a_payment_fails_and_is_recovered(shopper: Shopper, seller: Seller) -> None:
    await shopper.buy()
    await act(shopper, "fail")
    failed = seller.state()

    await act(shopper, "recover")

    assert (failed, seller.state()) == (("pro", "past_due"), ("pro", "active"))


async def test_a_cancelled_subscription_has_ended(shopper: Shopper, seller: Seller) -> None:
    await shopper.buy()

    await act(shopper, "cancel")
    again = await act(shopper, "renew")

    assert seller.state() == ("pro", "cancelled")
    assert again.status == 400
    assert "This subscription has ended" in (await shopper.open(shopper.portal_address)).text


async def test_a_payment_to_be_confirmed_is_mailed_to_the_buyer(shopper: Shopper, seller: Seller) -> None:
    await shopper.buy()
    await seller.world.mails()

    await act(shopper, "authenticate")

    assert (await seller.world.mail()).to == "buyer@example.com"


async def test_late_events_arrive_late(shopper: Shopper, seller: Seller) -> None:
    await shopper.buy()
    await act(shopper, "fail", late_seconds="60")
    early = seller.state()
    seller.world.clock.advance(timedelta(seconds=61))

    await shopper.send()

    assert (early, seller.state()) == (("pro", "active"), ("pro", "past_due"))


async def test_events_sent_twice_have_one_effect(shopper: Shopper, seller: Seller) -> None:
    await shopper.buy()
    before = seller.period_end()

    await act(shopper, "renew", twice="on")

    assert seller.period_end() == before + int(MONTH.total_seconds())
    assert shopper.waiting() == 0


async def test_a_portal_reaches_no_other_customer_s_subscription(shopper: Shopper, seller: Seller) -> None:
    await shopper.buy()
    globex = seller.world.organization("globex")
    other = await seller.world.signed_in_member(globex, email="globex@example.com")
    answer = await other.post("/api/organizations/globex/billing/portal", {"return_url": "https://globex.example.com/"})

    pressed = await shopper.press(
        answer.json["portal_url"], {"subscription_id": shopper.subscription_id(), "action": "cancel"}
    )
    await shopper.send()

    assert pressed.status == 404
    assert seller.state() == ("pro", "active")


@pytest.mark.parametrize(
    "fields", [{"action": "explode"}, {"late_seconds": "-1"}, {"late_seconds": "soon"}, {"subscription_id": "%00"}]
)
async def test_a_damaged_form_is_refused(shopper: Shopper, fields: dict[str, str]) -> None:
    await shopper.buy()

    answer = await shopper.press(await shopper.portal(), BUTTON | fields)

    assert answer.status == 400


async def test_an_event_that_the_receiver_refuses_is_sent_again_and_given_up_in_the_end(
    shopper: Shopper, seller: Seller
) -> None:
    await shopper.press((await shopper.start())["checkout_url"])
    seller.world.connection.execute("UPDATE sandbox_deliveries SET body = 'no event'")
    before = shopper.waiting()

    waiting: list[int] = []
    for _ in range(sandbox.ATTEMPTS_MAX):
        await shopper.send()
        waiting.append(shopper.waiting())
        seller.world.clock.advance(timedelta(hours=4))

    assert waiting == [before] * (sandbox.ATTEMPTS_MAX - 1) + [0]


async def test_a_subscription_is_ended_once_like_one_of_a_provider(shopper: Shopper, seller: Seller) -> None:
    await shopper.buy()
    billing = seller.world.installation.billing

    for subscription_id in (shopper.subscription_id(), shopper.subscription_id(), "sub_sandbox_unknown"):
        await billing.cancel_subscription(subscription_id)
    await shopper.send()

    assert seller.state() == ("pro", "cancelled")
    assert [event for event in seller.stored_events() if event[1] == "ended"] != []


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

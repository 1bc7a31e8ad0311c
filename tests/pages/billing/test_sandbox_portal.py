"""The portal of the sandbox provider, and what its buttons lead to."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.billing import sandbox
from tests.application import Answer
from tests.pages.billing.shopper import BUTTON, Shopper
from tests.world.billing import MONTH, Seller


async def act(shopper: Shopper, action: str, **fields: str) -> Answer:
    """Press a button of the portal, and let the events arrive."""
    shopper.seller.world.clock.advance(timedelta(seconds=2))
    shopper.portal_address = shopper.portal_address or await shopper.portal()
    form = {"subscription_id": shopper.subscription_id(), "action": action} | fields
    answer = await shopper.press(shopper.portal_address, form)
    await shopper.send()
    return answer


async def test_the_portal_lists_the_subscriptions_with_their_buttons(shopper: Shopper) -> None:
    await shopper.buy()

    page = await shopper.open(await shopper.portal())

    for words in ("Shop: Pro", "9.90 USD", "active", "no money moves", "Renew", "Let a payment fail", "Cancel"):
        assert words in page.text


async def test_the_portal_of_a_customer_without_subscriptions_says_what_to_do(shopper: Shopper) -> None:
    assert "Start a checkout first" in (await shopper.open(await shopper.portal())).text


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


async def test_a_damaged_form_is_refused(shopper: Shopper, subtests: pytest.Subtests) -> None:
    await shopper.buy()
    portal = await shopper.portal()

    for fields in ({"action": "explode"}, {"late_seconds": "-1"}, {"late_seconds": "soon"}, {"subscription_id": "%00"}):
        with subtests.test(fields=fields):
            answer = await shopper.press(portal, BUTTON | fields)

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

"""The mails to users that events of the payment provider cause."""

from __future__ import annotations

import pytest

from core.mail.mail import MailTemplate
from tests.world.billing import SUBSCRIPTION, Seller

NOTICES = [
    ("customer.subscription.trial_will_end", MailTemplate.TRIAL_ENDING),
    ("invoice.payment_action_required", MailTemplate.PAYMENT_ACTION_REQUIRED),
]


def subject(seller: Seller, event_type: str) -> dict[str, object]:
    return seller.invoice() if event_type.startswith("invoice") else seller.subscription("trialing")


@pytest.mark.parametrize(("event_type", "template"), NOTICES)
async def test_the_buyer_is_told(seller: Seller, event_type: str, template: MailTemplate) -> None:
    await seller.sell()

    await seller.report(event_type, subject(seller, event_type))

    mail = await seller.world.mail()
    assert (mail.to, mail.template) == ("buyer@example.com", template)
    assert (mail.values["service"], mail.values["organization"]) == ("Shop", "Acme")
    assert seller.state() == ("pro", "active")


@pytest.mark.parametrize(("event_type", "template"), NOTICES)
async def test_an_event_that_comes_twice_is_mailed_once(
    seller: Seller, event_type: str, template: MailTemplate
) -> None:
    await seller.sell()
    event = seller.event(event_type, subject(seller, event_type))

    await seller.send(event)
    await seller.send(event)
    await seller.report("customer.subscription.updated", seller.subscription())

    assert [mail.template for mail in await seller.world.mails()] == [template]


async def test_the_mail_has_the_link_of_the_invoice(seller: Seller) -> None:
    await seller.sell()

    await seller.report(
        "invoice.payment_action_required", seller.invoice(hosted_invoice_url="https://pay.example.com/i/1")
    )

    assert (await seller.world.mail()).values["link"] == "https://pay.example.com/i/1"


@pytest.mark.parametrize("link", ["http://pay.example.com/i/1", "javascript:alert(1)", "https://a b", None, 5])
async def test_a_link_that_is_no_https_address_is_left_out(seller: Seller, link: object) -> None:
    await seller.sell()

    await seller.report("invoice.payment_action_required", seller.invoice(hosted_invoice_url=link))

    assert (await seller.world.mail()).values["link"] == ""


async def test_an_event_of_an_unknown_subscription_is_mailed_when_it_is_known(seller: Seller) -> None:
    seller.bind_customer()
    await seller.report(
        "invoice.payment_action_required",
        seller.invoice(parent={"subscription_details": {"subscription": SUBSCRIPTION}}),
    )
    early = await seller.world.mails()

    await seller.report("customer.subscription.created", seller.subscription("incomplete"))

    assert early == []
    assert (await seller.world.mail()).template is MailTemplate.PAYMENT_ACTION_REQUIRED


async def test_an_event_of_another_s_subscription_is_not_mailed(seller: Seller) -> None:
    await seller.sell()

    await seller.report("invoice.payment_action_required", seller.invoice(customer="cus_globex"))

    assert await seller.world.mails() == []


async def test_a_deactivated_buyer_is_not_told(seller: Seller) -> None:
    await seller.sell()
    seller.world.deactivate("buyer@example.com")

    await seller.report("invoice.payment_action_required", seller.invoice())

    assert await seller.world.mails() == []

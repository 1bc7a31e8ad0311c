"""A request that was answered already, or has expired, leads back to the site of the service that made it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.application import Answer
from tests.clock import SettableClock
from tests.shown_text import shows
from tests.world.authorization import address_of, led_back, push
from tests.world.relying_party import RelyingParty
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

ALLOW, DENY = "/auth/authorize/allow", "/auth/authorize/deny"
OVER = "This sign-in to Shop is no longer valid"
SITE = 'href="https://shop.example/"'


def leads_back(page: Answer) -> bool:
    """Whether a page names the service and leads to the first page of its site."""
    return page.status == 400 and OVER in page.text and SITE in page.text


@pytest.mark.parametrize("action", [ALLOW, DENY])
async def test_a_question_that_was_answered_leads_back_to_the_service(
    shop: RelyingParty, visitor: Visitor, action: str
) -> None:
    await visitor.sign_in()
    question = await visitor.open(address_of(shop))
    led_back(await visitor.submit(question, action))

    again = await visitor.submit(question, action)

    assert leads_back(again)
    assert "You are signed in here." in again.text


async def test_a_question_that_has_waited_too_long_leads_back_to_the_service(
    shop: RelyingParty, visitor: Visitor, clock: SettableClock
) -> None:
    await visitor.sign_in()
    question = await visitor.open(address_of(shop, ui_locales="de"))
    clock.advance(timedelta(minutes=61))

    page = await visitor.submit(question, ALLOW)

    assert page.status == 400
    assert "Diese Anmeldung bei Shop ist nicht mehr gültig" in page.text
    assert SITE in page.text


async def test_a_browser_that_is_not_signed_in_is_led_back_too(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    address = await push(shop, prompt="none")
    led_back(await visitor.send("GET", address))

    page = await Visitor(world.client).open(address)

    assert leads_back(page)
    assert "You are signed in here." not in page.text


async def test_a_service_on_several_sites_has_no_button(shop: RelyingParty, visitor: Visitor) -> None:
    await visitor.sign_in()
    question = await visitor.open(address_of(shop))
    await visitor.submit(question, DENY)
    shop.set(redirect_uris=["https://shop.example/callback", "https://other.example/callback"])

    page = await visitor.submit(question, DENY)

    assert OVER in page.text
    assert "other.example" not in page.text
    assert SITE not in page.text


async def test_an_unknown_request_names_no_service(shop: RelyingParty, visitor: Visitor) -> None:
    await visitor.sign_in()
    fields = forms_of(await visitor.open(address_of(shop)))[0].fields

    page = await visitor.post(ALLOW, {**fields, "request_id": "x" * 43})

    assert page.status == 400
    assert "This request is over" in page.text
    assert not shows(page.text, "Shop")


async def test_a_program_gets_the_refusal(shop: RelyingParty, visitor: Visitor) -> None:
    await visitor.sign_in()
    question = await visitor.open(address_of(shop))
    await visitor.submit(question, DENY)

    answer = await visitor.submit(question, DENY, headers={"Accept": "application/json"})

    assert (answer.status, answer.json["error_code"]) == (400, "BAD_REQUEST")


async def test_a_service_of_a_suspended_organization_is_not_led_back_to(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await visitor.sign_in()
    question = await visitor.open(address_of(shop))
    await visitor.submit(question, DENY)
    world.set_organization_status(shop.organization_id, "suspended")

    page = await visitor.submit(question, DENY)

    assert page.status == 400
    assert SITE not in page.text

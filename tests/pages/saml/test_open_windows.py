"""Several windows of one browser: a sign-in is the agreement to the request to whose forms it belongs, alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.application import Answer
from tests.service_provider import posted_form
from tests.world.builder import EMAIL, PASSWORD
from tests.world.page_sign_ins import WAYS, by_password
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor


@pytest.fixture
async def shop(saml: SamlWorld, team: Team) -> SamlService:
    """A service for everybody, and a user who has nothing to do with its organization."""
    team.world.user(EMAIL)
    return await saml.service(team.organization_id, "acme", members_only=False)


async def window_of(visitor: Visitor, service: SamlService, message: str | None = None) -> str:
    """Open a window with the request of a service provider, and return the address of the sign-in page in it."""
    begun = await visitor.send("GET", service.sso(message))
    asked = await visitor.send("GET", begun.headers["Location"])
    assert asked.status == 303, asked.text
    return asked.headers["Location"]


def asks(service: SamlService, page: Answer) -> bool:
    """Return whether a page asks for agreement."""
    return f'action="{service.path}/authenticate"' in page.text


@pytest.mark.parametrize("sign_in", WAYS)
async def test_a_sign_in_in_another_window_is_no_agreement_to_an_open_request(
    shop: SamlService, visitor: Visitor, sign_in: Any
) -> None:
    window = await window_of(visitor, shop)

    elsewhere = await sign_in(shop.world, visitor, await visitor.open("/app/sign-in"))
    reloaded = await visitor.open(window)

    assert "You are signed in as" in elsewhere.text
    assert asks(shop, reloaded)
    assert shop.world.value("SELECT count(*) FROM service_users") == 0


@pytest.mark.parametrize("sign_in", WAYS)
async def test_a_sign_in_in_the_window_of_the_request_is_agreement(
    shop: SamlService, visitor: Visitor, sign_in: Any
) -> None:
    window = await visitor.open(await window_of(visitor, shop))

    answered = await sign_in(shop.world, visitor, window)

    assert posted_form(answered.text).statuses == ["Success"]


@pytest.mark.parametrize("is_first", [True, False])
async def test_of_two_open_requests_only_that_of_the_submitted_form_is_agreed_to(
    shop: SamlService, saml: SamlWorld, visitor: Visitor, *, is_first: bool
) -> None:
    blog = await saml.service(shop.world.organization("globex"), "globex", "blog", members_only=False)
    windows = [(shop, await window_of(visitor, shop)), (blog, await window_of(visitor, blog))]
    (_, mine), (other, left_open) = windows if is_first else reversed(windows)

    answered = await by_password(shop.world, visitor, await visitor.open(mine))
    reloaded = await visitor.open(left_open)

    assert posted_form(answered.text).statuses == ["Success"]
    assert asks(other, reloaded)


async def test_signing_in_again_in_another_window_is_fresh_and_no_agreement(
    shop: SamlService, visitor: Visitor
) -> None:
    await visitor.sign_in()
    shop.world.clock.advance(timedelta(minutes=1))
    window = await window_of(visitor, shop, shop.sp.authn_request(ForceAuthn="true"))

    await visitor.submit(await visitor.open("/app/sign-in-again"), "/app/sign-in-again", password=PASSWORD)

    assert asks(shop, await visitor.open(window.replace("/app/sign-in-again", "/app/sign-in")))


async def test_signing_in_again_in_the_window_of_the_request_is_agreement(shop: SamlService, visitor: Visitor) -> None:
    await visitor.sign_in()
    shop.world.clock.advance(timedelta(minutes=1))
    window = await visitor.open(await window_of(visitor, shop, shop.sp.authn_request(ForceAuthn="true")))

    answered = await visitor.submit(window, "/app/sign-in-again", password=PASSWORD)

    assert posted_form(answered.text).statuses == ["Success"]


async def test_the_page_of_a_request_from_another_browser_is_no_agreement(shop: SamlService, visitor: Visitor) -> None:
    theirs = await window_of(Visitor(shop.world.client), shop)

    answered = await by_password(shop.world, visitor, await visitor.open(theirs))

    assert answered.status == 400
    assert shop.world.value("SELECT count(*) FROM service_users") == 0

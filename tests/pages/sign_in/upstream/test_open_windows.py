"""A sign-in with another provider answers the first visit of the one request from whose page the browser has left."""

from __future__ import annotations

import pytest

from tests.upstream_provider import Account
from tests.world.authorization import address_of, led_back
from tests.world.builder import EMAIL, PASSWORD
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.upstream import Upstream, parameters_of
from tests.world.world import World

LINKS = "an account with your address exists already"


@pytest.fixture
def shop(world: World) -> RelyingParty:
    """A service, of which the provider's account knows nothing yet."""
    return insert_relying_party(world)


async def window_of(upstream: Upstream, party: RelyingParty) -> str:
    """Open a window with the request of a service, and return the id that its sign-in page carries."""
    answer = await upstream.visitor.send("GET", address_of(party))
    return parameters_of(answer.headers["Location"])["return_id"]


async def test_a_provider_that_was_chosen_on_the_page_of_the_request_answers_it(
    upstream: Upstream, shop: RelyingParty
) -> None:
    return_id = await window_of(upstream, shop)

    assert "code" in led_back(await upstream.sign_in(f"/auth/codehost?return_id={return_id}"))


async def test_a_provider_that_was_chosen_in_another_window_does_not(upstream: Upstream, shop: RelyingParty) -> None:
    return_id = await window_of(upstream, shop)

    await upstream.sign_in("/auth/codehost")

    assert "/auth/authorize/allow" in (await upstream.visitor.open(f"/app/sign-in?return_id={return_id}")).text


async def test_signing_in_to_link_the_account_first_leads_back_to_the_request(
    upstream: Upstream, shop: RelyingParty, world: World
) -> None:
    world.user(EMAIL)
    return_id = await window_of(upstream, shop)

    asked = await upstream.sign_in(f"/auth/codehost?return_id={return_id}", Account(email=EMAIL))
    methods = await upstream.visitor.submit(asked, "/app/sign-in", email=EMAIL)

    # Else it looks like the page from which they went to the provider.
    before = await upstream.visitor.open(f"/app/sign-in?return_id={return_id}")
    assert [LINKS in page.text for page in (before, asked, methods)] == [False, True, True]
    assert "code" in led_back(await upstream.visitor.submit(methods, "/app/sign-in/password", password=PASSWORD))

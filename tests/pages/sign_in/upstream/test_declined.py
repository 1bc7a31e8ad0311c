"""A person who declines at a provider, or is refused after it, gets back to where they wanted to sign in."""

from __future__ import annotations

import re
from html import unescape

from tests.application import Answer
from tests.pages.sign_in.upstream.test_services import path_of
from tests.world.acme_shop import AcmeShop
from tests.world.authorization import ISSUER, led_back
from tests.world.openid_acme import Acme
from tests.world.upstream import Upstream, parameters_of
from tests.world.visitor import Visitor
from tests.world.world import World


async def declined(upstream: Upstream, path: str) -> Answer:
    """Begin a sign-in, decline at the provider, and return the page that follows."""
    state = parameters_of(await upstream.depart(path))["state"]
    return await upstream.visitor.send("GET", f"/auth/codehost/callback?error=access_denied&state={state}")


def button_of(page: Answer) -> str:
    """Return where the first button of a page leads."""
    return unescape(re.findall(r'<a class="button" href="([^"]*)"', page.text)[0])


async def test_the_page_leads_back_to_the_sign_in_that_keeps_its_way(upstream: Upstream) -> None:
    page = await declined(upstream, "/auth/codehost?return_to=%2Fapp%2Faccount")

    assert page.status == 403
    assert "Sign in in another way" in page.text
    assert button_of(page) == "/app/sign-in?return_to=%2Fapp%2Faccount"


async def test_a_service_that_began_it_is_told_by_the_button_that_cancels(
    upstream: Upstream, acme_shop: AcmeShop
) -> None:
    page = await declined(upstream, path_of(acme_shop))
    sign_in = await upstream.visitor.open(button_of(page))
    back = led_back(await upstream.visitor.submit(sign_in, "/auth/authorize/cancel"), acme_shop.redirect_uri)

    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "of the service", ISSUER)


async def test_who_was_linking_an_account_is_led_back_to_the_accounts(
    world: World, upstream: Upstream, visitor: Visitor
) -> None:
    world.user()
    await visitor.sign_in()
    asked = await visitor.submit(
        await visitor.open("/app/account/identities"), "/app/account/identities/link", provider="codehost"
    )
    link = next(iter(re.findall(r'href="(/auth/codehost\?link=[^"]*)"', asked.text)))

    page = await declined(upstream, link)

    assert button_of(page) == "/app/account/identities"


def language_form_of(page: Answer) -> str:
    """Return the page that the language form of a page shows in another language."""
    return unescape(re.findall(r'name="return_to" value="([^"]*)"', page.text)[0])


async def test_no_page_of_a_refused_answer_carries_what_the_provider_sent(upstream: Upstream, acme: Acme) -> None:
    ways = (
        (upstream.visitor, "/auth/codehost", "/auth/codehost/callback"),
        (acme.visitor, f"/auth/upstream?connection_id={acme.connection_id}", "/auth/upstream/callback"),
    )
    for visitor, path, callback in ways:
        departed = await visitor.send("GET", f"{path}{'&' if '?' in path else '?'}return_to=%2Fapp%2Faccount")
        state = parameters_of(departed.headers["Location"])["state"]
        address = f"{callback}?error=server_error&code=code-of-provider&state={state}"

        failed, over = await visitor.send("GET", address), await visitor.send("GET", address)

        assert (failed.status, over.status) == (502, 400), path
        for page in (failed, over):
            assert state not in page.text
            assert "code-of-provider" not in page.text
            assert "/callback" not in page.text
        assert language_form_of(failed) == button_of(failed) == "/app/sign-in?return_to=%2Fapp%2Faccount"
        assert language_form_of(over) == "/app/sign-in"


async def test_a_sign_in_that_is_over_leads_to_the_sign_in(upstream: Upstream) -> None:
    page = await upstream.visitor.send("GET", "/auth/codehost/callback?code=x&state=y")

    assert (page.status, button_of(page)) == (400, "/app/sign-in")


async def test_a_connection_of_an_organization_leads_back_as_well(acme: Acme) -> None:
    path = f"/auth/upstream?connection_id={acme.connection_id}&return_to=%2Fapp%2Faccount"
    departed = await acme.visitor.send("GET", path)
    state = parameters_of(departed.headers["Location"])["state"]

    page = await acme.visitor.send("GET", f"/auth/upstream/callback?error=access_denied&state={state}")
    closed = await acme.visitor.send("GET", "/auth/upstream?connection_id=x&return_to=%2Fapp%2Faccount")

    assert [page.status, closed.status] == [403, 404]
    assert button_of(page) == button_of(closed) == "/app/sign-in?return_to=%2Fapp%2Faccount"

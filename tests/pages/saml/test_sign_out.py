"""A user signs out at Gatehouse, which notifies the service providers of the session."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from tests.clock import SettableClock
from tests.concurrency import at_once
from tests.pages.saml.logout_steps import index_of, redirected_to, relay_state_of, send
from tests.pages.saml.peers import MEMBER, next_address
from tests.service_provider import posted_form
from tests.world.saml import SamlService, SamlWorld
from tests.world.team import Team
from tests.world.visitor import Visitor


async def test_the_service_providers_are_told(browser: Visitor, saml_shop: SamlService, blog: SamlService) -> None:
    for service in (saml_shop, blog):
        await service.signed_in(browser)

    answer = await browser.submit(await browser.open("/app/sign-out"), "/app/sign-out", is_followed=False)
    answer = await browser.send("GET", answer.headers["Location"])
    for _ in range(2):
        address = next_address(answer)
        service = saml_shop if address.startswith(saml_shop.sp.slo_url) else blog
        told = redirected_to(answer, service.sp.slo_url, "SAMLRequest")
        response = service.sp.logout_response(told.get("ID"))
        answer = await send(browser, service, response, name="SAMLResponse", relay_state=relay_state_of(answer))

    assert answer.headers["Location"] == "/app/sign-out"
    assert saml_shop.world.rows("SELECT id FROM sessions WHERE revoked_at IS NULL") == []


@pytest.mark.long
async def test_a_service_provider_that_takes_posts_is_told_by_a_form(
    browser: Visitor, saml: SamlWorld, team: Team
) -> None:
    service = await saml.service(team.organization_id, "acme", slo_binding="post")
    index = index_of(await service.signed_in(browser))

    page = await browser.submit(await browser.open("/app/sign-out"), "/app/sign-out")
    form = posted_form(page.text)
    response = service.sp.logout_response(form.root.get("ID"))
    answer = await service.post(browser, "slo", response, name="SAMLResponse", relay_state=form.fields["RelayState"])
    last = await browser.open(answer.headers["Location"])

    assert (form.action, form.texts("//samlp:SessionIndex/text()")) == (service.sp.slo_url, [index])
    assert "You are signed out" in last.text


@pytest.mark.long
async def test_a_sign_in_at_the_same_time_leaves_no_session_behind(browser: Visitor, saml_shop: SamlService) -> None:
    for _ in range(5):
        page = await browser.open("/app/sign-out")
        submit = partial(browser.submit, page, "/app/sign-out", is_followed=False)

        await at_once(partial(browser.send, "GET", saml_shop.sso()), submit)

        assert saml_shop.world.rows("SELECT id FROM sessions WHERE revoked_at IS NULL") == []
        await browser.sign_in(MEMBER)


async def test_without_service_providers_the_user_is_signed_out_at_once(browser: Visitor) -> None:
    page = await browser.submit(await browser.open("/app/sign-out"), "/app/sign-out")

    assert "You are signed out" in page.text


async def test_a_logout_of_another_browser_or_an_old_one_is_refused(
    browser: Visitor, saml_shop: SamlService, clock: SettableClock
) -> None:
    await saml_shop.signed_in(browser)
    answer = await browser.submit(await browser.open("/app/sign-out"), "/app/sign-out", is_followed=False)

    other = await Visitor(browser.client).send("GET", answer.headers["Location"])
    clock.now += timedelta(minutes=15)
    late = await browser.send("GET", answer.headers["Location"])

    assert [one.status for one in (other, late)] == [400, 400]

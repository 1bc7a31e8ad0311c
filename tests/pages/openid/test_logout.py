"""A service signs its user out: at once with an ID token, else after asking."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.concurrency import at_once, statuses_of
from tests.world.authorization import led_back, sign_in
from tests.world.builder import EMAIL
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World

GOODBYE = "https://shop.example/bye"


async def tokens_of(visitor: Visitor, party: RelyingParty) -> dict[str, Any]:
    """Sign in to a service, and return its tokens."""
    party.set(post_logout_redirect_uris=[GOODBYE])
    return (await party.redeem((await sign_in(visitor, party))["code"])).json


def logout_address(**parameters: str) -> str:
    """Return the address to which a service sends a browser to sign out."""
    return f"/auth/logout?{urlencode(parameters)}"


async def test_with_an_id_token_the_browser_is_signed_out_at_once_and_led_back(
    shop: RelyingParty, visitor: Visitor
) -> None:
    tokens = await tokens_of(visitor, shop)

    answer = await visitor.send(
        "GET", logout_address(id_token_hint=tokens["id_token"], post_logout_redirect_uri=GOODBYE, state="s-2")
    )

    assert led_back(answer, GOODBYE) == {"state": "s-2"}
    assert not shop.is_live(tokens)
    assert not visitor.has_session


async def test_an_id_token_is_a_hint_also_when_it_has_expired(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    tokens = await tokens_of(visitor, shop)
    world.clock.advance(timedelta(hours=2))

    await visitor.send("GET", logout_address(id_token_hint=tokens["id_token"]))

    assert not visitor.has_session


@pytest.mark.parametrize("hint", ["", "nonsense", "access_token", "refresh_token"])
async def test_without_a_valid_id_token_the_user_is_asked(shop: RelyingParty, visitor: Visitor, hint: str) -> None:
    tokens = await tokens_of(visitor, shop)
    parameters = {"client_id": str(shop.client_id), "post_logout_redirect_uri": GOODBYE, "state": "s-2"}

    asked = await visitor.send("GET", logout_address(id_token_hint=tokens.get(hint, hint), **parameters))
    was_live = shop.is_live(tokens)
    forged = await visitor.submit(asked, "/auth/logout/confirm", headers={"Sec-Fetch-Site": "cross-site"})
    answer = await visitor.submit(asked, "/auth/logout/confirm")

    assert EMAIL in asked.text
    assert "Shop" in asked.text
    assert (was_live, forged.status) == (True, 403)
    assert led_back(answer, GOODBYE) == {"state": "s-2"}
    assert not shop.is_live(tokens)


async def test_the_id_token_of_another_user_signs_nobody_out(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    own = await tokens_of(visitor, shop)
    world.user("eve@example.com")
    attacker = type(visitor)(visitor.client, "10.9.9.9")
    foreign = (await shop.redeem((await sign_in(attacker, shop, email="eve@example.com"))["code"])).json

    asked = await visitor.send("GET", logout_address(id_token_hint=foreign["id_token"]))

    assert "/auth/logout/confirm" in asked.text
    assert shop.is_live(own)


async def test_a_browser_without_a_session_ends_the_session_that_the_id_token_names(
    shop: RelyingParty, visitor: Visitor
) -> None:
    tokens = await tokens_of(visitor, shop)
    visitor.cookies.clear()

    await visitor.send("GET", logout_address(id_token_hint=tokens["id_token"]))

    assert not shop.is_live(tokens)


async def test_only_an_address_registered_for_it_is_followed(
    shop: RelyingParty, visitor: Visitor, subtests: pytest.Subtests
) -> None:
    tokens = await tokens_of(visitor, shop)

    for address in (
        "https://evil.example/",
        "https://shop.example/bye/",
        "https://shop.example/callback",
        "//evil.example",
    ):
        with subtests.test(address=address):
            hinted = await visitor.send(
                "GET", logout_address(id_token_hint=tokens["id_token"], post_logout_redirect_uri=address)
            )
            unnamed = await visitor.send("GET", logout_address(post_logout_redirect_uri=GOODBYE))

            assert (hinted.status, unnamed.status) == (400, 400)
            assert shop.is_live(tokens)


async def test_the_page_of_an_address_that_is_not_registered_names_it_and_signs_out(
    shop: RelyingParty, visitor: Visitor
) -> None:
    tokens = await tokens_of(visitor, shop)
    wrong = "https://shop.example/<bye>?state=1\N{RIGHT-TO-LEFT OVERRIDE}"

    page = await visitor.send(
        "GET", logout_address(client_id=str(shop.client_id), post_logout_redirect_uri=wrong, ui_locales="de")
    )
    signed_out = await visitor.submit(page, "/auth/logout/confirm")

    assert page.status == 400
    assert "https://shop.example/&lt;bye&gt;?state=1…" in page.text
    assert "Danach bleiben Sie hier." in page.text
    assert not shop.is_live(tokens)
    assert "abgemeldet" in signed_out.text
    again = await visitor.send("GET", logout_address(client_id=str(shop.client_id), post_logout_redirect_uri=wrong))
    assert "You are signed out" in again.text


async def test_a_program_reads_that_the_address_is_not_registered(shop: RelyingParty, visitor: Visitor) -> None:
    address = logout_address(client_id=str(shop.client_id), post_logout_redirect_uri="https://evil.example/")

    answer = await visitor.send("GET", address, headers={"Accept": "application/json"})

    assert answer.status == 400
    assert "post_logout_redirect_uri" in answer.json["error"]


async def test_another_client_than_that_of_the_id_token_is_refused(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    other = insert_relying_party(world, slug="evil", service_slug="evil")
    tokens = await tokens_of(visitor, shop)

    answer = await visitor.send("GET", logout_address(id_token_hint=tokens["id_token"], client_id=str(other.client_id)))

    assert answer.status == 400


async def test_the_browser_loads_the_pages_of_the_services_whose_sessions_end(
    shop: RelyingParty, visitor: Visitor
) -> None:
    shop.set(frontchannel_logout_uri="https://shop.example/out?x=1")
    tokens = await tokens_of(visitor, shop)

    answer = await visitor.send(
        "GET", logout_address(id_token_hint=tokens["id_token"], post_logout_redirect_uri=GOODBYE)
    )

    session_id = claims_of(tokens["id_token"])["sid"]
    assert f"https://shop.example/out?x=1&amp;iss=http%3A%2F%2Flocalhost%3A8000&amp;sid={session_id}" in answer.text
    assert "frame-src https://shop.example" in answer.headers["Content-Security-Policy"]
    assert led_back(answer, GOODBYE) == {}


async def post(visitor: Visitor, **fields: str) -> str:
    """Send the form of a service, with which a browser sends no cookies, and return where it redirects."""
    answer = await visitor.client.post(
        "/auth/logout",
        data=urlencode(fields).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert answer.status == 303
    assert all(value not in answer.headers["Location"] for name, value in fields.items() if name == "id_token_hint")
    return answer.headers["Location"]


async def test_a_form_with_an_id_token_signs_out_at_once(shop: RelyingParty, visitor: Visitor) -> None:
    tokens = await tokens_of(visitor, shop)

    address = await post(visitor, id_token_hint=tokens["id_token"], post_logout_redirect_uri=GOODBYE, state="s-2")
    was_live = shop.is_live(tokens)
    answers = await at_once(*[partial(visitor.send, "GET", address)] * 3)

    assert (was_live, shop.is_live(tokens), visitor.has_session) == (True, False, False)
    assert statuses_of(answers) == [303, 400, 400]
    [answer] = [one for one in answers if one.status == 303]
    assert led_back(answer, GOODBYE) == {"state": "s-2"}


async def test_a_form_without_a_valid_id_token_asks(shop: RelyingParty, visitor: Visitor) -> None:
    tokens = await tokens_of(visitor, shop)

    asked = await visitor.send("GET", await post(visitor, id_token_hint="nonsense", client_id=str(shop.client_id)))

    assert "/auth/logout/confirm" in asked.text
    assert shop.is_live(tokens)


async def test_the_id_of_another_kept_page_is_no_posted_request(shop: RelyingParty, visitor: Visitor) -> None:
    tokens = await tokens_of(visitor, shop)
    claims = claims_of(tokens["id_token"])
    named = {name: str(claims[name]) for name in ("sid", "sub", "aud")}
    # Anyone can make a page that asks for a sign-in keep its own address.
    kept = await type(visitor)(visitor.client).send("GET", f"/app/account?{urlencode(named)}")
    return_id = kept.headers["Location"].partition("return_id=")[2]

    answer = await visitor.send("GET", f"/auth/logout?request_id={return_id}")

    assert (bool(return_id), answer.status) == (True, 400)
    assert shop.is_live(tokens)


async def test_signing_out_at_gatehouse_loads_the_pages_of_the_services(shop: RelyingParty, visitor: Visitor) -> None:
    shop.set(frontchannel_logout_uri="https://shop.example/out")
    tokens = await tokens_of(visitor, shop)

    answer = await visitor.submit(await visitor.open("/app/sign-out"), "/app/sign-out")

    assert (
        f"https://shop.example/out?iss=http%3A%2F%2Flocalhost%3A8000&amp;sid={claims_of(tokens['id_token'])['sid']}"
        in (answer.text)
    )
    assert "frame-src https://shop.example" in answer.headers["Content-Security-Policy"]
    assert led_back(answer, "/app/sign-out") == {}
    assert not shop.is_live(tokens)


async def test_an_answer_after_the_session_has_ended_leads_back(shop: RelyingParty, visitor: Visitor) -> None:
    shop.set(post_logout_redirect_uris=[GOODBYE])
    [token, *_] = [form.fields["form_token"] for form in forms_of(await visitor.open("/app/sign-in"))]
    fields = {"form_token": token, "client_id": str(shop.client_id), "post_logout_redirect_uri": GOODBYE}

    assert led_back(await visitor.post("/auth/logout/confirm", fields, is_followed=False), GOODBYE) == {}


async def test_a_hint_at_a_session_that_has_ended_does_nothing(shop: RelyingParty, visitor: Visitor) -> None:
    tokens = await tokens_of(visitor, shop)
    await shop.post("/auth/revoke", {"token": tokens["refresh_token"]})
    visitor.cookies.clear()

    answer = await visitor.send(
        "GET", logout_address(id_token_hint=tokens["id_token"], post_logout_redirect_uri=GOODBYE)
    )

    assert led_back(answer, GOODBYE) == {}


@pytest.mark.parametrize("client_id", ["nonsense", "0196c9f2-8f3a-7e11-b0aa-bb00cc11dd22"])
async def test_an_unknown_client_is_refused(shop: RelyingParty, visitor: Visitor, client_id: str) -> None:
    assert (await visitor.send("GET", logout_address(client_id=client_id))).status == 400

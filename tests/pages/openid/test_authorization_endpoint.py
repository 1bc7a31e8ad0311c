"""The authorization endpoint answers with a code, a sign-in, a question, or a refusal for the service."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import trio

from adapters.postgres.driver.connection import RawConnection
from core.errors import Unauthorized
from core.openid import authorization_endpoint
from core.openid.answers import Visitor as Visited
from core.sessions import browser_sessions
from tests.application import Answer
from tests.concurrency import at_once, statuses_of
from tests.waiting import waiting_for_a_lock
from tests.world.authorization import ISSUER, address_of, led_back, sign_in
from tests.world.builder import EMAIL, PASSWORD
from tests.world.relying_party import RelyingParty
from tests.world.second_factors import Person
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor, forms_of
from tests.world.world import World


async def test_a_user_signs_in_on_the_way_and_the_service_gets_a_code(shop: RelyingParty, visitor: Visitor) -> None:
    back = await sign_in(visitor, shop)
    tokens = (await shop.redeem(back["code"])).json

    assert (back["state"], back["iss"]) == ("s-1", ISSUER)
    identity = claims_of(tokens["id_token"])
    assert (identity["nonce"], identity["email"], identity["amr"]) == ("n-1", EMAIL, ["pwd"])
    assert identity["acr"] == "urn:gatehouse:acr:one-factor"


async def test_the_pages_of_the_sign_in_name_the_service(shop: RelyingParty, visitor: Visitor) -> None:
    assert "Shop" in (await visitor.open(address_of(shop))).text


async def test_the_first_visit_with_a_session_asks_and_the_next_does_not(shop: RelyingParty, visitor: Visitor) -> None:
    await visitor.sign_in()
    silent = led_back(await visitor.send("GET", address_of(shop, prompt="none")))

    question = await visitor.open(address_of(shop))
    allowed = led_back(await visitor.submit(question, "/auth/authorize/allow"))
    again = led_back(await visitor.send("GET", address_of(shop)))

    assert silent["error"] == "consent_required"
    assert "Acme" in question.text
    assert EMAIL in question.text
    assert "It will see your name and your email address" in question.text
    assert "Until you disconnect the application" in question.text
    assert allowed["code"] != again["code"]
    assert "code" in led_back(await visitor.send("GET", address_of(shop, prompt="none")))


async def test_a_member_of_the_organization_is_not_asked(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    world.member(shop.organization_id, world.user_id(EMAIL))
    await visitor.sign_in()

    assert "code" in led_back(await visitor.send("GET", address_of(shop)))


async def test_who_was_linked_by_the_organization_alone_is_asked(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.link(shop.organization_id, shop.service_id, world.user_id(EMAIL))
    await visitor.sign_in()

    assert (await visitor.send("GET", address_of(shop))).status == 200


async def test_a_user_who_declines_goes_back_without_a_code(shop: RelyingParty, visitor: Visitor) -> None:
    await visitor.sign_in()
    question = await visitor.open(address_of(shop))

    back = led_back(await visitor.submit(question, "/auth/authorize/deny"))

    assert (back["error"], back["state"], back["iss"]) == ("access_denied", "s-1", ISSUER)
    assert (await visitor.submit(question, "/auth/authorize/allow")).status == 400


async def test_an_answer_counts_once_also_when_it_is_sent_twice_at_once(shop: RelyingParty, visitor: Visitor) -> None:
    await visitor.sign_in()
    question = await visitor.open(address_of(shop))

    answers = await at_once(*[partial(visitor.submit, question, "/auth/authorize/allow")] * 3)

    assert statuses_of(answers) == [200, 400, 400]


async def test_an_answer_is_refused_when_another_comes_before_it(
    shop: RelyingParty, visitor: Visitor, world: World, raw_connection: RawConnection
) -> None:
    await visitor.sign_in()
    question = await visitor.open(address_of(shop))
    answers: list[Answer] = []

    async def allow() -> None:
        answers.append(await visitor.submit(question, "/auth/authorize/allow"))

    async with trio.open_nursery() as nursery:
        with raw_connection.transaction():
            raw_connection.execute("UPDATE authorization_requests SET used_at = now()")
            nursery.start_soon(allow)
            await waiting_for_a_lock(world.connection)

    assert [answer.status for answer in answers] == [400]


async def test_another_site_cannot_answer_for_the_user(shop: RelyingParty, visitor: Visitor) -> None:
    await visitor.sign_in()
    question = await visitor.open(address_of(shop))

    forged = await visitor.submit(question, "/auth/authorize/allow", headers={"Sec-Fetch-Site": "cross-site"})
    without_token = await visitor.submit(question, "/auth/authorize/allow", form_token="")

    assert (forged.status, without_token.status) == (403, 403)


async def test_the_prompt_none_never_asks(shop: RelyingParty, visitor: Visitor) -> None:
    back = led_back(await visitor.send("GET", address_of(shop, prompt="none")))

    assert (back["error"], back["state"], back["iss"]) == ("login_required", "s-1", ISSUER)


@pytest.mark.parametrize("parameters", [{"prompt": "login"}, {"max_age": "0"}, {"max_age": "60"}])
async def test_a_service_may_ask_for_a_newer_sign_in(
    shop: RelyingParty, visitor: Visitor, world: World, parameters: dict[str, str]
) -> None:
    await sign_in(visitor, shop)
    world.clock.advance(timedelta(seconds=90))

    silent = led_back(await visitor.send("GET", address_of(shop, **(parameters | {"prompt": "none"}))))
    asked = await visitor.open(address_of(shop, **parameters))
    back = led_back(await visitor.submit(asked, "/app/sign-in-again", password=PASSWORD))

    if "max_age" in parameters:
        assert silent["error"] == "login_required"
    identity = claims_of((await shop.redeem(back["code"])).json["id_token"])
    assert identity["auth_time"] == int(world.clock().timestamp())


async def test_a_session_that_is_new_enough_is_used(shop: RelyingParty, visitor: Visitor) -> None:
    await sign_in(visitor, shop)

    assert "code" in led_back(await visitor.send("GET", address_of(shop, max_age="60")))


async def test_opening_the_way_back_without_signing_in_does_not_do(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await sign_in(visitor, shop)
    world.clock.advance(timedelta(seconds=90))
    asked = await visitor.send("GET", address_of(shop, prompt="login"))

    skipped = await visitor.open(asked.headers["Location"].replace("/app/sign-in-again", "/app/sign-in"))

    assert "/app/sign-in-again" in skipped.text


async def test_a_sign_in_for_something_else_is_no_answer_for_a_service(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    asked = await visitor.send("GET", address_of(shop))
    await visitor.sign_in()
    world.clock.advance(timedelta(minutes=2))

    assert "/auth/authorize/allow" in (await visitor.open(asked.headers["Location"])).text


async def test_the_account_is_shown_when_the_service_expects_another_one(shop: RelyingParty, visitor: Visitor) -> None:
    await sign_in(visitor, shop)

    for parameters in ({"login_hint": "other@example.com"}, {"prompt": "select_account"}, {"prompt": "consent"}):
        assert EMAIL in (await visitor.open(address_of(shop, **parameters))).text
    assert "code" in led_back(await visitor.send("GET", address_of(shop, login_hint=EMAIL)))


async def test_two_factors_are_asked_for_where_the_service_prefers_them(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await sign_in(visitor, shop)
    address = address_of(shop, acr_values="urn:gatehouse:acr:two-factors urn:gatehouse:acr:one-factor")

    asked = await visitor.open(address)
    back = led_back(await visitor.submit(asked, "/app/sign-in-again", password=PASSWORD))

    assert "/app/sign-in-again" in asked.text
    identity = claims_of((await shop.redeem(back["code"])).json["id_token"])
    assert identity["acr"] == "urn:gatehouse:acr:one-factor"


async def test_a_pushed_request_is_used_once(shop: RelyingParty, visitor: Visitor) -> None:
    await sign_in(visitor, shop)
    parameters = {name: values[0] for name, values in parse_qs(urlsplit(address_of(shop)).query).items()}
    request_uri = (await shop.post("/auth/par", parameters)).json["request_uri"]
    address = f"/auth/authorize?{urlencode({'client_id': str(shop.client_id), 'request_uri': request_uri})}"

    answers = await at_once(*[partial(visitor.send, "GET", address)] * 3)

    assert statuses_of(answers) == [303, 400, 400]
    [first] = [answer for answer in answers if answer.status == 303]
    assert led_back(first)["state"] == "s-1"


async def test_the_parameters_may_come_as_a_form(shop: RelyingParty, visitor: Visitor) -> None:
    query = urlsplit(address_of(shop, prompt="none")).query

    answer = await visitor.client.post(
        "/auth/authorize", data=query.encode(), headers={"Content-Type": "application/x-www-form-urlencoded"}
    )

    assert answer.status == 303
    assert led_back(await visitor.send("GET", answer.headers["Location"]))["error"] == "login_required"


async def test_a_code_of_one_service_and_the_verifier_of_another_fit_nothing(
    shop: RelyingParty, app: RelyingParty, visitor: Visitor
) -> None:
    """A mix-up: `iss` and the client binding show the service that the code is not for it."""
    back = await sign_in(visitor, shop)

    answer = await app.redeem(back["code"])

    assert (answer.status, answer.json["error"]) == (400, "invalid_grant")


async def test_the_session_of_the_service_ends_with_that_of_the_browser(shop: RelyingParty, visitor: Visitor) -> None:
    tokens: dict[str, Any] = (await shop.redeem((await sign_in(visitor, shop))["code"])).json
    page = await visitor.open("/app/sign-out")
    await visitor.submit(page, "/app/sign-out")

    assert not shop.is_live(tokens)


async def test_the_second_factor_of_the_sign_in_reaches_the_service(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    person = Person(world, world.user_id(EMAIL), EMAIL, token=(await world.sign_in()).access_token)
    await person.turn_mfa_on()
    person.next_step()
    asked = await visitor.sign_in(path=address_of(shop))

    back = led_back(await visitor.submit(asked, "/app/second-factor", code=person.code()))

    identity = claims_of((await shop.redeem(back["code"])).json["id_token"])
    assert identity["acr"] == "urn:gatehouse:acr:two-factors"


async def test_a_session_without_a_needed_second_factor_signs_in_again(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await sign_in(visitor, shop)
    person = Person(world, world.user_id(EMAIL), EMAIL, token=(await world.sign_in()).access_token)
    await person.turn_mfa_on()

    assert "/app/sign-in-again" in (await visitor.open(address_of(shop))).text


async def test_the_sign_in_page_proposes_the_address_that_the_service_expects(
    shop: RelyingParty, visitor: Visitor
) -> None:
    proposed = await visitor.open(address_of(shop, login_hint="ada+shop@example.com"))
    other = await visitor.open(address_of(shop, login_hint="ada"))

    assert 'value="ada+shop@example.com"' in proposed.text
    assert forms_of(other)[0].fields["email"] == ""


async def test_a_hint_that_is_no_address_is_ignored(shop: RelyingParty, visitor: Visitor) -> None:
    await sign_in(visitor, shop)

    assert "code" in led_back(await visitor.send("GET", address_of(shop, login_hint="nonsense")))


async def test_an_account_that_is_deactivated_meanwhile_gets_no_code(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await sign_in(visitor, shop)
    database = world.installation.database
    [secret] = [value for name, value in visitor.cookies.items() if "session" in name]
    browser = await database.transact(browser_sessions.find, secret)
    parameters = {name: values[0] for name, values in parse_qs(urlsplit(address_of(shop)).query).items()}
    world.deactivate()

    with pytest.raises(Unauthorized):
        await database.transact(
            authorization_endpoint.begin, shop.client_id, parameters, Visited(browser=browser), issuer=ISSUER
        )


async def test_an_account_whose_address_is_not_proved_any_more_gets_no_code(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    await sign_in(visitor, shop)
    world.set_unproved_address(EMAIL, EMAIL)

    answer = await visitor.send("GET", address_of(shop))

    assert (answer.status, answer.headers.get("Location")) == (401, None)

"""Signing in by JSON, in every way, to a service with customers: the answer asks for which customer, as at a login."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from tests.application import Answer
from tests.shown_text import shows
from tests.world.builder import EMAIL, Service
from tests.world.passkeys import Keyring
from tests.world.second_factors import insert_person
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor
from tests.world.world import World, assert_refused

AT_SHOP: dict[str, Any] = {"org_slug": "vendor", "service_slug": "shop"}


@pytest.fixture
def shop(world: World) -> Service:
    """A service of a vendor, which has customers."""
    service = world.service(world.organization("vendor"), "shop")
    world.serve_customers(service, "editor")
    return service


def _customer(world: World, service: Service, slug: str, *, is_confirmed: bool = True) -> UUID:
    organization_id = world.organization(slug)
    world.member(organization_id, world.user_id(EMAIL), is_confirmed=is_confirmed)
    return world.customer(service, organization_id)


async def _choose(world: World, asked: Answer, customer: object, **others: Any) -> Answer:
    assert_refused(asked, 409, "CUSTOMER_REQUIRED")
    body = {"customer_token": asked.json["customer_token"], "customer": customer, **others}
    return await world.client.post("/api/auth/customer", body=body)


async def _mailed(world: World, **others: Any) -> tuple[str, str, Mapping[str, str]]:
    """Request a mail; return the challenge, and the token of the link, and the values of the mail."""
    await world.mails()
    answer = await world.client.post("/api/auth/magic-link/request", body={"email": EMAIL, **AT_SHOP, **others})
    assert answer.status == 200, answer.text
    values = (await world.mail()).values
    return answer.json["challenge_id"], values["token"], values


async def _verify(world: World, **body: Any) -> Answer:
    return await world.client.post("/api/auth/magic-link/verify", body=body)


@pytest.mark.parametrize("way", ["link", "code"])
async def test_a_mailed_link_or_code_asks_and_takes_the_customer(shop: Service, world: World, way: str) -> None:
    world.user(EMAIL)
    customer_id = _customer(world, shop, "globex")

    async def signed_in(**named: Any) -> Answer:
        challenge_id, token, values = await _mailed(world)
        proof = {"token": token} if way == "link" else {"challenge_id": challenge_id, "code": values["code"]}
        return await _verify(world, **proof, **AT_SHOP, **named)

    asked = await signed_in()
    chosen = await _choose(world, asked, str(customer_id))
    again = await signed_in()
    named = await signed_in(customer="globex")
    unknown = await signed_in(customer="nowhere")

    assert asked.json["customers"][0]["slug"] == "globex"
    for answer in (chosen, again, named):
        assert claims_of(answer.json["access_token"])["customer_id"] == str(customer_id)
    assert_refused(unknown, 403, "FORBIDDEN")


async def test_a_link_that_anyone_can_request_confirms_no_customer(shop: Service, world: World) -> None:
    world.user(EMAIL)
    globex, initech = _customer(world, shop, "globex", is_confirmed=False), _customer(world, shop, "initech")

    _, token, _ = await _mailed(world, customer="globex")
    asked = await _verify(world, token=token)
    is_confirmed = world.value(
        "SELECT confirmed_at IS NOT NULL FROM memberships m JOIN organizations o"
        " ON o.id = m.organization_id WHERE o.slug = 'globex'"
    )
    chosen = await _choose(world, asked, str(globex))
    _, token, values = await _mailed(world, customer="globex")
    known = await _verify(world, token=token)
    _, token, _ = await _mailed(world, customer="globex")
    other = await _verify(world, token=token, **AT_SHOP, customer=str(initech))

    assert [one["id"] for one in asked.json["customers"]] == [str(globex)]
    assert not is_confirmed
    assert not shows(str(values), "Globex")
    assert claims_of(chosen.json["access_token"])["customer"] == "globex"
    assert claims_of(known.json["access_token"])["customer"] == "globex"
    assert claims_of(other.json["access_token"])["customer"] == "initech"


async def test_the_page_of_a_link_names_no_customer_and_its_code_keeps_it(shop: Service, world: World) -> None:
    world.user(EMAIL)
    visitor = Visitor(world.client)
    _customer(world, shop, "globex")
    initech = _customer(world, shop, "initech")
    _, token, _ = await _mailed(world, customer="initech")

    shown = await visitor.open(f"/auth/magic-link?token={token}")
    pressed = await visitor.submit(shown, "/auth/magic-link")
    [code] = set(re.findall(r"[0-9a-f]{8}-[0-9a-f-]{27}", pressed.text)) - {token}
    asked = await _verify(world, token=code)

    assert not shows(shown.text + pressed.text, "Initech")
    assert [one["id"] for one in asked.json["customers"]] == [str(initech)]


async def test_a_customer_of_no_service_and_a_long_one_are_invalid(shop: Service, world: World) -> None:
    world.user(EMAIL)

    for path, body in (
        ("/api/auth/magic-link/request", {"email": EMAIL}),
        ("/api/auth/magic-link/verify", {"token": "6f1d2c1e-9a3b-4c5d-8e7f-0a1b2c3d4e5f"}),
        ("/api/auth/passkeys/authenticate/start", {}),
    ):
        without = await world.client.post(path, body={**body, "customer": "globex"})
        long = await world.client.post(path, body={**body, **AT_SHOP, "customer": "g" * 101})
        assert_refused(without, 400, "BAD_REQUEST")
        assert_refused(long, 400, "BAD_REQUEST")


async def test_a_passkey_asks_and_takes_the_customer(shop: Service, world: World, keyring: Keyring) -> None:
    await keyring.sign_up()
    authenticator = await keyring.registered()
    customer_id = _customer(world, shop, "globex")

    asked = await keyring.sign_in(authenticator, **AT_SHOP)
    chosen = await _choose(world, asked, "globex")
    named = await keyring.sign_in(authenticator, **AT_SHOP, customer=str(customer_id))
    unknown = await keyring.sign_in(authenticator, **AT_SHOP, customer="nowhere")

    for answer in (chosen, named):
        claims = claims_of(answer.json["access_token"])
        assert (claims["customer"], "mfa" in claims["amr"]) == ("globex", True)
    assert_refused(unknown, 403, "FORBIDDEN")


async def test_the_second_factor_comes_first_and_the_customer_is_kept_for_it(shop: Service, world: World) -> None:
    person = insert_person(world)
    await person.turn_mfa_on()
    organization_id = world.organization("globex", mfa_required=True)
    world.member(organization_id, person.id)
    customer_id = world.customer(shop, organization_id)

    async def verified(**named: Any) -> Answer:
        person.next_step()
        token = await person.preauth_token(**AT_SHOP, **named)
        return await world.client.post(
            "/api/auth/mfa/verify", body={"preauth_token": token, "code": person.code(), "trust_device": True}
        )

    asked = await verified()
    chosen = await _choose(world, asked, str(customer_id))
    named = await verified(customer="globex")
    for answer in (chosen, named):
        claims = claims_of(answer.json["access_token"])
        assert (claims["customer"], "mfa" in claims["amr"]) == ("globex", True)


async def test_of_a_link_with_a_second_factor_the_customer_is_asked_for_after_it(shop: Service, world: World) -> None:
    person = insert_person(world)
    await person.turn_mfa_on()
    _customer(world, shop, "globex", is_confirmed=False)
    _, token, _ = await _mailed(world, customer="globex")

    pending = await _verify(world, token=token)
    person.next_step()
    asked = await world.client.post(
        "/api/auth/mfa/verify", body={"preauth_token": pending.json["preauth_token"], "code": person.code()}
    )

    assert claims_of((await _choose(world, asked, "globex")).json["access_token"])["customer"] == "globex"

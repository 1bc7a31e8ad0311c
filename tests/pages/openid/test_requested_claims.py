"""A service asks for claims by name, for the ID token or the user information (OpenID Connect Core, 5.5)."""

from __future__ import annotations

import json
from typing import Any

from core.openid import scopes
from tests.world.authorization import address_of, led_back, push, sign_in
from tests.world.builder import EMAIL
from tests.world.relying_party import RelyingParty
from tests.world.second_factors import Person
from tests.world.signing_in import claims_of
from tests.world.visitor import Visitor
from tests.world.world import World

OTHER = "grace@example.com"


def asked(**members: Any) -> str:
    """Return the parameter."""
    return json.dumps(members)


async def test_claims_are_given_where_they_were_asked_for_also_after_a_refresh(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    claims = asked(
        userinfo={"email": {"essential": True}, "acr": None, "auth_time": None, "phone_number": {"essential": True}},
        id_token={"preferred_username": None},
    )
    back = await sign_in(visitor, shop, scope="openid", claims=claims)
    tokens = (await shop.redeem(back["code"])).json

    for _ in range(2):
        info = (await world.client.get("/auth/userinfo", token=tokens["access_token"])).json
        id_token = claims_of(tokens["id_token"])

        assert info.keys() == {"sub", "email", "acr", "auth_time"}
        assert (info["email"], info["acr"], info["auth_time"]) == (EMAIL, scopes.ONE_FACTOR, id_token["auth_time"])
        assert (id_token["preferred_username"], "email" in id_token) == (EMAIL, False)
        tokens = (await shop.token("refresh_token", refresh_token=tokens["refresh_token"])).json


def set_name(world: World) -> None:
    """Give the user a name, so that no page asks for one."""
    world.connection.execute("UPDATE users SET name = 'Ada' WHERE email = %s", (EMAIL,))


async def test_what_is_asked_for_by_name_is_added_to_what_scopes_open(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    set_name(world)
    address = await push(shop, scope="openid profile", claims=asked(userinfo={"email_verified": None}))
    tokens = (await shop.redeem(led_back(await visitor.sign_in(path=address))["code"])).json

    info = (await world.client.get("/auth/userinfo", token=tokens["access_token"])).json

    assert (info["preferred_username"], info["email_verified"], "email" in info) == (EMAIL, True, False)


async def test_without_the_scope_openid_nothing_is_given(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    set_name(world)
    claims = asked(userinfo={"email": None}, id_token={"email": None})
    tokens = (await shop.redeem((await sign_in(visitor, shop, scope="profile", claims=claims))["code"])).json

    answer = await world.client.get("/auth/userinfo", token=tokens["access_token"])

    assert (answer.status, answer.json["error"]) == (403, "insufficient_scope")
    assert "id_token" not in tokens


async def test_another_user_than_that_of_sub_is_not_signed_in(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    other_id = world.user(OTHER)
    own, foreign = (asked(id_token={"sub": {"value": str(user_id)}}) for user_id in (world.user_id(EMAIL), other_id))

    right = await sign_in(visitor, shop, claims=own)
    wrong = [led_back(await visitor.send("GET", address_of(shop, claims=foreign))) for _ in range(2)]

    assert "code" in right
    assert [back["error"] for back in wrong] == ["login_required"] * 2


async def test_an_essential_class_is_met_or_the_service_is_told(
    shop: RelyingParty, visitor: Visitor, world: World
) -> None:
    world.member(shop.organization_id, world.user_id(EMAIL))
    two = asked(id_token={"acr": {"essential": True, "value": scopes.TWO_FACTORS}})
    one = asked(id_token={"acr": {"essential": True, "value": scopes.ONE_FACTOR}})
    unknown = asked(id_token={"acr": {"essential": True, "value": "urn:mace:incommon:iap:silver"}})
    wished = asked(id_token={"acr": {"value": scopes.TWO_FACTORS}})

    without = await sign_in(visitor, shop, claims=two)
    silent = led_back(await visitor.send("GET", address_of(shop, claims=two, prompt="none")))
    unmet = led_back(await visitor.send("GET", address_of(shop, claims=unknown)))
    met = led_back(await visitor.send("GET", address_of(shop, claims=one)))

    assert without["error"] == unmet["error"] == "unmet_authentication_requirements"
    assert silent["error"] == "login_required"
    assert claims_of((await shop.redeem(met["code"])).json["id_token"])["acr"] == scopes.ONE_FACTOR
    assert "Sign in again" in (await visitor.open(address_of(shop, claims=wished))).text


async def test_a_user_with_two_factors_meets_it(shop: RelyingParty, visitor: Visitor, world: World) -> None:
    person = Person(world, world.user_id(EMAIL), EMAIL)
    await person.turn_mfa_on()
    acr = {"essential": True, "value": scopes.TWO_FACTORS}

    code = await visitor.sign_in(path=address_of(shop, claims=asked(id_token={"acr": acr})))
    back = led_back(await visitor.submit(code, "/app/second-factor", code=person.code()))

    assert claims_of((await shop.redeem(back["code"])).json["id_token"])["acr"] == scopes.TWO_FACTORS


async def test_what_is_no_json_object_is_refused(shop: RelyingParty, visitor: Visitor) -> None:
    for claims in ("{", "[" * 1999):
        back = led_back(await visitor.send("GET", address_of(shop, claims=claims)))
        pushed = await shop.post("/auth/par", {"response_type": "code", "redirect_uri": "x", "claims": claims})

        assert back["error"] == "invalid_request"
        assert pushed.status == 400

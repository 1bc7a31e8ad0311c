"""An access token opens the claims of its scopes, and nothing more."""

from __future__ import annotations

from entrypoints.web.input.decoding import QUERY_FIELDS_MAX
from tests.world.builder import EMAIL
from tests.world.relying_party import RelyingParty
from tests.world.world import World


async def test_the_claims_are_those_of_the_scopes(shop: RelyingParty, world: World) -> None:
    bare = await shop.tokens(scope="openid")
    full = await shop.tokens(scope="openid email profile")

    assert set((await world.client.get("/auth/userinfo", token=bare["access_token"])).json) == {"sub"}
    answer = (await world.client.post("/auth/userinfo", token=full["access_token"])).json
    assert answer == {
        "sub": str(world.user_id(EMAIL)),
        "email": EMAIL,
        "email_verified": True,
        "preferred_username": EMAIL,
    }


async def test_without_the_scope_openid_it_is_refused(shop: RelyingParty, world: World) -> None:
    answer = await world.client.get("/auth/userinfo", token=(await shop.tokens(scope="email"))["access_token"])

    assert (answer.status, answer.json["error"]) == (403, "insufficient_scope")


async def test_a_token_of_the_json_interface_shows_all_claims(shop: RelyingParty, world: World) -> None:
    tokens = await world.sign_in()

    assert (await world.client.get("/auth/userinfo", token=tokens.access_token)).json["email"] == EMAIL


async def test_no_other_token_is_taken(shop: RelyingParty, world: World) -> None:
    tokens = await shop.tokens()

    for token in (tokens["id_token"], tokens["refresh_token"], "nonsense"):
        answer = await world.client.get("/auth/userinfo", token=token)
        assert (answer.status, answer.json["error"]) == (401, "invalid_token")
        assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    assert (await world.client.get(f"/auth/userinfo?access_token={tokens['access_token']}")).status == 401


async def test_a_revoked_token_is_refused(shop: RelyingParty, world: World) -> None:
    tokens = await shop.tokens()
    await shop.post("/auth/revoke", {"token": tokens["access_token"]})

    assert (await world.client.get("/auth/userinfo", token=tokens["access_token"])).status == 401


async def test_no_token_is_taken_from_an_address(shop: RelyingParty, world: World) -> None:
    token = (await shop.tokens())["access_token"]

    answers = [
        await world.client.get(f"/auth/userinfo?access_token={token}"),
        await world.client.post(f"/auth/userinfo?access_token={token}"),
        await world.client.get(f"/api/user?access_token={token}"),
    ]

    assert [answer.status for answer in answers] == [401, 401, 401]
    assert (await world.client.get("/auth/token?grant_type=client_credentials")).status == 405


async def test_a_form_carries_the_token_to_this_endpoint_alone(shop: RelyingParty, world: World) -> None:
    token = (await shop.tokens())["access_token"]

    answer = await shop.send("/auth/userinfo", {"access_token": token})
    refused = [
        await shop.send("/auth/userinfo", {"access_token": token}, {"Authorization": f"Bearer {token}"}),
        await shop.send("/auth/userinfo", {"access_token": [token, token]}),
    ]

    assert (answer.status, answer.json["email"]) == (200, EMAIL)
    assert [(one.status, one.json["error"]) for one in refused] == [(400, "invalid_request")] * 2
    for fields in ({}, {"access_token": ""}, {"access_token": "nonsense"}, {"other": token}):
        assert (await shop.send("/auth/userinfo", fields)).status == 401
    assert (await shop.send("/auth/userinfo", {"x": "1"}, {"Authorization": f"Bearer {token}"})).status == 200
    assert (await shop.send("/auth/userinfo", {"x": "1" * 100_000, "access_token": token})).status == 413
    many = {f"x{number}": "" for number in range(QUERY_FIELDS_MAX)}
    assert (await shop.send("/auth/userinfo", {**many, "access_token": token})).status == 400


async def test_a_token_of_an_organization_that_is_not_active_is_refused(shop: RelyingParty, world: World) -> None:
    token = (await shop.tokens())["access_token"]
    world.set_organization_status(shop.organization_id, "suspended")

    answer = await world.client.get("/auth/userinfo", token=token)

    assert (answer.status, answer.json["error"]) == (401, "invalid_token")
    assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'
    world.set_organization_status(shop.organization_id, "active")
    assert (await world.client.get("/auth/userinfo", token=token)).status == 200

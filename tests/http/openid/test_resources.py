"""Resource indicators: an access token for one of the audiences of its service, which opens nothing at Gatehouse."""

from __future__ import annotations

from tests.world.relying_party import RelyingParty
from tests.world.signing_in import claims_of
from tests.world.world import World

API = "https://api.shop.example/v1"


async def test_a_code_for_a_resource_gives_tokens_of_that_audience(shop: RelyingParty, world: World) -> None:
    shop.set(audiences=[API])

    tokens = await shop.tokens(resource=API)
    refreshed = (await shop.token("refresh_token", refresh_token=tokens["refresh_token"])).json

    for one in (tokens, refreshed):
        assert claims_of(one["access_token"])["aud"] == API
        assert claims_of(one["id_token"])["aud"] == str(shop.client_id)
        for path in ("/auth/userinfo", "/api/user"):
            assert (await world.client.get(path, token=one["access_token"])).status == 401
    described = (await shop.post("/auth/introspect", {"token": tokens["access_token"]})).json
    assert (described["active"], described["aud"]) == (True, API)


async def test_a_client_gets_a_token_of_its_own_for_a_resource(shop: RelyingParty) -> None:
    shop.set(audiences=[API])

    token = (await shop.token("client_credentials", resource=API)).json["access_token"]
    unknown = await shop.token("client_credentials", resource="https://api.other.example")

    assert claims_of(token)["aud"] == API
    assert (unknown.status, unknown.json["error"]) == (400, "invalid_target")
    assert (await shop.post("/auth/introspect", {"token": token})).json["active"]


async def test_a_code_is_exchanged_for_its_own_resource_only(shop: RelyingParty) -> None:
    shop.set(audiences=[API, "https://other.shop.example/"])
    code = await shop.code(resource=API)

    answer = await shop.redeem(code, resource="https://other.shop.example/")

    assert (answer.status, answer.json["error"]) == (400, "invalid_target")


async def test_a_code_without_a_resource_is_exchanged_for_none(shop: RelyingParty) -> None:
    shop.set(audiences=[API])
    code = await shop.code()

    answer = await shop.redeem(code, resource=API)

    assert (answer.status, answer.json["error"]) == (400, "invalid_target")

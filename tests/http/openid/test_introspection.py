"""Clients ask about their own tokens and end them."""

from __future__ import annotations

from datetime import timedelta

from tests.world.builder import EMAIL
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.world import World

INACTIVE = {"active": False}


async def test_a_client_learns_what_is_in_its_tokens(shop: RelyingParty) -> None:
    tokens = await shop.tokens()

    access = (await shop.post("/auth/introspect", {"token": tokens["access_token"]})).json
    refresh = (await shop.post("/auth/introspect", {"token": tokens["refresh_token"]})).json

    assert (access["active"], access["token_type"], access["username"]) == (True, "Bearer", EMAIL)
    assert access["scope"] == refresh["scope"] == "openid email"
    assert access["client_id"] == refresh["client_id"] == str(shop.client_id)
    assert (refresh["active"], refresh["sub"]) == (True, access["sub"])


async def test_a_client_learns_that_a_platform_owner_acts_as_the_user(shop: RelyingParty, world: World) -> None:
    tokens, owner = await shop.tokens(), world.user("owner@example.com", is_platform_owner=True)
    world.connection.execute("UPDATE sessions SET impersonator_id = %s", (owner,))
    tokens = (await shop.token("refresh_token", refresh_token=tokens["refresh_token"])).json

    answer = await shop.post("/auth/introspect", {"token": tokens["access_token"]})

    assert answer.json["act"] == {"sub": str(owner)}


async def test_the_token_of_another_client_is_not_active(shop: RelyingParty, world: World) -> None:
    other = insert_relying_party(world, slug="evil", service_slug="evil")
    tokens = await shop.tokens()

    for token in (tokens["access_token"], tokens["refresh_token"], tokens["id_token"], "nonsense"):
        assert (await other.post("/auth/introspect", {"token": token})).json == INACTIVE


async def test_a_second_writing_of_a_token_is_not_active(shop: RelyingParty) -> None:
    tokens = await shop.tokens()

    for name in ("access_token", "refresh_token"):
        for text in (f"{tokens[name]}=", f"{tokens[name]}==", f"{tokens[name]}\n", f" {tokens[name]}"):
            assert (await shop.post("/auth/introspect", {"token": text})).json == INACTIVE, text


async def test_a_public_client_cannot_introspect(app: RelyingParty, shop: RelyingParty) -> None:
    answer = await app.post("/auth/introspect", {"token": (await app.tokens())["access_token"]})

    assert (answer.status, answer.json["error"]) == (400, "unauthorized_client")


async def test_a_token_is_not_active_once_its_session_has_ended_or_it_has_expired(
    shop: RelyingParty, world: World
) -> None:
    ended, expired = await shop.tokens(), await shop.tokens()
    await shop.post("/auth/revoke", {"token": ended["refresh_token"]})

    assert (await shop.post("/auth/introspect", {"token": ended["access_token"]})).json == INACTIVE
    world.clock.advance(timedelta(minutes=15))
    assert (await shop.post("/auth/introspect", {"token": expired["access_token"]})).json == INACTIVE


async def test_revoking_any_token_of_a_session_ends_the_session(shop: RelyingParty) -> None:
    for name in ("access_token", "refresh_token"):
        tokens = await shop.tokens()

        answer = await shop.post("/auth/revoke", {"token": tokens[name]})

        assert answer.status == 200
        assert not shop.is_live(tokens)


async def test_revoking_the_token_of_another_client_does_nothing(shop: RelyingParty, world: World) -> None:
    other = insert_relying_party(world, slug="evil", service_slug="evil")
    tokens = await shop.tokens()

    for name in ("access_token", "refresh_token"):
        assert (await other.post("/auth/revoke", {"token": tokens[name]})).status == 200
    assert (await other.post("/auth/revoke", {"token": "nonsense"})).status == 200
    assert shop.is_live(tokens)


async def test_a_public_client_revokes_its_own_token(app: RelyingParty, shop: RelyingParty) -> None:
    tokens = await app.tokens()

    await app.post("/auth/revoke", {"token": tokens["refresh_token"]})

    assert not app.is_live(tokens)


async def test_a_token_of_the_client_itself_is_active_until_it_is_revoked(shop: RelyingParty, world: World) -> None:
    other = insert_relying_party(world, slug="evil", service_slug="evil")
    token = (await shop.token("client_credentials")).json["access_token"]

    before = (await shop.post("/auth/introspect", {"token": token})).json
    await other.post("/auth/revoke", {"token": token})
    still = (await shop.post("/auth/introspect", {"token": token})).json
    await shop.post("/auth/revoke", {"token": token})

    assert (before["active"], before["sub"], still["active"]) == (True, str(shop.client_id), True)
    assert (await shop.post("/auth/introspect", {"token": token})).json == INACTIVE


async def test_a_refresh_token_of_the_json_interface_is_one_of_its_service(shop: RelyingParty, world: World) -> None:
    tokens = await world.sign_in(org_slug="acme", service_slug="shop")

    described = (await shop.post("/auth/introspect", {"token": tokens.refresh_token})).json
    access = (await shop.post("/auth/introspect", {"token": tokens.access_token})).json

    assert (described["active"], access["active"]) == (True, True)
    assert "scope" not in described


async def test_a_missing_token_is_an_invalid_request(shop: RelyingParty) -> None:
    for path in ("/auth/introspect", "/auth/revoke"):
        answer = await shop.post(path, {"token": ""})
        assert (answer.status, answer.json["error"]) == (400, "invalid_request")

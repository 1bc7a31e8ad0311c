"""Refresh tokens rotate at the token endpoint as everywhere, for the client that they were issued to."""

from __future__ import annotations

from datetime import timedelta

from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.signing_in import claims_of
from tests.world.world import World


async def test_a_refresh_gives_new_tokens_of_the_same_scopes(shop: RelyingParty) -> None:
    tokens = await shop.tokens(nonce="n-1")

    answer = await shop.token("refresh_token", refresh_token=tokens["refresh_token"])

    assert answer.status == 200, answer.text
    assert answer.json["scope"] == "openid email"
    assert answer.json["refresh_token"] != tokens["refresh_token"]
    identity = claims_of(answer.json["id_token"])
    assert identity["sid"] == claims_of(tokens["id_token"])["sid"]
    assert "nonce" not in identity


async def test_a_refresh_may_ask_for_fewer_scopes_and_not_for_more(shop: RelyingParty) -> None:
    tokens = await shop.tokens()

    narrowed = await shop.token("refresh_token", refresh_token=tokens["refresh_token"], scope="email")
    widened = await shop.token("refresh_token", refresh_token=narrowed.json["refresh_token"], scope="openid profile")

    assert narrowed.json["scope"] == claims_of(narrowed.json["access_token"])["scope"] == "email"
    assert (widened.status, widened.json["error"]) == (400, "invalid_scope")


async def test_a_refresh_token_that_is_used_again_later_ends_the_session(shop: RelyingParty, world: World) -> None:
    tokens = await shop.tokens()
    await shop.token("refresh_token", refresh_token=tokens["refresh_token"])
    world.clock.advance(timedelta(seconds=31))

    reused = await shop.token("refresh_token", refresh_token=tokens["refresh_token"])

    assert (reused.status, reused.json["error"]) == (400, "invalid_grant")
    assert not shop.is_live(tokens)


async def test_a_refresh_token_of_another_client_is_refused_and_stays_good(shop: RelyingParty, world: World) -> None:
    other = insert_relying_party(world, slug="evil", service_slug="evil")
    tokens = await shop.tokens()

    stolen = await other.token("refresh_token", refresh_token=tokens["refresh_token"])

    assert (stolen.status, stolen.json["error"]) == (400, "invalid_grant")
    assert (await shop.token("refresh_token", refresh_token=tokens["refresh_token"])).status == 200


async def test_the_refresh_token_of_a_confidential_client_works_at_the_token_endpoint_only(
    shop: RelyingParty, app: RelyingParty, world: World
) -> None:
    confidential, public = await shop.tokens(), await app.tokens()

    assert (await world.refresh(confidential["refresh_token"])).status == 401
    refreshed = await world.refresh(public["refresh_token"])
    assert refreshed.status == 200
    assert claims_of(refreshed.json["access_token"])["scope"] == "openid email"


async def test_a_suspended_organization_refreshes_nothing(shop: RelyingParty, world: World) -> None:
    tokens = await shop.tokens()
    world.set_organization_status(shop.organization_id, "suspended")

    assert (await shop.token("refresh_token", refresh_token=tokens["refresh_token"])).status == 401

"""A pushed request is checked like any other; its client has a minute to get it opened."""

from __future__ import annotations

from datetime import timedelta

import pytest
from psycopg.types.json import Jsonb

from core.openid import requests
from core.openid.client_troubles import RequestOver
from ports.unit_of_work import UnitOfWork
from tests.world.relying_party import CHALLENGE, REDIRECT_URI, RelyingParty, insert_relying_party
from tests.world.world import World

PARAMETERS = {
    "response_type": "code",
    "redirect_uri": REDIRECT_URI,
    "scope": "openid",
    "code_challenge": CHALLENGE,
    "code_challenge_method": "S256",
}


async def bring(party: RelyingParty, request_uri: str) -> str:
    """Bring the reference of a pushed request, as a browser does, and return the redirect URI of the request."""

    def run(uow: UnitOfWork) -> str:
        client = uow.clients.find(party.client_id)
        assert client is not None
        return requests.arrived(uow, client, {"request_uri": request_uri}).redirect_uri

    return await party.world.installation.database.transact(run)


async def test_a_client_pushes_a_request_and_gets_a_reference(shop: RelyingParty) -> None:
    answer = await shop.post("/auth/par", PARAMETERS)

    assert (answer.status, answer.json["expires_in"]) == (201, 60)
    assert answer.json["request_uri"].startswith("urn:ietf:params:oauth:request_uri:")
    assert await bring(shop, answer.json["request_uri"]) == REDIRECT_URI


async def test_a_pushed_request_asks_for_scopes_of_the_service(shop: RelyingParty) -> None:
    shop.set(scopes=Jsonb([{"name": "read", "description": "See your orders."}]))
    pushed = await shop.post("/auth/par", PARAMETERS | {"scope": " openid  read other read"})

    def run(uow: UnitOfWork) -> list[str]:
        client = uow.clients.find(shop.client_id)
        assert client is not None
        return list(requests.arrived(uow, client, {"request_uri": pushed.json["request_uri"], "scope": "write"}).scopes)

    assert await shop.world.installation.database.transact(run) == ["openid", "read"]


async def test_a_reference_is_good_for_its_client_and_has_a_minute_to_be_opened(
    shop: RelyingParty, world: World
) -> None:
    other = insert_relying_party(world, slug="evil", service_slug="evil")
    request_uri = (await shop.post("/auth/par", PARAMETERS)).json["request_uri"]

    with pytest.raises(RequestOver):
        await bring(other, request_uri)
    world.clock.advance(timedelta(seconds=60))
    with pytest.raises(RequestOver):
        await bring(shop, request_uri)


async def test_an_opened_reference_lives_for_a_quarter_of_an_hour(shop: RelyingParty, world: World) -> None:
    request_uri = (await shop.post("/auth/par", PARAMETERS)).json["request_uri"]

    await bring(shop, request_uri)
    world.clock.advance(timedelta(minutes=14))
    assert await bring(shop, request_uri) == REDIRECT_URI
    # Bringing it again has not prolonged it.
    world.clock.advance(timedelta(minutes=1))
    with pytest.raises(RequestOver):
        await bring(shop, request_uri)


async def test_an_invalid_request_is_refused_when_it_is_pushed(shop: RelyingParty, subtests: pytest.Subtests) -> None:
    for changes, error in (
        ({"redirect_uri": "https://evil.example/"}, "invalid_request"),
        ({"redirect_uri": ""}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"request": "eyJ"}, "request_not_supported"),
        ({"request_uri": "https://evil.example/"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"prompt": "none login"}, "invalid_request"),
        ({"prompt": "dance"}, "invalid_request"),
        ({"max_age": "-1"}, "invalid_request"),
        ({"resource": "https://api.example"}, "invalid_target"),
        ({"response_mode": "fragment"}, "invalid_request"),
        ({"dpop_jkt": "short"}, "invalid_request"),
        ({"state": "x" * 2001}, "invalid_request"),
    ):
        with subtests.test(changes=changes, error=error):
            answer = await shop.post("/auth/par", {**PARAMETERS, **changes})

            assert (answer.status, answer.json["error"]) == (400, error)


async def test_a_public_client_pushes_with_a_challenge_only(app: RelyingParty) -> None:
    without = {name: value for name, value in PARAMETERS.items() if not name.startswith("code_challenge")}

    assert (await app.post("/auth/par", PARAMETERS)).status == 201
    assert (await app.post("/auth/par", without)).status == 400


async def test_a_confidential_client_authenticates_to_push(shop: RelyingParty) -> None:
    answer = await shop.send("/auth/par", {**PARAMETERS, "client_id": str(shop.client_id)})

    assert (answer.status, answer.json["error"]) == (401, "invalid_client")

"""An organization's own credentials at the external providers."""

from __future__ import annotations

import pytest

from tests.world.signing_in import SignedInUser
from tests.world.world import World, assert_refused

PATH = "/api/organizations/acme/oauth-credentials/codehost"
BODY = {"client_id": "acme-at-codehost", "client_secret": "the-secret-of-acme"}


@pytest.fixture
async def owner(world: World) -> SignedInUser:
    """The owner of Acme."""
    return await world.signed_in_member(world.organization("acme"))


async def test_credentials_are_shown_without_the_secret(world: World, owner: SignedInUser) -> None:
    put = await world.client.put(PATH, token=owner.token, body=BODY)

    assert put.json == {"provider": "codehost", "client_id": "acme-at-codehost", "has_secret": True}
    assert (await owner.get(PATH)).json == put.json
    assert b"the-secret" not in bytes(world.value("SELECT client_secret_sealed FROM oauth_credentials"))


async def test_credentials_are_replaced_and_deleted_and_every_change_is_recorded(
    world: World, owner: SignedInUser
) -> None:
    for client_id in ("first", "second"):
        await world.client.put(PATH, token=owner.token, body={**BODY, "client_id": client_id})

    deleted = await owner.delete(PATH)

    assert deleted.status == 204
    assert_refused(await owner.get(PATH), 404, "NOT_FOUND")
    assert_refused(await owner.delete(PATH), 404, "NOT_FOUND")
    recorded = [entry[-1] for entry in world.audit_entries("service.oauth_credentials.updated", "details")]
    assert recorded == [
        {"provider": "codehost", "client_id": "first", "removed": False},
        {"provider": "codehost", "client_id": "second", "removed": False},
        {"provider": "codehost", "client_id": None, "removed": True},
    ]
    assert len(world.events("service.oauth_credentials.updated")) == 3


async def test_credentials_that_no_provider_gives_are_refused(
    world: World, owner: SignedInUser, subtests: pytest.Subtests
) -> None:
    for body in ({"client_id": " "}, {"client_secret": "with a blank"}, {"client_secret": "x" * 501}):
        with subtests.test(body=body):
            answer = await world.client.put(PATH, token=owner.token, body={**BODY, **body})

            assert answer.status == 400
            assert answer.invalid_fields == list(body)


async def test_only_the_three_providers_have_credentials(world: World, owner: SignedInUser) -> None:
    path = "/api/organizations/acme/oauth-credentials/upstream"

    assert_refused(await world.client.put(path, token=owner.token, body=BODY), 404, "NOT_FOUND")
    assert_refused(await owner.get(path), 404, "NOT_FOUND")
    assert_refused(await owner.delete(path), 404, "NOT_FOUND")

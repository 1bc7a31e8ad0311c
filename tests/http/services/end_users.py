"""An organization with end users, and the requests about them, for tests."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.world.signing_in import Tokens
from tests.world.world import World

PATH = "/api/organizations/acme/users"
BOB = "bob@example.com"


@pytest.fixture
def acme(world: World) -> UUID:
    """An organization with two services."""
    organization_id = world.organization()
    for slug in ("shop", "blog"):
        world.service(organization_id, slug)
    return organization_id


@pytest.fixture
async def ada(world: World, acme: UUID) -> Tokens:
    """The organization's owner, signed in."""
    world.member(acme, world.user(), "owner")
    return await world.sign_in()


async def sign_in_to_service(world: World, email: str = BOB, service: str = "shop", org: str = "acme") -> Tokens:
    """Sign in to a service, which makes the user its end user."""
    if not world.rows("SELECT FROM users WHERE email = %s", email):
        world.user(email)
    return await world.sign_in(email, org_slug=org, service_slug=service)


def user_id(world: World, email: str = BOB) -> UUID:
    return world.value("SELECT id FROM users WHERE email = %s", email)


async def listed(world: World, ada: Tokens, query: str = "") -> Any:
    answer = await world.client.get(PATH + query, token=ada.access_token)
    assert answer.status == 200, answer.text
    return answer.json


async def emails(world: World, ada: Tokens, query: str = "") -> list[str]:
    return [user["email"] for user in (await listed(world, ada, query))["users"]]

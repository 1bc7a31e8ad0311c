"""A service for the tests of its pages."""

from __future__ import annotations

from typing import Final

from core.secrets import hash_token
from tests.world.builder import Service
from tests.world.team import Team
from tests.world.world import World

CONSOLE: Final = "/app/organizations/acme/services"
SECRET: Final = "the-secret-of-the-shop-with-many-characters"


def shop_of(world: World, team: Team) -> Service:
    """Insert a confidential service with a redirect URI and a secret, and return it."""
    shop = world.service(team.organization_id, "shop", redirect_uris=["https://shop.example/callback"])
    world.connection.execute("UPDATE services SET client_secret_hash = %s WHERE id = %s", (hash_token(SECRET), shop.id))
    return shop

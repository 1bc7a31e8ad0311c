"""The application and the world, for the tests in this folder."""

from tests.application import actors, application, client, installation, key_pairs, settings
from tests.world.fixtures import acme_shop, desk, hooks, inviter, keyring, platform, seller, team, victim, world

__all__ = [
    "acme_shop",
    "actors",
    "application",
    "client",
    "desk",
    "hooks",
    "installation",
    "inviter",
    "key_pairs",
    "keyring",
    "platform",
    "seller",
    "settings",
    "team",
    "victim",
    "world",
]

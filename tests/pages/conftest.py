"""The application and the world, for the tests in this folder."""

from tests.application import actors, application, client, installation, key_pairs, settings
from tests.pages.crawl.crawled import crawled
from tests.world.fixtures import acme_shop, builder, inviter, keyring, platform, seller, setups, team, visitor, world

__all__ = [
    "acme_shop",
    "actors",
    "application",
    "builder",
    "client",
    "crawled",
    "installation",
    "inviter",
    "key_pairs",
    "keyring",
    "platform",
    "seller",
    "settings",
    "setups",
    "team",
    "visitor",
    "world",
]

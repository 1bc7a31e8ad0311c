"""The application and the world, for the tests in this folder."""

from tests.application import actors, application, client, installation, key_pairs, settings
from tests.world.fixtures import builder, world

__all__ = ["actors", "application", "builder", "client", "installation", "key_pairs", "settings", "world"]

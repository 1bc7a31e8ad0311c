"""Relying parties for the tests of OAuth and OpenID Connect."""

import pytest

from tests.world.builder import EMAIL
from tests.world.relying_party import RelyingParty, insert_relying_party
from tests.world.world import World


@pytest.fixture
def shop(world: World) -> RelyingParty:
    """A confidential service, and a user."""
    world.user(EMAIL)
    return insert_relying_party(world)


@pytest.fixture
def app(world: World) -> RelyingParty:
    """A public service of another organization."""
    return insert_relying_party(world, "mobile", slug="globex", service_slug="app")

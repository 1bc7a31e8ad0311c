"""The client of the plans of OpenID Connect."""

import pytest

from tests.world.builder import EMAIL
from tests.world.conformance import ConformanceClient
from tests.world.relying_party import insert_relying_party
from tests.world.visitor import Visitor
from tests.world.world import World


@pytest.fixture
def suite(visitor: Visitor, world: World) -> ConformanceClient:
    """A confidential client, and a user who is not signed in."""
    world.user(EMAIL)
    return ConformanceClient(insert_relying_party(world), visitor, world)

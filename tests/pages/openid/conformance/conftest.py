"""The client of the conformance plans."""

import pytest

from tests.world.conformance import ConformanceClient
from tests.world.relying_party import RelyingParty
from tests.world.visitor import Visitor
from tests.world.world import World


@pytest.fixture
def suite(shop: RelyingParty, visitor: Visitor, world: World) -> ConformanceClient:
    """A confidential client, and a user who is not signed in."""
    return ConformanceClient(shop, visitor, world)

"""A service with an API key."""

from __future__ import annotations

import pytest

from tests.world.backend import Backend, insert_backend
from tests.world.world import World


@pytest.fixture
def backend(world: World) -> Backend:
    """The backend of a service."""
    return insert_backend(world)

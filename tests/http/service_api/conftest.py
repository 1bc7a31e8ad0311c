"""A service with an API key, and one that organizations use as customers."""

from __future__ import annotations

import pytest

from tests.world.backend import Backend, insert_backend
from tests.world.customer_backend import CustomerBackend, insert_customer_backend
from tests.world.world import World


@pytest.fixture
def backend(world: World) -> Backend:
    """The backend of a service."""
    return insert_backend(world)


@pytest.fixture
def shop(world: World) -> CustomerBackend:
    """A service for customers with its backend."""
    return insert_customer_backend(world)

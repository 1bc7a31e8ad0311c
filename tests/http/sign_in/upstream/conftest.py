"""The application with credentials at a stand-in of the external providers, and a visitor of its pages."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from entrypoints.settings import Settings
from tests.upstream_provider import StandIn, running_stand_in
from tests.world.fixtures import visitor
from tests.world.upstream import Upstream
from tests.world.visitor import Visitor

__all__ = ["visitor"]


@pytest.fixture
def stand_in() -> Generator[StandIn]:
    """The external providers."""
    with running_stand_in() as running:
        yield running


@pytest.fixture
def settings(stand_in: StandIn) -> Settings:
    """Development mode, with credentials at the stand-in."""
    return Settings(dev=True, rate_limits=False, **stand_in.settings())


@pytest.fixture
def upstream(stand_in: StandIn, visitor: Visitor) -> Upstream:
    """A visitor who signs in at the stand-in."""
    return Upstream(stand_in, visitor)

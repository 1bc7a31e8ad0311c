"""The application with credentials at a stand-in of the external providers."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from entrypoints.settings import Settings
from tests.openid_provider import OpenIdProvider, running_openid_provider
from tests.upstream_provider import StandIn, running_stand_in
from tests.world.fixtures import names, saml
from tests.world.openid_acme import Acme, openid_acme
from tests.world.upstream import Upstream
from tests.world.visitor import Visitor
from tests.world.world import World

__all__ = ["names", "saml", "settings", "stand_in", "upstream"]


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


@pytest.fixture
def provider() -> Generator[OpenIdProvider]:
    """The identity provider of Acme."""
    with running_openid_provider() as running:
        yield running


@pytest.fixture
async def acme(world: World, visitor: Visitor, provider: OpenIdProvider) -> Acme:
    """Acme, with its connection and its domain."""
    return await openid_acme(world, visitor, provider)

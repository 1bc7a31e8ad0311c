"""The browsers of a platform owner and of a person of the platform's support."""

from __future__ import annotations

import pytest

from tests.world.callers import Caller, Callers, insert_callers
from tests.world.visitor import Visitor
from tests.world.world import World


@pytest.fixture
def callers(world: World) -> Callers:
    """Two organizations, and every kind of caller."""
    return insert_callers(world)


def browser_of(callers: Callers, caller: Caller) -> Visitor:
    """Return a browser in which a caller is signed in."""
    visitor = Visitor(callers.world.client)
    name, _, secret = callers.cookie(caller)["Cookie"].partition("=")
    visitor.cookies[name] = secret
    return visitor


@pytest.fixture
def platform_owner(callers: Callers) -> Visitor:
    """The browser of a platform owner."""
    return browser_of(callers, Caller.PLATFORM_OWNER)


@pytest.fixture
def support(callers: Callers) -> Visitor:
    """The browser of a person of the platform's support."""
    return browser_of(callers, Caller.SUPPORT)

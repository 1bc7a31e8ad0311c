"""What the tests of the package share: an issuer over loopback, a clock, and the three ways to drive."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from drivers import NAMES, Driver, driving
from issuer import Clock, Issuer, serving


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture
def issuer(clock: Clock) -> Generator[Issuer]:
    """An issuer with one key."""
    with serving(clock) as served:
        yield served


@pytest.fixture(params=NAMES)
def driver(request: pytest.FixtureRequest) -> Generator[Driver]:
    """Without async, asyncio, and Trio in turn."""
    with driving(request.param) as made:
        yield made


@pytest.fixture
def blocking() -> Generator[Driver]:
    """Without async alone: for rules that no driver changes."""
    with driving("blocking") as made:
        yield made

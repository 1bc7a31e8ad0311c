"""A vendor and an organization that may become its customer, for the tests in this folder."""

from __future__ import annotations

import pytest

from tests.world.directory import Directory, insert_directory
from tests.world.trade import Trade, insert_trade
from tests.world.world import World


@pytest.fixture
def trade(world: World) -> Trade:
    """A vendor with a service for customers, and another organization."""
    return insert_trade(world)


@pytest.fixture
def groups(trade: Trade) -> Directory:
    """The directory of the organization that may become a customer, with a token that manages groups."""
    return insert_directory(trade.customer, groups="directory")

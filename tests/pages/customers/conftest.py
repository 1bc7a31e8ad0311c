"""A vendor and a customer, and the browsers of their people, for the tests in this folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from tests.world.backend import Backend
from tests.world.customer_backend import CustomerBackend
from tests.world.directory import Directory, insert_directory
from tests.world.trade import Trade, insert_trade
from tests.world.visitor import Visitor
from tests.world.world import World


@pytest.fixture
def trade(world: World) -> Trade:
    """A vendor with a service for customers, and another organization."""
    return insert_trade(world)


@pytest.fixture
def shop(trade: Trade) -> CustomerBackend:
    """The service of the vendor, with people who sign in for the customer."""
    return CustomerBackend(trade, Backend(trade.world, trade.vendor.organization_id, trade.service.id))


@pytest.fixture
def groups(trade: Trade) -> Directory:
    """The directory of the organization that may become a customer, with a token that manages groups."""
    return insert_directory(trade.customer, groups="directory")


@pytest.fixture
def browser_of(trade: Trade) -> Callable[[str], Awaitable[Visitor]]:
    """Signs a person of either organization in, and returns the browser."""

    async def sign_in(name: str) -> Visitor:
        visitor = Visitor(trade.world.client)
        await visitor.sign_in(f"{name}@example.com")
        return visitor

    return sign_in

"""A receiver, webhooks, and the browser of the owner, for the tests in this folder."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.receiver import Receiver, open_receiver
from tests.world.fixtures import hooks
from tests.world.hooks import Hooks
from tests.world.visitor import Visitor

__all__ = ["hooks"]


@pytest.fixture
async def receiver() -> AsyncGenerator[Receiver]:
    """A receiver that answers 200."""
    async with open_receiver() as receiver:
        yield receiver


@pytest.fixture
async def owner(hooks: Hooks, visitor: Visitor) -> Visitor:
    """The browser of the owner of the team."""
    await visitor.sign_in("owner@example.com")
    return visitor

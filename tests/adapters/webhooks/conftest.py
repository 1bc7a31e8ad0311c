"""A receiver, for the tests in this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.receiver import Receiver, open_receiver
from tests.world.fixtures import builder

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

__all__ = ["builder"]


@pytest.fixture
async def receiver() -> AsyncGenerator[Receiver]:
    """A receiver that answers 200."""
    async with open_receiver() as receiver:
        yield receiver

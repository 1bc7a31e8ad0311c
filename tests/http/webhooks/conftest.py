"""A receiver, for the tests in this folder."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.receiver import Receiver, open_receiver


@pytest.fixture
async def receiver() -> AsyncGenerator[Receiver]:
    """A receiver that answers 200."""
    async with open_receiver() as receiver:
        yield receiver

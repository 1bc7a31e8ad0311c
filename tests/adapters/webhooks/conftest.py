"""A receiver, an organization and the steps of a dispatcher, for the tests in this folder."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any
from uuid import UUID

import pytest

from adapters.crypto.vault import Vault
from tests.adapters.webhooks.queues import Sender
from tests.receiver import Receiver, open_receiver
from tests.world.builder import Builder
from tests.world.fixtures import builder

__all__ = ["builder"]


@pytest.fixture
async def receiver() -> AsyncGenerator[Receiver]:
    """A receiver that answers 200."""
    async with open_receiver() as receiver:
        yield receiver


@pytest.fixture
def sender(builder: Builder, transact: Callable[..., Any], vault: Vault) -> Sender:
    return Sender(builder, transact, vault)


@pytest.fixture
def acme(builder: Builder) -> UUID:
    """An organization."""
    return builder.organization()

"""The application and the world, and an organization with a sealed log, for the tests in this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.application import actors, application, client, installation, key_pairs, settings
from tests.audit_chains import ENTRIES, add_entry, seal_all
from tests.world.fixtures import builder, world
from tests.world.team import Team

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from tests.clock import SettableClock
    from tests.world.builder import Builder
    from tests.world.world import World

    Transact = Callable[..., Any]

__all__ = ["actors", "application", "builder", "client", "installation", "key_pairs", "settings", "world"]


@pytest.fixture
def acme(builder: Builder, clock: SettableClock, transact: Transact) -> UUID:
    """An organization with a sealed log."""
    organization_id = builder.organization()
    for number in range(ENTRIES):
        add_entry(builder.connection, organization_id, clock, n=number)
    seal_all(transact)
    return organization_id


@pytest.fixture
async def team(world: World, acme: UUID) -> Team:
    """The organization with an admin."""
    team = Team(world, acme, "acme")
    team.add("admin", "admin")
    return team

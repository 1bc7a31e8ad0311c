"""An organization whose audit log is read, and the browser of its owner."""

from __future__ import annotations

import pytest

from tests.world.fixtures import hooks
from tests.world.team import Team
from tests.world.visitor import Visitor
from tests.world.world import World

__all__ = ["hooks"]


@pytest.fixture
def people(world: World) -> Team:
    """An organization with an owner, two members, and a custom role that reads the audit log."""
    team = world.team()
    team.add("ann", "owner")
    team.add("bob", "member")
    team.custom_role("auditor", "audit_logs.view")
    team.add("cid", "auditor")
    world.connection.execute("DELETE FROM audit_entries")
    return team


@pytest.fixture
async def ann(people: Team, visitor: Visitor) -> Visitor:
    """The browser of the owner."""
    await visitor.sign_in("ann@example.com")
    return visitor

"""The states of an organization, and the transitions that platform owners request, for tests."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from tests.world.world import World

STATUSES = ("pending", "active", "suspended", "rejected")
# For each transition: the state before, the state after, and the body of the request.
TRANSITIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "approve": ("pending", "active", {}),
    "reject": ("pending", "rejected", {"reason": "A copy of another one."}),
    "suspend": ("active", "suspended", {"reason": "The bill is not paid."}),
    "activate": ("suspended", "active", {}),
}


def organization(world: World, verb: str) -> UUID:
    """Insert an organization in the state from which this transition starts."""
    return world.organization(status=TRANSITIONS[verb][0])

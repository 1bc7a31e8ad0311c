"""An organization in any state, and what platform owners do with it, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uuid import UUID

    from tests.world.world import World


STATUSES = ("pending", "active", "suspended", "rejected")
# What leads from which state into which, and what it needs to be told.
TRANSITIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "approve": ("pending", "active", {}),
    "reject": ("pending", "rejected", {"reason": "A copy of another one."}),
    "suspend": ("active", "suspended", {"reason": "The bill is not paid."}),
    "activate": ("suspended", "active", {}),
}


def organization(world: World, verb: str) -> UUID:
    """Make an organization that this can be done with."""
    return world.organization(status=TRANSITIONS[verb][0])

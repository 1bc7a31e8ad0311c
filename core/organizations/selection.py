"""Selecting an organization: the caller's session goes on in it, as if it had begun there (operations 4.4).

What the organization asks of a sign-in it asks here as well (`arrivals.py`), else signing in elsewhere and then
selecting it would be the way around its settings. What it asks of every request `access.enter` has seen to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.organizations import access
from core.organizations.access import Operation
from core.organizations.creation import Person, person_of
from core.sessions import refresh

if TYPE_CHECKING:
    from core.organizations.memberships import Membership
    from core.sessions.token_claims import TokenGrant
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """Who works in the organization now, in which role, and with which tokens."""

    user: Person
    membership: Membership
    grant: TokenGrant


def select(uow: UnitOfWork, slug: str) -> Selected:
    """Make an organization the context of the caller's session, and give the session its next tokens."""
    place = access.authorize(uow, slug, Operation.ORGANIZATION_SELECT)
    access.require_device_trust(uow, place.caller, place.organization)
    return Selected(
        user=person_of(place.caller),
        membership=place.membership,
        grant=refresh.move(uow, place.caller.session_id, place.organization.id),
    )

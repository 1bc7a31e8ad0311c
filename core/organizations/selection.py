"""Selecting an organization: it becomes the context of the caller's session, as if the session had begun there.

The organization's requirements for a sign-in apply here as well, else signing in elsewhere and then selecting it would
bypass its settings. `access.authorize` checks the requirements for every request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass
from core.organizations import access, session_strength
from core.organizations.access import Operation
from core.organizations.creation import PersonSummary, person_of
from core.organizations.memberships import Membership
from core.sessions import refresh
from core.sessions.token_claims import TokenGrant

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """The user, their membership in the selected organization, and their new tokens."""

    user: PersonSummary
    membership: Membership
    grant: TokenGrant


def select(uow: UnitOfWork, slug: str) -> Selected:
    """Make an organization the context of the caller's session, and return the session's next tokens."""
    authorized = access.authorize(uow, slug, Operation.ORGANIZATION_SELECT)
    session_strength.require_device_trust(uow, authorized.caller, authorized.organization)
    return Selected(
        user=person_of(authorized.caller),
        membership=authorized.membership,
        grant=refresh.move(uow, authorized.caller.session.id, authorized.organization.id),
    )

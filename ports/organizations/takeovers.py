"""Storage of what was given with the power of a takeover, from the audit log and the tables of what was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from core.events.actions import AuditAction
    from core.organizations.memberships import Membership
    from core.organizations.takeovers import (
        Act,
        Acting,
        ChangedRole,
        GivenRole,
        InvitedMember,
        RevertedGrant,
        Takeover,
    )


class Takeovers(Protocol):
    """What accounts held, and who acted with the power of a takeover; the organizations are locked."""

    def confirmed_roles(self, user_id: UUID) -> Mapping[UUID, str]:
        """Return the roles of a user's confirmed memberships by the ids of the organizations."""
        ...

    def grants(self, user_id: UUID) -> Mapping[UUID, str]:
        """Return the relations that a user was granted by the ids of the services."""
        ...

    def acting(self, user_id: UUID, organization_ids: Sequence[UUID], *, since: datetime) -> Sequence[Acting]:
        """Return who acted with the power of a takeover in these organizations, and since when: the account itself,

        its keys, SCIM tokens and setup links, and, again and again, who was invited, let in, got a higher role or the
        ownership by one of these.
        """
        ...

    def acts(self, acting: Sequence[Acting], *actions: AuditAction) -> Sequence[Act]:
        """Return the entries of these actions by those who acted, the first one first."""
        ...

    def given_roles(self, acting: Sequence[Acting]) -> Sequence[GivenRole]:
        """Return the members whose roles were changed, with the first role before and the last that was given."""
        ...

    def changed_roles(self, acting: Sequence[Acting]) -> Sequence[ChangedRole]:
        """Return the custom roles whose permissions were changed, with those before the first change."""
        ...

    def restore_role(self, changed: ChangedRole) -> None:
        """Store the permissions and the scopes of a custom role."""
        ...

    def owners(self, organization_ids: Sequence[UUID]) -> Sequence[Membership]:
        """Return the memberships of the owners of organizations."""
        ...

    def restore_owner(self, membership: Membership) -> str | None:
        """Make a user the owner of an organization without one, and return their role before; None for no member."""
        ...

    def suspend_invited(self, acting: Sequence[Acting], *, except_user_id: UUID) -> Sequence[InvitedMember]:
        """Suspend the members that were invited, provisioned or let in again since and are no owners, and return them.

        Who was let in again by those who had kept them out is as before.
        """
        ...

    def revert_grants(self, acting: Sequence[Acting], takeover: Takeover) -> Sequence[RevertedGrant]:
        """Let the grants fall back that the account was given, and those that were given to others."""
        ...

"""Finding and reverting what was given with the power of a takeover, by the audit log and the tables themselves."""

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
    """What an account held, and who acted with the power of a takeover. The caller has locked the organizations."""

    def confirmed_roles(self, user_id: UUID) -> Mapping[UUID, str]:
        """Return the roles of a user's confirmed memberships by the ids of the organizations."""
        ...

    def grants(self, user_id: UUID) -> Mapping[UUID, str]:
        """Return the relations that a user was granted by the ids of the services."""
        ...

    def acting(self, user_id: UUID, organization_ids: Sequence[UUID], *, since: datetime) -> Sequence[Acting]:
        """Return who acted with the power of a takeover in these organizations, and since when.

        They are the account, its keys, SCIM tokens and setup links, every user that one of these gave membership, a
        higher role or the ownership, and so on from these.
        """
        ...

    def acts(self, acting: Sequence[Acting], *actions: AuditAction) -> Sequence[Act]:
        """Return the entries of these actions by those who acted, the first one first."""
        ...

    def given_roles(self, acting: Sequence[Acting]) -> Sequence[GivenRole]:
        """Return the members whose roles were changed, with the role before the first change and the last one given."""
        ...

    def changed_roles(self, acting: Sequence[Acting]) -> Sequence[ChangedRole]:
        """Return the custom roles whose permissions were changed, with the permissions before the first change."""
        ...

    def restore_role(self, changed: ChangedRole) -> None:
        """Store the permissions and the scopes of a custom role."""
        ...

    def owners(self, organization_ids: Sequence[UUID]) -> Sequence[Membership]:
        """Return the memberships of the owners of organizations."""
        ...

    def restore_owner(self, membership: Membership) -> str | None:
        """Make a member the owner of an organization without one; return their previous role, None for no member."""
        ...

    def suspend_invited(self, acting: Sequence[Acting], *, except_user_id: UUID) -> Sequence[InvitedMember]:
        """Suspend the members, except owners, who were invited, provisioned or readmitted since, and return them.

        A member who was both suspended and readmitted since is left as before.
        """
        ...

    def revert_grants(self, acting: Sequence[Acting], takeover: Takeover) -> Sequence[RevertedGrant]:
        """Revert the grants that were given to the account, and those that the acting ones gave to others."""
        ...

"""Storage of invitations, and the list of the people invited."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.invitations.found_invitations import ListedInvitation
from core.invitations.invitations import (
    DueInvitation,
    Invitation,
    InvitationDetails,
    InvitationStatus,
    SentInvitation,
    Waiting,
)
from core.invitations.own_invitations import ReceivedInvitation
from core.positions import Position
from core.secrets import Secret


class Invitations(Protocol):
    """The invitations of all organizations."""

    def add(
        self, invitation: Invitation, token: Secret, *, proof_hash: bytes, service_ids: Sequence[UUID] = ()
    ) -> bool:
        """Store a new invitation with these services.

        Return False when the address has a pending one, even of a concurrent transaction.
        """
        ...

    def find(self, organization_id: UUID, invitation_id: UUID) -> Invitation | None:
        """Return an invitation of an organization, or None when there is no such."""
        ...

    def pending(self, organization_id: UUID, email: str) -> Invitation | None:
        """Return the invitation of a normalized address that is pending, even if it is past its expiry, or None."""
        ...

    def waiting(self, organization_id: UUID) -> Waiting:
        """Count an organization's open invitations."""
        ...

    def has_member(self, organization_id: UUID, email: str) -> bool:
        """Return whether the account of a normalized address is a member; one statement even if there is no account."""
        ...

    def page(
        self, organization_id: UUID, status: InvitationStatus | None, *, limit: int, offset: int
    ) -> Sequence[SentInvitation]:
        """List an organization's invitations with their inviters, the newest first."""
        ...

    def by_token(self, token_hash: bytes) -> InvitationDetails | None:
        """Return the invitation of a token, in whatever status, or None when there is no such."""
        ...

    def pending_for(self, email: str, limit: int, *, within: UUID | None = None) -> Sequence[ReceivedInvitation]:
        """List the open invitations of a normalized address to active organizations, the newest first.

        `within` is the only organization whose invitations are listed; None for all of them.
        """
        ...

    def settle(self, organization_id: UUID, invitation_id: UUID, status: InvitationStatus) -> bool:
        """Change an invitation to a final status and erase its token; return False if it cannot change to it.

        Of concurrent calls one returns True.
        """
        ...

    def give_services(self, invitation: Invitation, user_id: UUID, *, at: datetime) -> Sequence[str]:
        """Link a member to the services of an invitation that its organization still has; return their slugs.

        The links come with the membership, and wait for their first use. A link that exists already stays as it is.
        """
        ...

    def withdraw(
        self,
        organization_id: UUID | None,
        inviter_ids: Sequence[UUID],
        *,
        except_roles: Sequence[str],
        keeps_services: bool,
    ) -> Sequence[tuple[UUID, UUID]]:
        """Withdraw the pending invitations of users to an organization, or to all, except those to these roles.

        With `keeps_services`, those that include services are kept like the others.
        Return the id of the organization and the id of the invitation for each.
        """
        ...

    def withdraw_of_role(
        self, organization_id: UUID, role: str, *, except_roles: Sequence[str], keeps_services: bool
    ) -> Sequence[tuple[UUID, UUID]]:
        """Do what `withdraw` does, for the invitations that the present members with a role have sent."""
        ...

    def due(self, after: DueInvitation | None, limit: int) -> Sequence[DueInvitation]:
        """List pending invitations of active organizations that are past their expiry, in the order of the expiry."""
        ...

    def expire(self, invitation_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        """Expire those that are pending, not locked and in active organizations that are not locked.

        Return the id of the organization and the id of the invitation for each.
        """
        ...


class FoundInvitations(Protocol):
    """Reads of the invitations of an organization; an empty part and the status None filter nothing."""

    def page(
        self, organization_id: UUID, *, part: str, status: InvitationStatus | None, after: Position | None, limit: int
    ) -> Sequence[ListedInvitation]:
        """List invitations, the newest first, or from a position on."""
        ...

    def count(self, organization_id: UUID, *, part: str, status: InvitationStatus | None, counted_max: int) -> int:
        """Count the same invitations, up to a maximum."""
        ...

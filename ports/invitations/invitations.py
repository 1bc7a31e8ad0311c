"""What the core asks of the stored invitations."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.invitations.answers import ReceivedInvitation
from core.invitations.invitations import Due, Invitation, InvitationItem, InvitationStatus, Presented
from core.secrets import Secret


class Invitations(Protocol):
    """Who was asked to join which organization."""

    def add(self, invitation: Invitation, token: Secret, *, proof_hash: bytes) -> bool:
        """Store a new invitation; False when one of this address waits already, also a racer's."""
        ...

    def find(self, organization_id: UUID, invitation_id: UUID) -> Invitation | None:
        """Find an invitation of an organization."""
        ...

    def pending(self, organization_id: UUID, email: str) -> Invitation | None:
        """Find the invitation of a normalized address that waits, or has run out and was not expired yet."""
        ...

    def has_member(self, organization_id: UUID, email: str) -> bool:
        """Say whether the account of a normalized address is a member, in one statement whether or not there is one."""
        ...

    def page(
        self, organization_id: UUID, status: InvitationStatus | None, *, limit: int, offset: int
    ) -> Sequence[InvitationItem]:
        """List an organization's invitations with who invited, the newest first."""
        ...

    def by_token(self, token_hash: bytes) -> Presented | None:
        """Find the invitation of a token, whatever became of it."""
        ...

    def waiting_for(self, email: str, limit: int) -> Sequence[ReceivedInvitation]:
        """List the open invitations of a normalized address to active organizations, the newest first."""
        ...

    def settle(self, organization_id: UUID, invitation_id: UUID, status: InvitationStatus) -> bool:
        """End an invitation that may come to this status, and erase its token; of racers one gets True."""
        ...

    def due(self, after: Due | None, limit: int) -> Sequence[Due]:
        """List pending invitations whose time is over, whatever their organization, by when it was."""
        ...

    def expire(self, invitation_ids: Sequence[UUID]) -> Sequence[tuple[UUID, UUID]]:
        """Expire those that are still pending, in active organizations and held by nobody; give both ids of each."""
        ...

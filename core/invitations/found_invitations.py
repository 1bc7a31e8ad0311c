"""The invitations of an organization as the console shows them: found by address and status, and sent once more.

Inviting and withdrawing are in `invitations.py`, as for the JSON interface.
"""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from core.email_addresses import part_of_email
from core.errors import NotFound
from core.invitations.invitations import Invitation, InvitationStatus, invite, revoke
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.positions import Listing, Position, listing

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class InvitationNotWaiting(NotFound):
    """The invitation is answered or withdrawn, or none has that id."""

    default_message = "This invitation no longer waits for an answer. The list below shows what became of it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedInvitation:
    """An invitation in the console, without its token; `inviter_email` is None when the account is gone."""

    id: UUID
    email: str
    role: str
    status: InvitationStatus
    created_at: datetime
    expires_at: datetime
    inviter_email: str | None
    services: list[str]
    message: str | None = field(repr=False)

    @property
    def position(self) -> Position:
        """The place of the invitation in the list."""
        return Position(at=self.created_at, id=self.id)


def found(uow: UnitOfWork, slug: str, *, search: str, status: InvitationStatus | None) -> Listing[ListedInvitation]:
    """Find invitations by a part of their address and by status; without them all, from the newest on."""
    organization_id = authorize(uow, slug, Operation.INVITATIONS_LIST).organization.id
    part = part_of_email(search, uow.domain_names.to_ascii)
    return listing(
        uow.elsewhere.found_invitations.page,
        uow.elsewhere.found_invitations.count,
        organization_id,
        part=part,
        status=status,
    )


def show_waiting(uow: UnitOfWork, slug: str, invitation_id: UUID) -> Invitation:
    """Return an invitation that a manager may accept on behalf of the invited person; raise `InvitationNotWaiting`."""
    organization = authorize(uow, slug, Operation.INVITATIONS_CHANGE).organization
    invitation = uow.invitations.find(organization.id, invitation_id)
    if invitation is None or not invitation.is_open(uow.now):
        raise InvitationNotWaiting
    return invitation


def send_again(uow: UnitOfWork, slug: str, invitation_id: UUID) -> str:
    """Replace an invitation that waits or has expired by a new one with the same contents; return the address.

    Its mail has a new link, and the earlier link no longer works. Raise `InvitationNotWaiting`.
    """
    organization = authorize(uow, slug, Operation.INVITATIONS_CHANGE).organization
    invitation = uow.invitations.find(organization.id, invitation_id)
    if invitation is None or invitation.status not in {InvitationStatus.PENDING, InvitationStatus.EXPIRED}:
        raise InvitationNotWaiting
    if invitation.is_open(uow.now):
        revoke(uow, slug, invitation_id)
    invite(
        uow,
        slug,
        invitation.email,
        invitation.role,
        services=invitation.services,
        message=invitation.message,
        name=invitation.name,
    )
    return invitation.email

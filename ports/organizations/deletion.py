"""Storage of organizations that are deleted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.organizations.deletion import DeletedOrganization, Ending, Told
from core.organizations.organizations import Organization


class DeletedOrganizations(Protocol):
    """Organizations that their owners delete, until they are restored or deleted for good."""

    def had_other_members(self, organization_id: UUID) -> bool:
        """Return whether an organization may ever have had a member besides its founder."""
        ...

    def ending(self, organization_id: UUID, *, restorable_until: datetime, counted_max: int) -> Ending:
        """Count what ends with an organization, each up to a maximum.

        The result has `restorable_until` only if the organization had other members.
        """
        ...

    def told(self, organization_id: UUID, *, limit: int) -> Sequence[Told]:
        """Return the owner and the admins who can sign in: the owner first, then the longest-serving admins."""
        ...

    def begin(self, organization_id: UUID, *, deletes_at: datetime) -> int:
        """Close a locked organization until it is restored, and end what it has issued; return the live subscriptions.

        The payment provider is asked to cancel those that are paid there.
        """
        ...

    def restorable(self, ids: Sequence[UUID], *, at: datetime, limit: int) -> Sequence[DeletedOrganization]:
        """List those of these organizations that can be restored at that time, by slug."""
        ...

    def lock_restorable(self, ids: Sequence[UUID], slug: str, *, at: datetime) -> Organization | None:
        """Lock the one of these organizations with this slug, if it can be restored at that time; else return None."""
        ...

    def restore(self, organization_id: UUID) -> None:
        """Give a locked organization the status back that it had."""
        ...

    def lock_next(self, *, at: datetime) -> Organization | None:
        """Lock the organization that has been due for deletion the longest, passing over locked ones; else None."""
        ...

    def internal_of_ended(self, organization_id: UUID) -> Sequence[UUID]:
        """Return the internal organizations of this organization's records as a customer that have ended."""
        ...

    def delete_part(self, organization_id: UUID, *, rows_max: int) -> int:
        """Delete some rows of a kind of which an organization may have many; return how many, 0 when none are left."""
        ...

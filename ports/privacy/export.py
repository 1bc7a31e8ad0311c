"""What is stored about a person, for the export."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.privacy.export import ExportedLogin, ExportedMembership, ExportedMfaEvent, OwnedOrganization


class PrivacyExport(Protocol):
    """What is kept of a person, as the person may have it.

    Where `within` names organizations, only what concerns one of these or none is given.
    """

    def organizations_of_both(self, user_id: UUID, owner_id: UUID) -> Sequence[OwnedOrganization]:
        """List the organizations that the other one owns and a person is a member of."""
        ...

    def memberships(self, user_id: UUID, *, within: Sequence[UUID] | None) -> Sequence[ExportedMembership]:
        """List a person's memberships, the oldest first."""
        ...

    def count_logins(self, user_id: UUID, *, within: Sequence[UUID] | None) -> int:
        """Count a person's login events."""
        ...

    def newest_logins(self, user_id: UUID, limit: int, *, within: Sequence[UUID] | None) -> Sequence[ExportedLogin]:
        """List a person's login events, the newest first."""
        ...

    def newest_mfa_events(self, user_id: UUID, limit: int) -> Sequence[ExportedMfaEvent]:
        """List what the separate log has of a person, the newest first."""
        ...

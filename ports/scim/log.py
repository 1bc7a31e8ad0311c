"""Storage of the provisioning log."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.positions import Position
from core.scim.log import CallSearch, ProvisioningLogEntry, ProvisioningPage


class ScimLog(Protocol):
    """The provisioning logs of organizations."""

    def add(self, organization_id: UUID, entry: ProvisioningLogEntry) -> None:
        """Store an entry."""
        ...

    def failures(self, organization_id: UUID, *, limit: int) -> Sequence[ProvisioningLogEntry]:
        """Return the failures among the last entries, the newest first."""
        ...

    def last_of_tokens(self, organization_id: UUID) -> Sequence[ProvisioningLogEntry]:
        """Return the last entry of each token of an organization, among the newest entries."""
        ...

    def found(
        self, organization_id: UUID, wanted: CallSearch, *, after: Position | None, limit: int
    ) -> Sequence[ProvisioningLogEntry]:
        """Return entries after a position, the newest first."""
        ...

    def count(self, organization_id: UUID, wanted: CallSearch, *, counted_max: int) -> int:
        """Return how many entries there are, at most this number."""
        ...

    def page(self, organization_id: UUID, *, limit: int, offset: int) -> ProvisioningPage:
        """Return entries, the newest first, and their number, in one statement."""
        ...

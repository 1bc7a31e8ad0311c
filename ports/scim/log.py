"""Storage of the provisioning log."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.scim.log import ProvisioningLogEntry, ProvisioningPage


class ScimLog(Protocol):
    """The provisioning logs of organizations."""

    def add(self, organization_id: UUID, entry: ProvisioningLogEntry) -> None:
        """Store an entry."""
        ...

    def failures(self, organization_id: UUID, *, limit: int) -> Sequence[ProvisioningLogEntry]:
        """Return the failures among the last entries, the newest first."""
        ...

    def page(self, organization_id: UUID, *, limit: int, offset: int) -> ProvisioningPage:
        """Return entries, the newest first, and their number, in one statement."""
        ...

"""The domains that organizations have proved to be theirs."""

from typing import Protocol
from uuid import UUID


class VerifiedDomains(Protocol):
    """Which hosts belong to an organization."""

    def cover(self, organization_id: UUID, host: str, /) -> bool:
        """Return whether a host lies under a verified domain of the organization, and is not Gatehouse itself."""
        ...

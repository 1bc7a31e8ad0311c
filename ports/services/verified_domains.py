"""The domains that organizations have proved to be theirs."""

from typing import Protocol
from uuid import UUID


class VerifiedDomains(Protocol):
    """Tells which hosts belong to an organization."""

    def cover(self, organization_id: UUID, host: str, /) -> bool:
        """Return whether a host is a verified domain of the organization, or lies under one; a custom domain is not."""
        ...

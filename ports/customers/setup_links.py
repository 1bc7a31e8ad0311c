"""Storage of setup links that vendors make for customers."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.customers.setup_links import CustomerSetupLink


class CustomerSetupLinks(Protocol):
    """Setup links to internal organizations; only hashes of their secrets are stored."""

    def of_customer(self, internal_id: UUID) -> Sequence[CustomerSetupLink]:
        """List the valid links to an internal organization, the newest first."""
        ...

    def count_of_vendor(self, vendor_id: UUID) -> int:
        """Count the valid links that a vendor has made for all of its customers."""
        ...

    def add(self, internal_id: UUID, link: CustomerSetupLink, *, secret_hash: bytes) -> None:
        """Store a link."""
        ...

    def remove(self, internal_id: UUID, link_id: UUID) -> CustomerSetupLink | None:
        """Delete a link with its visits and return it; None when the internal organization has no such link."""
        ...

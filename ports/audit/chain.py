"""Storage of the hash chains of audit logs."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.audit.chain import ChainEnd, OrganizationChain, OutsideEntry, SealedEntry, Unsealed


class AuditChains(Protocol):
    """The chains of all organizations."""

    def unsealed(self, limit: int) -> Sequence[Unsealed]:
        """Lock the oldest unsealed entries of the organizations whose turn it is, at most `limit` in total.

        The places are shared among these organizations, and the next call continues after them, so that a log of
        millions of unsealed entries delays no other one. Entries that another transaction has locked are left for a
        later call. Return nothing while another transaction seals.
        """
        ...

    def store(self, sealed: Sequence[SealedEntry]) -> None:
        """Append sealed entries to their chains, and make the streams of their organizations due."""
        ...

    def end(self, organization_id: UUID) -> ChainEnd:
        """Return the end of a chain."""
        ...

    def of_organizations(self, slug: str | None) -> Sequence[OrganizationChain]:
        """List the chains of all organizations, or of the one with this slug, also those without entries."""
        ...

    def page(self, organization_id: UUID, *, after: int, through: int, limit: int) -> Sequence[SealedEntry]:
        """Return the sealed entries after a position, in the order of the chain; deleted entries are left out."""
        ...

    def first_outside(self, organization_id: UUID) -> OutsideEntry | None:
        """Return the first entry whose position is outside the chain; None when there is none."""
        ...

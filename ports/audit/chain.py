"""Storage of the hash chains of audit logs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.audit.chain import (
    ChainEnd,
    LogPart,
    OrganizationChain,
    OutsideEntry,
    SealedEntry,
    SealingBacklog,
    Turns,
    Unsealed,
)


class AuditChains(Protocol):
    """The chains of all organizations."""

    def parts(self) -> Sequence[LogPart]:
        """Return the parts in which the logs are stored, the oldest first; together they are all of it."""
        ...

    def take_turns(self, part: LogPart) -> Turns:
        """Return some organizations with unsealed entries in that part; the next call continues after them.

        The part says whether they are found by their marks or by reading the logs. No other transaction seals until
        this one ends; return nothing while another one does.
        """
        ...

    def unsealed(self, shares: Mapping[UUID, int], *, fresh_since: datetime, part: LogPart) -> Sequence[Unsealed]:
        """Lock unsealed entries of the part, as many of each organization as its share allows, and return them by time.

        At least half of a share goes to the first entries since `fresh_since`, the rest to the oldest. Entries that
        another transaction has locked are left for a later call.
        """
        ...

    def backlog(self, largest_max: int) -> SealingBacklog:
        """Return how many entries are not sealed yet, as far as they are counted, and the logs with most of them."""
        ...

    def store(self, sealed: Sequence[SealedEntry]) -> None:
        """Append sealed entries to their chains, and make the streams of their organizations due."""
        ...

    def unmark(self, organization_ids: Sequence[UUID], part: LogPart) -> None:
        """Remove the marks of organizations in which no entry of the part waits and no transaction writes.

        Until this transaction ends, others that write entries of these organizations wait.
        """
        ...

    def mark_overlooked(self, organization_ids: Sequence[UUID]) -> int:
        """Mark each of these organizations that exists and is not marked; return how many."""
        ...

    def end(self, organization_id: UUID) -> ChainEnd:
        """Return the end of a chain."""
        ...

    def of_organizations(self, slug: str | None) -> Sequence[OrganizationChain]:
        """List the chains of all organizations, or of the one with this slug, also those without entries."""
        ...


class SealedEntries(Protocol):
    """The sealed entries of all organizations, and entries that fit no seal."""

    def page(self, organization_id: UUID, *, after: int, through: int, limit: int) -> Sequence[SealedEntry]:
        """Return the sealed entries after a position, in the order of the chain.

        Entries that were deleted, and entries whose position differs from their seal, are left out.
        """
        ...

    def first_misplaced(self, organization_id: UUID, *, after: int, through: int) -> OutsideEntry | None:
        """Return the first entry with a position in this part of the chain that belongs to another entry, if any."""
        ...

    def first_outside(self, organization_id: UUID) -> OutsideEntry | None:
        """Return the first entry whose position is outside the chain; None when there is none."""
        ...

"""Reading the stored audit log; `UnitOfWork.audit` writes it."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.audit.audit_log import AuditLogEntry, AuditLogFilter


class AuditLog(Protocol):
    """The audit logs of the organizations."""

    def page(
        self, organization_id: UUID, wanted: AuditLogFilter, *, limit: int, offset: int
    ) -> tuple[int, Sequence[AuditLogEntry]]:
        """Return the total and a page of entries, newest first, from one snapshot, so that none is counted twice."""
        ...

    def count_next(self, before: UUID, limit: int) -> int:
        """Add the next uncounted entries, at most `limit`, with ids below `before` to the totals; return how many.

        Of concurrent transactions one counts, and the others return 0.
        """
        ...

"""What the core asks of the stored audit log; `UnitOfWork.audit` writes it."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.audit.audit_log import AuditLogFilter, LogEntry


class AuditLog(Protocol):
    """The audit logs of the organizations."""

    def page(
        self, organization_id: UUID, wanted: AuditLogFilter, *, limit: int, offset: int
    ) -> tuple[int, Sequence[LogEntry]]:
        """List entries, newest first, with how many there are, in one statement that counts nothing twice."""
        ...

    def count_on(self, before: UUID, limit: int) -> int:
        """Add the next uncounted entries with a smaller id to the totals, at most `limit`; say how many those were.

        Of several who do so at once one counts, and the others are told that there was nothing to count.
        """
        ...

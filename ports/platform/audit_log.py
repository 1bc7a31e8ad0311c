"""Reading the stored audit log of the platform; `UnitOfWork.audit_platform` writes it."""

from collections.abc import Sequence
from typing import Protocol

from core.platform.audit_log import PlatformAuditLogEntry, PlatformAuditLogFilter


class PlatformAuditLog(Protocol):
    """The audit log of the platform."""

    def page(
        self, wanted: PlatformAuditLogFilter, *, limit: int, offset: int
    ) -> tuple[int, Sequence[PlatformAuditLogEntry]]:
        """Return the total and a page of entries, newest first, in one statement."""
        ...

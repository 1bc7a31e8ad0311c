"""Reading the stored audit log of the platform; `UnitOfWork.audit_platform` writes it."""

from collections.abc import Sequence
from typing import Protocol

from core.audit.platform_audit_log import PlatformAuditLogFilter, PlatformLogEntry


class PlatformAuditLog(Protocol):
    """The audit log of the platform."""

    def page(
        self, wanted: PlatformAuditLogFilter, *, limit: int, offset: int
    ) -> tuple[int, Sequence[PlatformLogEntry]]:
        """Return the total and a page of entries, newest first, in one statement."""
        ...

"""What the core asks of the stored audit log of the platform; `UnitOfWork.audit_platform` writes it."""

from collections.abc import Sequence
from typing import Protocol

from core.audit.platform_audit_log import PlatformAuditLogFilter, PlatformLogEntry


class PlatformAuditLog(Protocol):
    """What platform owners did."""

    def page(
        self, wanted: PlatformAuditLogFilter, *, limit: int, offset: int
    ) -> tuple[int, Sequence[PlatformLogEntry]]:
        """List entries, newest first, with how many there are, in one statement."""
        ...

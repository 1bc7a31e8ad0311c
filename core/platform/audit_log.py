"""Reading the platform's audit log; its actions are in `core/events/actions.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.audit.audit_log import AuditLogPage, LogEntry, page_of_search, require_type_of_target
from core.audit.entry_search import EntryCriteria, searched
from core.events.actions import (  # the reference is made from the fields of `PlatformAuditLogFilter`
    PlatformAction,
    PlatformTargetType,
)
from core.lazy_dataclasses import dataclass
from core.organizations.authorization import authorize_platform
from core.positions import Pagination

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformAuditLogEntry(LogEntry):
    """An entry of the platform's audit log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformAuditLogFilter(EntryCriteria):
    """The requested entries; None means any."""

    action: PlatformAction | None = None
    target_type: PlatformTargetType | None = None


def read_page(uow: UnitOfWork, wanted: PlatformAuditLogFilter, *, page: int, limit: int) -> AuditLogPage:
    """Return a page of the platform's log, newest first."""
    authorize_platform(uow)
    require_type_of_target(wanted)
    if wanted.is_given:
        return page_of_search(uow, None, searched(uow, wanted), page=page, limit=limit)
    total, logs = uow.elsewhere.platform_audit_log.page(wanted, limit=limit, offset=(page - 1) * limit)
    return AuditLogPage(logs=list(logs), pagination=Pagination.of(page, limit, total))

"""Reading an organization's audit log: pages of it, newest first, and how many entries there are.

What is written, and when, is in `core/events/actions.py` and in the use cases. Counting twenty million entries takes
too long for a page, so each entry is counted once beforehand: `count_on` goes through the log in the order of the ids
and adds to the totals of the organizations. A page adds the entries that are younger, so its total is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.errors import BadRequest
from core.events.actions import AuditAction, TargetType
from core.organizations.access import Operation, authorize

if TYPE_CHECKING:
    from core.events.events import EventTypeItem
    from ports.unit_of_work import UnitOfWork

# Who acted, where that is nobody or nobody any more (operations 2.3 says so of owners).
GONE_EMAIL: Final = "deleted-user@unknown"
NOBODY_ID: Final = "system"
NOBODY_EMAIL: Final = "system@unknown"
# An entry has its id before it is committed, and clocks of replicas differ: after so long none comes in between.
SETTLES_AFTER: Final = timedelta(hours=1)
# RFC 9562, 5.7: the milliseconds of a UUIDv7 are its first 48 bits.
_MILLISECONDS_SHIFT: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who did it; `system` is background work, and somebody who was deleted keeps their id alone."""

    id: str
    email: str
    is_platform_owner: bool

    @classmethod
    def of(cls, user_id: UUID | None, email: str | None, is_platform_owner: bool | None) -> Actor:  # noqa: FBT001 - its columns
        """Name an actor, of whom the account may be gone."""
        if user_id is None:
            return cls(id=NOBODY_ID, email=NOBODY_EMAIL, is_platform_owner=False)
        return cls(id=str(user_id), email=email or GONE_EMAIL, is_platform_owner=bool(is_platform_owner))


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One line of the log as it is read (operations 2.8)."""

    id: UUID
    org_id: UUID
    actor: Actor
    action: str
    target_type: str
    target_id: str
    ip_address: str | None
    user_agent: str | None
    success: bool
    details: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Pagination:
    """Where in a list a page is."""

    page: int
    limit: int
    total: int
    total_pages: int
    has_next: bool
    has_prev: bool

    @classmethod
    def of(cls, page: int, limit: int, total: int) -> Pagination:
        """Say where a page is in a list of so many."""
        total_pages = -(-total // limit)
        return cls(
            page=page,
            limit=limit,
            total=total,
            total_pages=total_pages,
            has_next=page < total_pages,
            has_prev=page > 1,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogPage:
    """Some entries, newest first."""

    logs: list[LogEntry]
    pagination: Pagination


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogFilter:
    """Which entries are asked for; None is any."""

    action: AuditAction | None = None
    target_type: TargetType | None = None
    target_id: str | None = None

    @property
    def is_contradictory(self) -> bool:
        """Whether there can be no such entry: every action has one type of target."""
        return (
            self.action is not None and self.target_type is not None and self.action.target_type is not self.target_type
        )

    @property
    def kind(self) -> str:
        """The kind of entries under which these are counted: an action, else a target type, else all."""
        if self.action is not None:
            return self.action.value
        return self.target_type.value if self.target_type is not None else ""


def read_page(uow: UnitOfWork, slug: str, wanted: AuditLogFilter, *, page: int, limit: int) -> AuditLogPage:
    """Give a page of the organization's log, newest first."""
    organization = authorize(uow, slug, Operation.AUDIT_LOG_READ).organization
    if wanted.target_id is not None and wanted.target_type is None:
        raise BadRequest.of_field("target_type", "Say of which type the target_id is.")
    if wanted.is_contradictory:
        return AuditLogPage(logs=[], pagination=Pagination.of(page, limit, 0))
    total, logs = uow.audit_log.page(organization.id, wanted, limit=limit, offset=(page - 1) * limit)
    return AuditLogPage(logs=list(logs), pagination=Pagination.of(page, limit, total))


def event_types(uow: UnitOfWork, slug: str) -> list[EventTypeItem]:
    """Describe every action that the log can have, to whoever may read it."""
    authorize(uow, slug, Operation.AUDIT_LOG_READ)
    return [action.event.item for action in AuditAction]


def count_on(uow: UnitOfWork, limit: int) -> int:
    """Add the next entries that were not counted yet to the totals, at most so many; say how many those were."""
    return uow.audit_log.count_on(_first_id_at(uow.now - SETTLES_AFTER), limit)


def _first_id_at(moment: datetime) -> UUID:
    """Give the id that none of this moment comes before."""
    return UUID(int=int(moment.timestamp() * 1000) << _MILLISECONDS_SHIFT)

"""Reading an organization's audit log: pages of entries, newest first, and their total.

The actions are in `core/events/actions.py`; use cases record them. Counting twenty million entries for a page takes too
long, so each entry is counted once in advance: `count_next` goes through the log in the order of the ids and adds to
the totals of the organizations. A page adds the newer entries, so its total is exact.
"""

from __future__ import annotations

from collections.abc import (
    Mapping,
    Sequence,
)
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.audit.entry_search import EntryCriteria, EntrySearch, searched
from core.errors import BadRequest
from core.events.actions import AuditAction, TargetType
from core.events.events import EventTypeItem
from core.ids import MILLISECOND, first_id_at, moment_of
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.positions import Pagination
from core.sessions.callers import KEY_ACTOR_PREFIX, LINK_ACTOR_PREFIX, Caller

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Placeholders for an actor whose account was deleted, and for no actor.
DELETED_USER_EMAIL: Final = "deleted-user@unknown"
SYSTEM_ID: Final = "system"
SYSTEM_EMAIL: Final = "system@unknown"
# The detail that names a setup link: its holder has no account.
SETUP_LINK: Final = "setup_link_id"
# The detail that names the key of the organization with which a program has called.
ORGANIZATION_KEY: Final = "organization_key_id"
# The detail that names the workload that has called as that key.
KEY_WORKLOAD: Final = "organization_key_workload_id"
# The detail that names the impersonator of a user; another one names the session.
IMPERSONATOR: Final = "impersonator_id"
IMPERSONATION_SESSION: Final = "impersonation_session"
# An entry gets its id before it is committed, and the clocks of replicas differ. Older entries are all committed.
SETTLES_AFTER: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogActor:
    """The actor. The id of background work is `system`; of a deleted user only the id is kept.

    The id of a setup link's holder is `setup_link:` with the id of the link, and of a program with a key of the
    organization `api_key:` with the id of the key; both have no address.
    """

    id: str
    email: str
    is_platform_owner: bool

    @classmethod
    def of(
        cls,
        user_id: UUID | None,
        email: str | None,
        is_platform_owner: bool | None,  # noqa: FBT001 - a column
        details: Mapping[str, Any],
    ) -> AuditLogActor:
        """Return the actor with this id; the other columns are None when the account no longer exists."""
        if user_id is None and SETUP_LINK in details:
            return cls(id=f"{LINK_ACTOR_PREFIX}{details[SETUP_LINK]}", email="", is_platform_owner=False)
        if user_id is None and ORGANIZATION_KEY in details:
            return cls(id=f"{KEY_ACTOR_PREFIX}{details[ORGANIZATION_KEY]}", email="", is_platform_owner=False)
        if user_id is None:
            return cls(id=SYSTEM_ID, email=SYSTEM_EMAIL, is_platform_owner=False)
        return cls(id=str(user_id), email=email or DELETED_USER_EMAIL, is_platform_owner=bool(is_platform_owner))

    @classmethod
    def of_caller(cls, caller: Caller) -> AuditLogActor:
        """Return the actor of what a caller does."""
        if caller.limits.acts_for_maker:
            return cls(id=caller.actor, email="", is_platform_owner=False)
        return cls(id=caller.actor, email=caller.account.email, is_platform_owner=caller.acts_as_platform_owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """An entry of an audit log; `organization_id` is its organization, if there is one."""

    id: UUID
    organization_id: UUID | None
    actor: AuditLogActor
    action: str
    target_type: str
    target_id: str
    ip_address: str | None
    user_agent: str | None
    success: bool
    details: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogEntry(LogEntry):
    """An entry of an organization's audit log."""

    organization_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundEntry(LogEntry):
    """An entry that a search has found.

    `request_id` is None for background work and older entries, `position` while the entry is not sealed, and always in
    the platform's log.
    """

    request_id: str | None
    position: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedEntries:
    """A part of what a search finds, the newest first.

    `total` is exact up to `COUNTED_MAX`, and one more than that beyond. Unless it `is_exact`, it only counts matches
    among the newest entries of the leading condition. `bound_id` is the id of the last entry that the search looked at;
    None when nothing follows it.
    """

    entries: Sequence[FoundEntry]
    total: int
    is_exact: bool
    has_more: bool
    bound_id: UUID | None

    @property
    def next_id(self) -> UUID | None:
        """The id before which the next part begins; None at the end."""
        return self.entries[-1].id if self.has_more else self.bound_id


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogPage:
    """A page of entries, newest first.

    `looked_back_to` is the time of the oldest entry that a search has looked at, if there are older ones, and
    `looked_back_to_id` its id; None without a search, and when it has looked at all.
    """

    logs: Sequence[LogEntry]
    pagination: Pagination
    looked_back_to: datetime | None = None
    looked_back_to_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogFilter(EntryCriteria):
    """The requested entries; None means any."""

    action: AuditAction | None = None
    target_type: TargetType | None = None

    @property
    def is_contradictory(self) -> bool:
        """Whether no entry can match, because the action has another type of target."""
        return (
            self.action is not None and self.target_type is not None and self.action.target_type is not self.target_type
        )

    @property
    def kind(self) -> str:
        """The kind under which the total of these entries is kept: the action, else the target type, else empty."""
        if self.action is not None:
            return self.action.value
        return self.target_type.value if self.target_type is not None else ""


def read_page(uow: UnitOfWork, slug: str, wanted: AuditLogFilter, *, page: int, limit: int) -> AuditLogPage:
    """Return a page of the organization's log, newest first."""
    organization = authorize(uow, slug, Operation.AUDIT_LOG_READ).organization
    require_type_of_target(wanted)
    if wanted.is_contradictory:
        return AuditLogPage(logs=[], pagination=Pagination.of(page, limit, 0))
    if wanted.is_given:
        return page_of_search(uow, organization.id, searched(uow, wanted), page=page, limit=limit)
    total, logs = uow.elsewhere.audit_log.page(organization.id, wanted, limit=limit, offset=(page - 1) * limit)
    return AuditLogPage(logs=list(logs), pagination=Pagination.of(page, limit, total))


def event_types(uow: UnitOfWork, slug: str) -> list[EventTypeItem]:
    """Describe every action that the log can contain."""
    authorize(uow, slug, Operation.AUDIT_LOG_READ)
    return [action.event.item for action in AuditAction]


def require_type_of_target(wanted: EntryCriteria) -> None:
    """Raise `BadRequest` for a target without its type."""
    if wanted.target_id is not None and wanted.target_type is None:
        raise BadRequest.of_field("target_type", "Name the type of the target_id.")


def page_of_search(
    uow: UnitOfWork, organization_id: UUID | None, search: EntrySearch, *, page: int, limit: int
) -> AuditLogPage:
    """Return a page of what a search finds among the newest entries; None is the platform's log."""
    offset = (page - 1) * limit
    found = uow.elsewhere.audit_searches.find(organization_id, search, limit=limit, offset=min(offset, COUNTED_MAX))
    return AuditLogPage(
        logs=found.entries,
        # A caller reaches older entries by `until`, not by a page.
        pagination=Pagination.of(page, limit, min(found.total, COUNTED_MAX)),
        # Entries of the same time are searched again rather than never. Where one request has written more of them than
        # a search looks at, only the id leads on.
        looked_back_to=moment_of(found.bound_id) + MILLISECOND if found.bound_id is not None else None,
        looked_back_to_id=found.bound_id,
    )


def count_next(uow: UnitOfWork, limit: int) -> int:
    """Add the next uncounted entries to the totals, at most `limit` of them; return how many."""
    return uow.audit_log.count_next(first_id_at(uow.now - SETTLES_AFTER), limit)

"""The audit log of the platform as its console shows it, to platform owners: `core/audit/browser.py` for this log.

It has no chain. An entry gets its id some moments before it is committed, so new entries are read again from a while
before the last one that a reader has seen; the reader leaves out the ones that it has.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.audit.audit_log import SearchedEntries
from core.audit.browser import (
    AskedEntries,
    AuditEntryUnknown,
    BrowsedEntries,
    NewEntries,
    ShownEntry,
    names_of,
    search_of,
)
from core.audit.search import EntrySearch
from core.events.actions import PlatformTargetType
from core.ids import FIRST_ID, first_id_at, moment_of
from core.organizations.access import authorize_platform

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Longer than any request.
SETTLES_AFTER: Final = timedelta(minutes=1)


def find(uow: UnitOfWork, asked: AskedEntries, *, before_id: UUID, limit: int) -> BrowsedEntries:
    """Return a part of the found entries, the newest first; raise `BadRequest` for an invalid search."""
    authorize_platform(uow)
    return _browsed(
        uow, uow.elsewhere.audit_searches.find(None, _search_of(uow, asked), limit=limit, before_id=before_id)
    )


def listed(uow: UnitOfWork, asked: AskedEntries, *, before_id: UUID, limit: int) -> BrowsedEntries:
    """Return a part of what `find` finds, without a count; for files."""
    authorize_platform(uow)
    return _browsed(
        uow, uow.elsewhere.audit_searches.listed(None, _search_of(uow, asked), limit=limit, before_id=before_id)
    )


def show(uow: UnitOfWork, entry_id: UUID) -> ShownEntry:
    """Return an entry; raise `AuditEntryUnknown`."""
    authorize_platform(uow)
    entry = uow.elsewhere.audit_searches.entry(None, entry_id)
    if entry is None:
        raise AuditEntryUnknown
    return ShownEntry(entry=entry, names=names_of(uow, None, [entry]), fits_seal=None)


def position(uow: UnitOfWork) -> int:
    """Return the newest position of the log, which is the number of its newest id."""
    authorize_platform(uow)
    return (uow.elsewhere.audit_searches.newest_of_platform() or FIRST_ID).int


def newest(uow: UnitOfWork, asked: AskedEntries, *, after: int, limit: int) -> NewEntries:
    """Return the entries since a while before a position, and the newest position of the log."""
    last = position(uow)
    again_from = first_id_at(moment_of(UUID(int=min(after, last))) - SETTLES_AFTER)
    found = uow.elsewhere.audit_searches.written_after(_search_of(uow, asked), after_id=again_from, limit=limit)
    return NewEntries(entries=found, names=names_of(uow, None, found), position=last)


def _search_of(uow: UnitOfWork, asked: AskedEntries) -> EntrySearch:
    return search_of(uow, None, asked, target_types=tuple(PlatformTargetType))


def _browsed(uow: UnitOfWork, found: SearchedEntries) -> BrowsedEntries:
    return BrowsedEntries(found=found, names=names_of(uow, None, found.entries), chain=None)

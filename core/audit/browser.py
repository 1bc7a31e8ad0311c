"""The audit log of an organization or the platform as its console shows it: a search, one entry, and new entries.

The conditions and their limits are in `entry_search.py`. Without a slug, a use case is about the platform's log, which
only platform owners may read.

New entries of an organization are read in the order of the chain: only committed entries have positions, so that a
reader who goes on after a position misses none. The platform's log has no chain. An entry gets its id some moments
before it is committed, so new entries are read again from a while before the last one that a reader has seen; the
reader leaves out the ones that it has.

Readers who follow a log wait without a connection to the database. While some wait, one statement a second finds which
of their logs have new entries, however many readers there are; the places of an organization are so few that it fills
no process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from core import log_times
from core.audit import chain
from core.audit.audit_log import IMPERSONATOR, ORGANIZATION_KEY, FoundEntry, SearchedEntries
from core.audit.chain import ChainState
from core.audit.chain_verification import ChainBroken, ChainVerifier
from core.audit.entry_search import EntrySearch, actor_of, place_of
from core.email_addresses import canonical_email
from core.errors import BadRequest, NotFound, RateLimitExceeded
from core.events.actions import AuditAction, PlatformTargetType, TargetType
from core.ids import FIRST_ID, first_id_at, moment_of
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_platform

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# One read of new entries passes so many positions when the filter leaves most of them out.
PASSED_MAX: Final = 5_000
# An entry of the platform is committed within this time after it got its id. Longer than any request.
SETTLES_AFTER: Final = timedelta(minutes=1)
API_KEY: Final = "api_key_id"
SCIM_TOKEN: Final = "scim_token_id"  # noqa: S105 - the name of a detail
# Further details with ids that may have a name, also where they were changed.
NAMED_DETAILS: Final = (
    *(API_KEY, SCIM_TOKEN, ORGANIZATION_KEY, "organization_id", "customer_id", "plan_id", "service_id", "tier_id"),
    *("connection_id", "provider_id", "route_id", "webhook_id", "user_id", "approved_by"),
)
_TARGET_MALFORMED: Final = "Give an email address, or the id of what the action was done to."


class AuditEntryUnknown(NotFound):
    """The log has no entry with this id."""

    default_message = "There is no such entry in this audit log."


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedEntries:
    """The entries to find, as a person has typed; an empty text finds any. Times without a zone are in UTC."""

    actor: str = ""
    action: str = ""
    target: str = ""
    address: str = ""
    request: str = ""
    since: str = ""
    until: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether every entry is wanted."""
        return self == AskedEntries()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryNames:
    """The names for ids in entries, and the addresses of impersonators."""

    named: Mapping[UUID, str]
    impersonators: Mapping[UUID, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowsedEntries:
    """A part of a log with names for its ids; `chain` is None for the platform's log, which has none."""

    found: SearchedEntries
    names: EntryNames
    chain: ChainState | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEntry:
    """One entry, and whether it fits its seal; None for one that is not sealed."""

    entry: FoundEntry
    names: EntryNames
    fits_seal: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntries:
    """New entries, the newest first, and the position after which the next ones come."""

    entries: Sequence[FoundEntry]
    names: EntryNames
    position: int


def find(uow: UnitOfWork, slug: str | None, asked: AskedEntries, *, before_id: UUID, limit: int) -> BrowsedEntries:
    """Return a part of the found entries, the newest first; raise `BadRequest` for an invalid search."""
    log = _log_of(uow, slug)
    found = uow.elsewhere.audit_searches.find(log, _search_of(uow, log, asked), limit=limit, before_id=before_id)
    return BrowsedEntries(
        found=found,
        names=names_of(uow, log, found.entries),
        chain=chain.state_of(uow, log) if log is not None else None,
    )


def begin_file(uow: UnitOfWork, slug: str) -> None:
    """Record that entries are exported as a file."""
    organization = authorize(uow, slug, Operation.AUDIT_LOG_READ).organization
    uow.record(AuditAction.AUDIT_LOG_EXPORTED, organization.id, organization_id=organization.id, format="csv")


def listed(uow: UnitOfWork, slug: str | None, asked: AskedEntries, *, before_id: UUID, limit: int) -> BrowsedEntries:
    """Return a part of what `find` finds, without a count; for files."""
    log = _log_of(uow, slug)
    found = uow.elsewhere.audit_searches.find(
        log, _search_of(uow, log, asked), limit=limit, before_id=before_id, is_counted=False
    )
    return BrowsedEntries(found=found, names=names_of(uow, log, found.entries), chain=None)


def show(uow: UnitOfWork, slug: str | None, entry_id: UUID) -> ShownEntry:
    """Return an entry, and whether it fits its seal; raise `AuditEntryUnknown`."""
    log = _log_of(uow, slug)
    entry = uow.elsewhere.audit_searches.entry(log, entry_id)
    if entry is None:
        raise AuditEntryUnknown
    return ShownEntry(
        entry=entry,
        names=names_of(uow, log, [entry]),
        fits_seal=_fits_seal(uow, log, entry.position) if log is not None and entry.position is not None else None,
    )


def log_of(uow: UnitOfWork, slug: str) -> UUID:
    """Return the id of the log of an organization, for a reader who follows it."""
    return authorize(uow, slug, Operation.AUDIT_LOG_READ).organization.id


def newest(uow: UnitOfWork, slug: str, asked: AskedEntries, *, after: int, limit: int) -> NewEntries:
    """Return the sealed entries after a position of the chain."""
    organization = authorize(uow, slug, Operation.AUDIT_LOG_READ).organization
    search = _search_of(uow, organization.id, asked)
    sealed_through = uow.elsewhere.audit_chains.end(organization.id).sealed_through
    # A position beyond the end comes from another log, or from this one before it was restored.
    after = min(after, sealed_through)
    through = min(after + PASSED_MAX, sealed_through)
    found = uow.elsewhere.audit_searches.sealed_after(
        organization.id, search, after=after, through=through, limit=limit
    )
    last = found[-1].position if len(found) == limit else None
    return NewEntries(
        entries=found[::-1],
        names=names_of(uow, organization.id, found),
        position=last if last is not None else through,
    )


def position_of_platform(uow: UnitOfWork) -> int:
    """Return the newest position of the platform's log, which is the number of its newest id."""
    authorize_platform(uow)
    return (uow.elsewhere.audit_searches.newest_of_platform() or FIRST_ID).int


def newest_of_platform(uow: UnitOfWork, asked: AskedEntries, *, after: int, limit: int) -> NewEntries:
    """Return the entries of the platform's log since a while before a position, and its newest position."""
    last = position_of_platform(uow)
    again_from = first_id_at(moment_of(UUID(int=min(after, last))) - SETTLES_AFTER)
    found = uow.elsewhere.audit_searches.written_after(_search_of(uow, None, asked), after_id=again_from, limit=limit)
    return NewEntries(entries=found, names=names_of(uow, None, found), position=last)


def _log_of(uow: UnitOfWork, slug: str | None) -> UUID | None:
    """Authorize a reader; return the organization of the log, None for the platform's."""
    if slug is not None:
        return log_of(uow, slug)
    authorize_platform(uow)
    return None


def _search_of(uow: UnitOfWork, organization_id: UUID | None, asked: AskedEntries) -> EntrySearch:
    """Return the conditions of a typed search; raise `BadRequest` for an invalid one."""
    target_types = tuple(TargetType if organization_id is not None else PlatformTargetType)
    target_type, target_id = _target_of(uow, organization_id, asked.target, target_types)
    return EntrySearch(
        actor=actor_of(uow, asked.actor) if asked.actor.strip() else None,
        action=asked.action or None,
        target_type=target_type,
        target_id=target_id,
        ip_address=place_of(asked.address)[0] or asked.address.strip() or None,
        request_id=asked.request.strip() or None,
        times=log_times.typed(asked.since, asked.until),
    )


def names_of(uow: UnitOfWork, organization_id: UUID | None, entries: Iterable[FoundEntry]) -> EntryNames:
    """Return the names for ids in entries."""
    named: set[UUID] = set()
    impersonators: set[UUID] = set()
    for entry in entries:
        named |= _ids_in([entry.target_id, *(value for name in NAMED_DETAILS for value in _values_of(entry, name))])
        if entry.organization_id is not None:
            named.add(entry.organization_id)
        impersonators |= _ids_in([entry.details.get(IMPERSONATOR)])
    return EntryNames(
        named=uow.elsewhere.audit_searches.names(organization_id, named) if named else {},
        impersonators=uow.elsewhere.audit_searches.impersonators(impersonators) if impersonators else {},
    )


def _values_of(entry: FoundEntry, name: str) -> Iterable[Any]:
    """Return the values of a detail: its own, and the values before and after a change."""
    change = _object_in(_object_in(entry.details, "changes"), name)
    return [entry.details.get(name), *change.values()]


def _object_in(outer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the value of this name if it is an object; an empty one otherwise."""
    value = outer.get(name)
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _target_of(
    uow: UnitOfWork,
    organization_id: UUID | None,
    typed: str,
    target_types: Collection[str],
) -> tuple[str | None, str | None]:
    trimmed = typed.strip()
    if not trimmed:
        return None, None
    if "@" in trimmed:
        return _target_with_email(uow, organization_id, canonical_email(trimmed, uow.domain_names.to_ascii))
    target_id = next(iter(_ids_in([trimmed])), None)
    if target_id is None:
        raise BadRequest.of_field("target", _TARGET_MALFORMED)
    target_type = uow.elsewhere.audit_searches.target_type_of(organization_id, str(target_id), target_types)
    return target_type or TargetType.USER.value, str(target_id)


def _target_with_email(uow: UnitOfWork, organization_id: UUID | None, email: str) -> tuple[str, str]:
    """Return the account with an address if the log has entries about it, else the invitation to the address.

    An entry about inviting has the id of the invitation in place of a user's. Every address causes the same look-ups,
    so that neither the answer nor its time tells who has an account.
    """
    user_id = uow.elsewhere.audit_searches.user_of(email)
    target_id = str(user_id) if user_id is not None else email
    user_type = uow.elsewhere.audit_searches.target_type_of(organization_id, target_id, [TargetType.USER.value])
    invitation_id = uow.elsewhere.audit_searches.invitation_to(organization_id, email)
    if user_type is None and invitation_id is not None:
        target_id = str(invitation_id)
    return TargetType.USER.value, target_id


def _fits_seal(uow: UnitOfWork, organization_id: UUID, position: int) -> bool:
    for sealed in uow.elsewhere.sealed_entries.page(organization_id, after=position - 1, through=position, limit=1):
        verifier = ChainVerifier(position=position - 1, head=sealed.seal.previous_hash)
        with suppress(ChainBroken):
            verifier.check(chain.line_of(sealed))
        return verifier.position == position
    return False


def _ids_in(values: Iterable[Any]) -> set[UUID]:
    """Return the values that are ids."""
    ids: set[UUID] = set()
    for value in values:
        try:
            ids.add(UUID(value))
        except (ValueError, AttributeError, TypeError):
            continue
    return ids


# For each organization, and for the platform, in each process.
PLACES_MAX: Final = 20
WAIT_SECONDS_MAX: Final = 20.0
RETRY_SECONDS: Final = 10
# The log of the platform, among those of the organizations.
PLATFORM_LOG: Final = UUID(int=0)


class TailsTaken(RateLimitExceeded):
    """The maximum of readers waits for new entries of this log already."""

    limit = "audit_tails"
    counts = "readers"
    default_message = (
        "This audit log is being followed by 20 people already. This page loads itself again from time to time instead."
    )


def positions(uow: UnitOfWork, logs: Collection[UUID]) -> Mapping[UUID, int]:
    """Return the present position of each log that has one.

    It is the last sealed position; for the platform it is the number of its newest id.
    """
    found = dict(uow.audit_searches.newest_positions([log for log in logs if log != PLATFORM_LOG]))
    newest = uow.audit_searches.newest_of_platform() if PLATFORM_LOG in logs else None
    if newest is not None:
        found[PLATFORM_LOG] = newest.int
    return found

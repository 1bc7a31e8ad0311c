"""The hash chain of an organization's audit log: no sealed entry can be changed, removed or inserted unnoticed.

An actor seals committed entries some seconds after they were written (`seal_next`), so writers never wait for one
another: it gives each entry the next position of its organization, and a hash over the previous hash and the entry.
Where very many wait, as after an upgrade, all organizations have a share of each batch, and new entries come first.
Each transaction that writes entries marks their organizations, and the actor looks only at these; `mark_overlooked`
finds entries whose organization has lost its mark. Personal fields enter the hash as salted digests. Anonymization
deletes value and salt and keeps the digest, so the chain still fits. `chain_verification.py` checks a chain
(ops/decisions/0020).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.audit.audit_log import AuditLogFilter
from core.audit.canonical_json import canonical
from core.events.actions import AuditAction
from core.ids import FIRST_ID, LAST_ID, first_id_at
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The hash before the first entry.
FIRST_HASH: Final = "0" * 64
# A signed token needs an end; no rule depends on the end of a proof.
PROOF_LIFETIME: Final = timedelta(days=36_500)
# Older entries that still wait are found by an occasional search of all months.
SEALED_WITHIN: Final = timedelta(days=7)
# Entries newer than this are sealed before older ones that still wait.
FRESH: Final = timedelta(minutes=10)
# So many of the largest logs share half of each batch.
LARGEST_MAX: Final = 5
# Per statement of an export.
EXPORT_ENTRIES_MAX: Final = 500
# Details may have any names; this prefix keeps them apart from other fields.
DETAIL: Final = "details."
# The fields that the hash covers directly. Personal fields enter it through `digests`.
COVERED: Final = (
    *("id", "org_id", "position", "actor_user_id", "action", "target_type", "target_id", "success", "created_at"),
    "digests",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEntry:
    """An audit entry as it is stored."""

    id: UUID
    organization_id: UUID
    actor_user_id: UUID | None
    action: str
    target_type: str
    target_id: str
    ip_address: str | None
    user_agent: str | None
    success: bool
    details: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """The place of an entry in the chain of its organization."""

    entry_id: UUID
    position: int
    previous_hash: str
    hash: str
    digests: dict[str, str]
    salts: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedEntry:
    """An entry and its seal."""

    entry: ChainEntry
    seal: Seal


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEnd:
    """The last position of a chain and its hash; `sealed_at` is None for a chain without entries."""

    organization_id: UUID
    sealed_through: int
    hash: str
    sealed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrganizationChain:
    """The end of the chain of an organization with this slug."""

    slug: str
    end: ChainEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsealed:
    """The end of a chain, and the entries to append to it.

    The end has the last position in use, unless the tables were changed by hand: then the chain is broken, but sealing
    goes on, for this organization and for the others.
    """

    end: ChainEnd
    last_position: int
    entries: Sequence[ChainEntry]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    """The entries of all logs with ids from `since_id` on, and before `end_id`.

    Waiting entries are found `by_marks` of organizations, or in the logs themselves.
    """

    since_id: UUID
    end_id: UUID
    by_marks: bool = False

    @property
    def is_old(self) -> bool:
        """Whether it has an end, so that it gets no new entries."""
        return self.end_id != LAST_ID


EVERYTHING: Final = LogPart(since_id=FIRST_ID, end_id=LAST_ID, by_marks=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """Organizations whose entries are sealed next, and marked ones without waiting entries."""

    waiting: Sequence[UUID]
    idle: Sequence[UUID]


NO_TURNS: Final = Turns(waiting=(), idle=())


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsealedLog:
    """How many entries of a log are not sealed yet."""

    organization_id: UUID
    entries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SealingBacklog:
    """How many entries of all logs are not sealed yet, and the logs with most of them."""

    entries: int
    largest: Sequence[UnsealedLog]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideEntry:
    """An entry with a position before the first or after the last one of its chain."""

    id: UUID
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainState:
    """The end of a chain, and the number of entries of the log, sealed or not."""

    end: ChainEnd
    entries: int

    @property
    def pending(self) -> int:
        """How many entries are not sealed yet."""
        # Entries that were deleted by hand keep their positions.
        return max(0, self.entries - self.end.sealed_through)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLogProof:
    """What the log contains at this moment. `head` is a JWS that names the last position and its hash."""

    entries: int
    sealed_through: int
    pending: int
    head: str
    sealed_at: datetime | None


def state(uow: UnitOfWork, slug: str) -> ChainState:
    """Return the end of an organization's chain, for a proof."""
    return state_of(uow, authorize(uow, slug, Operation.AUDIT_LOG_READ).organization.id)


def begin_export(uow: UnitOfWork, slug: str) -> ChainState:
    """Return what `state` does for an export, and record the export."""
    organization = authorize(uow, slug, Operation.AUDIT_LOG_READ).organization
    found = state_of(uow, organization.id)
    uow.record(
        AuditAction.AUDIT_LOG_EXPORTED,
        organization.id,
        organization_id=organization.id,
        sealed_through=found.end.sealed_through,
    )
    return found


def export_page(uow: UnitOfWork, slug: str, *, after: int, through: int) -> Sequence[SealedEntry]:
    """Return the next sealed entries after a position, in the order of the chain; none at the end."""
    organization = authorize(uow, slug, Operation.AUDIT_LOG_READ).organization
    return uow.elsewhere.sealed_entries.page(organization.id, after=after, through=through, limit=EXPORT_ENTRIES_MAX)


def seal_next(
    uow: UnitOfWork, limit: int, largest: Sequence[UnsealedLog] = (), within: timedelta | LogPart = EVERYTHING
) -> int:
    """Seal about `limit` committed entries of the organizations whose turn it is and of the largest; return how many.

    Only entries of the time or the part `within` are read. Of concurrent transactions one seals; the others return 0.
    """
    part = within if isinstance(within, LogPart) else _since(uow.now - within)
    turns = uow.audit_chains.take_turns(part)
    sealed: list[SealedEntry] = []
    complete = list(turns.idle)
    if turns.waiting:
        shares = shares_of(limit, turns.waiting, largest)
        for unsealed in uow.audit_chains.unsealed(shares, fresh_since=uow.now - FRESH, part=part):
            sealed += appended(uow, unsealed)
            if len(unsealed.entries) < shares[unsealed.end.organization_id]:
                complete.append(unsealed.end.organization_id)
    if sealed:
        uow.audit_chains.store(sealed)
    if complete and part.by_marks:
        # Last, because other transactions of the organization wait while a mark is removed.
        uow.audit_chains.unmark(complete, part)
    return len(sealed)


def _since(moment: datetime) -> LogPart:
    return LogPart(since_id=first_id_at(moment), end_id=LAST_ID, by_marks=True)


def parts(uow: UnitOfWork) -> Sequence[LogPart]:
    """Return the parts of all logs, the oldest first, for a search for old entries that still wait."""
    return uow.audit_chains.parts()


def shares_of(limit: int, waiting: Sequence[UUID], largest: Sequence[UnsealedLog]) -> dict[UUID, int]:
    """Return how many entries of each organization to seal, at least one.

    Half are divided evenly among the organizations whose turn it is, the other half among the largest logs by their
    backlog. So a few entries are sealed soon, and a large log is sealed in about the time of all others.
    """
    by_backlog = limit // 2 if largest else 0
    even = max(1, (limit - by_backlog) // len(waiting))
    shares = dict.fromkeys(waiting, even)
    backlog = sum(log.entries for log in largest)
    for log in largest:
        shares[log.organization_id] = shares.get(log.organization_id, 0) + max(1, by_backlog * log.entries // backlog)
    return shares


def backlog(uow: UnitOfWork) -> SealingBacklog:
    """Return what is not sealed yet, without the entries of the last moments."""
    return uow.audit_chains.backlog(LARGEST_MAX)


def chains(uow: UnitOfWork, slug: str | None) -> Sequence[OrganizationChain]:
    """List the chains of all organizations, or of the one with this slug; for an operator."""
    return uow.audit_chains.of_organizations(slug)


def page(uow: UnitOfWork, end: ChainEnd, after: int) -> Sequence[SealedEntry]:
    """Return the next sealed entries after a position; for an operator."""
    return uow.sealed_entries.page(
        end.organization_id, after=after, through=end.sealed_through, limit=EXPORT_ENTRIES_MAX
    )


def first_misplaced(uow: UnitOfWork, organization_id: UUID, after: int, through: int) -> OutsideEntry | None:
    """Return an entry with the position of another one, which only a manual change can cause; for an operator."""
    return uow.sealed_entries.first_misplaced(organization_id, after=after, through=through)


def first_outside(uow: UnitOfWork, organization_id: UUID) -> OutsideEntry | None:
    """Return an entry whose position is outside the chain, which only a manual change can cause; for an operator."""
    return uow.sealed_entries.first_outside(organization_id)


def head_claims(state: ChainState, *, audience: str) -> dict[str, Any]:
    """Return the claims of the head of a proof, which repeat all of its plain fields."""
    end = state.end
    return {
        "sub": str(end.organization_id),
        "aud": audience,
        "position": end.sealed_through,
        "hash": end.hash,
        "sealed_at": time_text(end.sealed_at) if end.sealed_at is not None else None,
        "entries": state.entries,
        "pending": state.pending,
    }


def written(fields: Mapping[str, Any]) -> bytes:
    """Return the bytes of a line of an export; each line has only this form."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def line_of(sealed: SealedEntry) -> dict[str, Any]:
    """Return an entry as a line of the export."""
    return _fields_of(sealed.entry, sealed.seal.position) | {
        "digests": sealed.seal.digests,
        "salts": sealed.seal.salts,
        "previous_hash": sealed.seal.previous_hash,
        "hash": sealed.seal.hash,
    }


def personal_fields(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the personal fields of a line that have a value, by the names of their digests."""
    origin = {name: line[name] for name in ("ip_address", "user_agent") if line[name] is not None}
    return origin | {f"{DETAIL}{name}": value for name, value in line["details"].items()}


def digest_of(salt: str, value: Any) -> str:
    """Return the digest of a personal field for the hash; the salt is hexadecimal."""
    return hashlib.sha256(bytes.fromhex(salt) + canonical(value)).hexdigest()


def hash_of(previous_hash: str, line: Mapping[str, Any]) -> str:
    """Return the hash of a line that follows the entry with that hash."""
    covered = canonical({name: line[name] for name in COVERED})
    return hashlib.sha256(bytes.fromhex(previous_hash) + covered).hexdigest()


def appended(uow: UnitOfWork, unsealed: Unsealed) -> Sequence[SealedEntry]:
    """Return entries with the seals that follow the end of their chain."""
    sealed: list[SealedEntry] = []
    previous_hash = unsealed.end.hash
    for position, entry in enumerate(unsealed.entries, start=unsealed.last_position + 1):
        line = _fields_of(entry, position)
        personal = personal_fields(line)
        salts = {name: uow.randomness.salt() for name in personal}
        digests = {name: digest_of(salts[name], value) for name, value in personal.items()}
        seal = Seal(
            entry_id=entry.id,
            position=position,
            previous_hash=previous_hash,
            hash=hash_of(previous_hash, line | {"digests": digests}),
            digests=digests,
            salts=salts,
        )
        sealed.append(SealedEntry(entry=entry, seal=seal))
        previous_hash = seal.hash
    return sealed


def _fields_of(entry: ChainEntry, position: int) -> dict[str, Any]:
    return {
        "id": str(entry.id),
        "org_id": str(entry.organization_id),
        "position": position,
        "actor_user_id": str(entry.actor_user_id) if entry.actor_user_id is not None else None,
        "action": entry.action,
        "target_type": entry.target_type,
        "target_id": entry.target_id,
        "ip_address": entry.ip_address,
        "user_agent": entry.user_agent,
        "success": entry.success,
        "details": entry.details,
        "created_at": time_text(entry.created_at),
    }


def state_of(uow: UnitOfWork, organization_id: UUID) -> ChainState:
    """Do what `state` does for an authorized caller."""
    end = uow.elsewhere.audit_chains.end(organization_id)
    entries, _ = uow.elsewhere.audit_log.page(organization_id, AuditLogFilter(), limit=1, offset=0)
    return ChainState(end=end, entries=entries)


def time_text(moment: datetime) -> str:
    """Return a time in the form that the hash covers: UTC, with microseconds."""
    # Several times as fast as `strftime`, and this runs for every entry.
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"

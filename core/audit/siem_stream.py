"""Streaming an audit log to a SIEM: in the order of the chain, at least once, from a stored cursor.

Sign-ins have a cursor of their own. A batch has either entries or sign-ins, whichever begin with the older one, so that
neither kind waits for all of the other.

A streamer leases a stream (`lease`), reads the next entries (`next_batch`), sends them outside any transaction, and
records how many were received (`record`), which also ends the lease. If the process dies in between, the lease ends,
and the entries are sent again. Only committed entries have positions, so the cursor passes none that comes late.

The sign-ins are those in the organization's context, and of its people at products and by its connections, also refused
ones; not those that still wait for a second factor. They are read from the log of sign-ins in the order of their times,
from a stored place on. A row may be written or finished a moment after its time, so rows younger than `SETTLED_AFTER`
wait, and none is missed. As in `sign_in_log.py`, they name the organization's own people alone, from the time of their
confirmation on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from core.audit.audit_log import AuditLogActor, AuditLogEntry
from core.audit.chain import time_text
from core.audit.siem import SiemContent, SiemOptions, SiemProvider, SiemUnknown, SignInCursor
from core.events.actions import AuditAction, TargetType
from core.ids import CLOCKS_DIFFER_MAX, moment_of
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.secrets import Secret
from core.sign_in.reasons import SignInReason, reason_of

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Limits of a batch: entries, bytes before compression, and the time to collect entries after the last batch.
BATCH_EVENTS_MAX: Final = 500
BATCH_BYTES_MAX: Final = 2**20
BATCH_EVERY: Final = timedelta(seconds=5)
# One statement passes so many positions when the filter leaves most of them out.
SCANNED_MAX: Final = 5_000
# Longer than the slowest attempt and the time to record it; after it another streamer may send.
LEASE: Final = timedelta(seconds=60)
BACKOFF_MIN: Final = timedelta(seconds=5)
BACKOFF_MAX: Final = timedelta(minutes=10)
# Each delay is shortened by up to this share, so that streams that failed together are not retried together.
BACKOFF_JITTER: Final = 0.5
ERROR_CHARACTERS_MAX: Final = 500
TEST_ACTION: Final = "siem.test"
# Doubled so often, the delay is at its maximum.
_DOUBLINGS_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemTarget:
    """The receiver of an organization, with its interface and options."""

    organization_id: UUID
    provider: SiemProvider
    endpoint: str
    token: Secret | None = field(repr=False)
    options: SiemOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedStream:
    """A stream that this streamer alone serves until the lease ends."""

    id: UUID
    organization_id: UUID
    target: SiemTarget
    event_filter: list[str] | None
    starts_at: datetime | None
    position: int
    failures: int
    leased_until: datetime
    include: Sequence[SiemContent] = (SiemContent.AUDIT,)
    sign_ins: SignInCursor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemEvent:
    """An entry or a sign-in as a receiver gets it; a sign-in has no position, but the place behind it.

    `id` differs for each state of a sign-in that was refused and went on.
    """

    id: str
    position: int
    action: str
    created_at: datetime
    payload: dict[str, Any]
    sign_ins: SignInCursor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemBatch:
    """The next entries of a stream, or the next sign-ins.

    Up to the position `through` the filter leaves out everything else, and up to the place `sign_ins` there are no
    other sign-ins; `has_more` says whether more of either waits.
    """

    events: Sequence[SiemEvent]
    through: int
    has_more: bool
    sign_ins: SignInCursor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReceipt:
    """The result of an attempt: how many events, from the first on, were received, and why the others were not.

    Without an error, the others were not sent, or did not fit.
    """

    received: int
    status_code: int | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The state of a stream after an attempt; it goes on at `next_at` if there is more to send.

    It looks for sign-ins at `looks_at` if the chain has no more entries; None for a stream without sign-ins.
    """

    position: int
    sign_ins: SignInCursor | None
    looks_at: datetime | None
    failures: int
    error: str | None
    sent: int
    next_at: datetime

    @property
    def has_sent(self) -> bool:
        """Whether the receiver has taken an entry."""
        return self.sent > 0


def lease(uow: UnitOfWork, streams_max: int) -> Sequence[LeasedStream]:
    """Lease due streams, the longest-waiting first; none of an organization that is not active."""
    return uow.siem_streams.lease(streams_max=streams_max, leased_until=uow.now + LEASE)


def next_batch(uow: UnitOfWork, stream: LeasedStream) -> SiemBatch:
    """Return the next entries or sign-ins of a stream."""
    entries = _next_entries(uow, stream)
    if stream.sign_ins is None:
        return entries
    part = next_part(uow, stream.organization_id, stream.sign_ins, limit=BATCH_EVENTS_MAX)
    sign_ins = [_event_of_sign_in(one) for one in part.found]
    if entries.events and not (sign_ins and sign_ins[0].created_at < entries.events[0].created_at):
        has_more = entries.has_more or bool(sign_ins) or part.has_more
        return replace(entries, has_more=has_more, sign_ins=stream.sign_ins if sign_ins else part.through)
    return SiemBatch(
        events=sign_ins,
        # Without entries to send, the cursor passes what the filter leaves out.
        through=stream.position if entries.events else entries.through,
        has_more=part.has_more or entries.has_more or bool(entries.events),
        sign_ins=part.through,
    )


def _next_entries(uow: UnitOfWork, stream: LeasedStream) -> SiemBatch:
    sealed_through = uow.audit_chains.end(stream.organization_id).sealed_through
    if SiemContent.AUDIT not in stream.include:
        return SiemBatch(events=(), through=sealed_through, has_more=False)
    through = min(stream.position + SCANNED_MAX, sealed_through)
    events, is_last = uow.siem_streams.events(stream, through=through)
    if not is_last:
        through = events[-1].position
    return SiemBatch(events=events, through=through, has_more=through < sealed_through)


def to_send(stream: LeasedStream, batch: SiemBatch) -> Sequence[SiemEvent]:
    """Return the events to send: half as many after each failure, in case the receiver takes few at once."""
    return batch.events[: max(1, len(batch.events) >> stream.failures)]


def record(uow: UnitOfWork, stream: LeasedStream, batch: SiemBatch, receipt: StreamReceipt) -> Progress | None:
    """Move the cursor past the received events, and end the lease; None when the stream was replaced or leased anew."""
    progress = progress_of(stream, batch, receipt, at=uow.now)
    return progress if uow.siem_streams.record(stream, progress) else None


def progress_of(stream: LeasedStream, batch: SiemBatch, receipt: StreamReceipt, *, at: datetime) -> Progress:
    """Return the state after an attempt: with a backlog it goes on at once, else it collects; a failure backs off."""
    has_all = receipt.received == len(batch.events)
    if has_all:
        position, sign_ins = batch.through, batch.sign_ins
    else:
        position, sign_ins = _after_part(stream, batch.events[: receipt.received])
    if receipt.error is not None:
        failures = stream.failures + 1
        next_at = at + backoff(stream.id, failures)
    else:
        failures = 0
        next_at = at if batch.has_more or not has_all else at + BATCH_EVERY
    is_idle = has_all and receipt.error is None and not batch.has_more
    looks_at = at + LOOKED_FOR_EVERY if is_idle else next_at
    return Progress(
        position=position,
        sign_ins=sign_ins,
        looks_at=looks_at if stream.sign_ins is not None else None,
        failures=failures,
        error=receipt.error,
        sent=receipt.received,
        next_at=next_at,
    )


def _after_part(stream: LeasedStream, received: Sequence[SiemEvent]) -> tuple[int, SignInCursor | None]:
    """Return the cursors of a stream after a part of a batch, which has entries or sign-ins."""
    if not received:
        return stream.position, stream.sign_ins
    last = received[-1]
    if last.sign_ins is not None:
        return stream.position, last.sign_ins
    return last.position, stream.sign_ins


def backoff(stream_id: UUID, failures: int) -> timedelta:
    """Return the delay after a number of failures in a row, which differs between streams."""
    delay = min(BACKOFF_MIN * 2 ** min(failures - 1, _DOUBLINGS_MAX), BACKOFF_MAX)
    digest = hashlib.sha256(stream_id.bytes + failures.to_bytes(8)).digest()
    return delay * (1 - BACKOFF_JITTER * int.from_bytes(digest[:4]) / 2**32)


def event_of(entry: AuditLogEntry, *, position: int, entry_hash: str | None) -> SiemEvent:
    """Return an entry as receivers get it, with its place in the chain."""
    actor = {"id": entry.actor.id, "email": entry.actor.email, "is_platform_owner": entry.actor.is_platform_owner}
    return SiemEvent(
        id=str(entry.id),
        position=position,
        action=entry.action,
        created_at=entry.created_at,
        payload={
            "id": str(entry.id),
            "position": position,
            "org_id": str(entry.organization_id),
            "actor": actor,
            "action": entry.action,
            "target_type": entry.target_type,
            "target_id": entry.target_id,
            "ip_address": entry.ip_address,
            "user_agent": entry.user_agent,
            "success": entry.success,
            "details": entry.details,
            "created_at": time_text(entry.created_at),
            "hash": entry_hash,
        },
    )


def _event_of_sign_in(sign_in: StreamedSignIn) -> SiemEvent:
    # The same row records a refusal and, when the person goes on, the sign-in.
    return SiemEvent(
        id=f"{sign_in.id}-{time_text(sign_in.created_at)}",
        position=0,
        action=TYPE,
        created_at=sign_in.created_at,
        payload=sign_in.payload,
        sign_ins=sign_in.cursor,
    )


def prepare_test(uow: UnitOfWork, slug: str) -> tuple[SiemTarget, SiemEvent]:
    """Return the receiver and an event to try it with, and record the test; raise `SiemUnknown` without a stream."""
    authorized = authorize(uow, slug, Operation.SIEM_CHANGE)
    organization_id = authorized.organization.id
    target = uow.siem_streams.target(organization_id)
    if target is None:
        raise SiemUnknown
    uow.record(
        AuditAction.SIEM_TESTED,
        organization_id,
        organization_id=organization_id,
        provider=target.provider.value,
        # Not the whole endpoint: its query may contain a secret.
        host=urlsplit(target.endpoint).hostname,
    )
    entry = AuditLogEntry(
        id=uow.randomness.new_id(),
        organization_id=organization_id,
        actor=AuditLogActor.of_caller(authorized.caller),
        action=TEST_ACTION,
        target_type=TargetType.ORGANIZATION.value,
        target_id=str(organization_id),
        ip_address=None,
        user_agent=None,
        success=True,
        details={"message": "This is a test of the SIEM configuration, and no entry of the audit log."},
        created_at=uow.now,
    )
    return target, event_of(entry, position=0, entry_hash=None)


TYPE: Final = "sign_in"
# Clocks differ, and a transaction is committed within a minute after its time.
SETTLED_AFTER: Final = CLOCKS_DIFFER_MAX + timedelta(minutes=1)
# One statement puts so much of the log in the order of times.
WINDOW: Final = timedelta(minutes=10)
# How often a stream looks for new ones.
LOOKED_FOR_EVERY: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedSignIn:
    """A sign-in of the log; the person and the address are None where the organization may not know them."""

    id: UUID
    created_at: datetime
    success: bool
    reason: str | None
    user_id: UUID | None
    email: str | None
    service: str | None
    customer: str | None
    connection_id: UUID | None
    ip_address: str | None

    @property
    def cursor(self) -> SignInCursor:
        """The place behind it."""
        return SignInCursor(at=self.created_at, id=self.id)

    @property
    def outcome(self) -> str:
        """The outcome."""
        return "success" if self.success else "refused"

    @property
    def payload(self) -> dict[str, Any]:
        """The form for a receiver."""
        known = None if self.success else reason_of(self.reason) or SignInReason.NOT_RECORDED
        return {
            "type": TYPE,
            "id": str(self.id),
            "outcome": self.outcome,
            "reason": known.value if known is not None else None,
            "user": {"id": str(self.user_id), "email": self.email} if self.user_id is not None else None,
            "service": self.service,
            "customer": self.customer,
            "connection_id": str(self.connection_id) if self.connection_id is not None else None,
            "ip": self.ip_address,
            "created_at": time_text(self.created_at),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInPart:
    """A part of the log in the order of times: the sign-ins to send, the place behind them, and whether more follow."""

    found: Sequence[StreamedSignIn]
    through: SignInCursor
    has_more: bool


def next_part(uow: UnitOfWork, organization_id: UUID, after: SignInCursor, *, limit: int) -> SignInPart:
    """Return the next sign-ins after a place, at most `limit`."""
    settled = uow.now - SETTLED_AFTER
    if settled <= after.at:
        return SignInPart(found=(), through=after, has_more=False)
    first_id = uow.siem_sign_ins.first_after(organization_id, after, until=settled)
    if first_id is None:
        return SignInPart(found=(), through=SignInCursor(at=settled), has_more=False)
    # No row with this id or a later one has an earlier time.
    begin = max(after.at, moment_of(first_id) - CLOCKS_DIFFER_MAX)
    until = min(settled, begin + WINDOW)
    found = uow.siem_sign_ins.page(organization_id, after, first_id=first_id, until=until, limit=limit + 1)
    if len(found) > limit:
        return SignInPart(found=found[:limit], through=found[limit - 1].cursor, has_more=True)
    return SignInPart(found=found, through=SignInCursor(at=until), has_more=until < settled)

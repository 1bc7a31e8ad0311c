"""Streaming an audit log to a SIEM: in the order of the chain, at least once, from a stored cursor.

A streamer leases a stream (`lease`), reads the next entries (`next_batch`), sends them outside any transaction, and
records how many were received (`record`), which also ends the lease. The process may die in between: the lease ends,
and the entries are sent again. Positions are given to committed entries, so the cursor passes none that comes late.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from core.audit.audit_log import ORGANIZATION_KEY, AuditLogActor, AuditLogEntry
from core.audit.chain import time_text
from core.audit.siem import SiemOptions, SiemProvider, SiemUnknown
from core.events.actions import AuditAction, TargetType
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation, authorize
from core.secrets import Secret

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Limits of a batch: entries, bytes before compression, and how long entries are collected after the last batch.
BATCH_EVENTS_MAX: Final = 500
BATCH_BYTES_MAX: Final = 2**20
BATCH_EVERY: Final = timedelta(seconds=5)
# How many positions one statement passes when the filter leaves most of them out.
SCANNED_MAX: Final = 5_000
# Longer than the slowest attempt and the time to record it; after it another streamer may send.
LEASE: Final = timedelta(seconds=60)
BACKOFF_MIN: Final = timedelta(seconds=5)
BACKOFF_MAX: Final = timedelta(minutes=10)
# Each delay is shortened by up to this share, so that streams which failed together are not retried together.
BACKOFF_JITTER: Final = 0.5
ERROR_CHARACTERS_MAX: Final = 500
TEST_ACTION: Final = "siem.test"
# Doubled so often, the delay is at its maximum.
_DOUBLINGS_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemTarget:
    """The receiver of an organization, and how it is spoken to."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemEvent:
    """An entry as a receiver gets it."""

    id: str
    position: int
    action: str
    created_at: datetime
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemBatch:
    """The next entries of a stream.

    `through` is the position up to which the filter leaves out everything else; `has_more` tells whether the chain has
    entries after it.
    """

    events: Sequence[SiemEvent]
    through: int
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReceipt:
    """What an attempt got: how many events from the first on were received, and why not the others.

    Without an error, events that were not received were not sent, or did not fit.
    """

    received: int
    status_code: int | None
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The state of a stream after an attempt; `next_at` is when it goes on if there is more to send."""

    position: int
    failures: int
    error: str | None
    sent: int
    next_at: datetime

    @property
    def has_sent(self) -> bool:
        """Whether the receiver has taken an entry."""
        return self.sent > 0


def lease(uow: UnitOfWork, streams_max: int) -> Sequence[LeasedStream]:
    """Lease streams that are due, those that waited longest first; none of an organization that is not active."""
    return uow.siem_streams.lease(streams_max=streams_max, leased_until=uow.now + LEASE)


def next_batch(uow: UnitOfWork, stream: LeasedStream) -> SiemBatch:
    """Return the next entries of a stream."""
    sealed_through = uow.audit_chains.end(stream.organization_id).sealed_through
    through = min(stream.position + SCANNED_MAX, sealed_through)
    events, is_last = uow.siem_streams.events(stream, through=through)
    if not is_last:
        through = events[-1].position
    return SiemBatch(events=events, through=through, has_more=through < sealed_through)


def to_send(stream: LeasedStream, batch: SiemBatch) -> Sequence[SiemEvent]:
    """Return the events to send: half as many after each failure, for a receiver that takes few at once."""
    return batch.events[: max(1, len(batch.events) >> stream.failures)]


def record(uow: UnitOfWork, stream: LeasedStream, batch: SiemBatch, receipt: StreamReceipt) -> Progress | None:
    """Move the cursor past what was received, and end the lease; None when the stream was replaced or leased anew."""
    progress = progress_of(stream, batch, receipt, at=uow.now)
    return progress if uow.siem_streams.record(stream, progress) else None


def progress_of(stream: LeasedStream, batch: SiemBatch, receipt: StreamReceipt, *, at: datetime) -> Progress:
    """Return the state after an attempt: with a backlog it goes on at once, else it collects; a failure backs off."""
    has_all = receipt.received == len(batch.events)
    if has_all:
        position = batch.through
    else:
        position = batch.events[receipt.received - 1].position if receipt.received else stream.position
    if receipt.error is not None:
        failures = stream.failures + 1
        next_at = at + backoff(stream.id, failures)
    else:
        failures = 0
        next_at = at if batch.has_more or not has_all else at + BATCH_EVERY
    return Progress(position=position, failures=failures, error=receipt.error, sent=receipt.received, next_at=next_at)


def backoff(stream_id: UUID, failures: int) -> timedelta:
    """Return the delay after so many failures in a row, which differs between streams."""
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


def prepare_test(uow: UnitOfWork, slug: str) -> tuple[SiemTarget, SiemEvent]:
    """Return the receiver and an event to try it with, and record the test; raise `SiemUnknown` without a stream."""
    authorized = authorize(uow, slug, Operation.SIEM_CHANGE)
    caller = authorized.caller
    key = {ORGANIZATION_KEY: str(caller.key_id)}
    actor = AuditLogActor.of(caller.actor_user_id, caller.email, caller.acts_as_platform_owner, key)
    return test_of(uow, authorized.organization.id, actor)


def test_of(
    uow: UnitOfWork, organization_id: UUID, actor: AuditLogActor, **recorded: Any
) -> tuple[SiemTarget, SiemEvent]:
    """Do what `prepare_test` does, for a caller who was authorized."""
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
        **recorded,
    )
    entry = AuditLogEntry(
        id=uow.randomness.new_id(),
        organization_id=organization_id,
        actor=actor,
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

"""The stream to a SIEM in the console: its health, pausing it, and sending entries again.

A form sends when the configuration on its page was changed (`seen_at`), so that of two people at once the second sees
what the first has done; a program sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from uuid import UUID

from core.audit import siem
from core.audit.siem import SiemConfiguration, SiemRequest, SiemStream
from core.events.actions import AuditAction
from core.ids import first_id_at
from core.lazy_dataclasses import dataclass
from core.log_times import time_of
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.organizations.departures import MadeCredentialKind, record_maker
from core.outbound import Network

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SiemThroughput:
    """What the receiver has taken, with repetitions, in all and last at once; None when it took nothing.

    `waiting_since` is when the first unsent sealed entry was written; None without one. `off_reason` is why Gatehouse
    switched the stream off; None when it did not.
    """

    sent_entries: int
    last_sent_entries: int | None
    waiting_since: datetime | None
    off_reason: str | None = None


def look_at(uow: UnitOfWork, slug: str) -> tuple[SiemConfiguration, SiemThroughput] | None:
    """Return the configuration with its throughput, for the console; None without one."""
    organization = authorize(uow, slug, Operation.SIEM_READ).organization
    stream = uow.siem_streams.find(organization.id)
    if stream is None:
        return None
    throughput = uow.siem_streams.throughput(organization.id)
    return SiemConfiguration.of(uow, organization.id, stream), throughput


def replace_seen(
    uow: UnitOfWork, slug: str, wanted: SiemRequest, *, allowed: Iterable[Network], seen_at: datetime | None
) -> SiemConfiguration:
    """Do what `configure` does for a caller who has seen the present configuration; what they did not see stays.

    That is every option but the index, the filter, and whether entries are sent. Raise `SiemChanged`.
    """
    authorized = authorize_and_lock(uow, slug, Operation.SIEM_CONFIGURE)
    present = uow.siem_streams.find(authorized.organization.id)
    siem.require_unchanged(present, seen_at)
    if present is not None:
        options = replace(present.options, index=wanted.options.index)
        wanted = replace(wanted, options=options, event_filter=present.event_filter, enabled=present.enabled)
    return siem.change(uow, authorized, wanted, allowed=allowed)


def switch(
    uow: UnitOfWork, slug: str, *, enabled: bool, allowed: Iterable[Network], seen_at: datetime | None
) -> SiemConfiguration:
    """Pause the stream, or resume it where it was; raise `SiemUnknown` without one, and `SiemChanged`."""
    authorized = authorize_and_lock(uow, slug, Operation.SIEM_CONFIGURE)
    present = siem.stored(uow, authorized.organization.id)
    siem.require_unchanged(present, seen_at)
    wanted = SiemRequest(
        provider=present.provider,
        endpoint=present.endpoint,
        options=present.options,
        event_filter=present.event_filter,
        enabled=enabled,
    )
    return siem.change(uow, authorized, wanted, allowed=allowed, keeps_receiver=True)


def plan_restart(uow: UnitOfWork, slug: str, since: str) -> tuple[SiemConfiguration, int]:
    """Return the configuration, and how many sealed entries `restart` would look at; raise `SiemUnknown`.

    `since` is a typed time, empty for the beginning of the log; raise `BadRequest` for any other text.
    """
    organization_id = authorize(uow, slug, Operation.SIEM_CONFIGURE).organization.id
    stream = siem.stored(uow, organization_id)
    moment = time_of("since", since) if since.strip() else None
    entries = stream.sealed_through - _position_before(uow, organization_id, stream, moment)
    return SiemConfiguration.of(uow, organization_id, stream), entries


def restart(
    uow: UnitOfWork, slug: str, since: datetime | None, *, seen_at: datetime | None = None
) -> SiemConfiguration:
    """Send the entries and sign-ins since a moment again, or all of them, and go on from there.

    Raise `SiemUnknown` without a stream, and `SiemChanged`.
    """
    authorized = authorize_and_lock(uow, slug, Operation.SIEM_CONFIGURE)
    organization_id = authorized.organization.id
    stream = siem.stored(uow, organization_id)
    siem.require_unchanged(stream, seen_at)
    position = _position_before(uow, organization_id, stream, since)
    sign_ins = siem.first_sign_in(uow, since) if stream.sign_ins is not None else None
    uow.siem_streams.restart(organization_id, position=position, starts_at=since, sign_ins=sign_ins)
    record_maker(uow, MadeCredentialKind.SIEM_STREAM, organization_id, stream.id, authorized.caller.maker_id)
    uow.record(
        AuditAction.SIEM_CONFIGURED,
        organization_id,
        organization_id=organization_id,
        provider=stream.provider.value,
        host=urlsplit(stream.endpoint).hostname,
        restarted_from=since.astimezone(UTC).isoformat().replace("+00:00", "Z") if since is not None else "beginning",
    )
    restarted = replace(
        stream,
        position=position,
        starts_at=since,
        sign_ins=sign_ins,
        failures=0,
        last_error=None,
        updated_at=uow.now,
    )
    return SiemConfiguration.of(uow, organization_id, restarted)


def _position_before(uow: UnitOfWork, organization_id: UUID, stream: SiemStream, since: datetime | None) -> int:
    """Return the position after which the entries since a moment come; 0, before all entries, for None."""
    if since is None:
        return 0
    found = uow.siem_streams.position_before(organization_id, first_id_at(since))
    return min(found, stream.sealed_through) if found is not None else stream.sealed_through

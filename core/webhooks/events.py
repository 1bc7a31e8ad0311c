"""The feed, from which an organization pulls its events in the order of their positions, from a cursor on.

Only committed events get positions (`sequencing.assign_positions`), so a cursor never passes an event that is committed
later. A cursor holds a position, masked because positions count events, and the time when it was made: it is valid as
long as events are kept. A database that was restored to an earlier moment gives positions again that a cursor has
passed; the cursor's time shows that, because the events with them happened later (ops/decisions/0021).

Receivers get the address beside the id of each user, if the organization knows it: of its members, of the end users of
its services, and of former ones while they keep that address. Addresses are read when an event is delivered or pulled,
so that no stored event holds one that it would have to forget, and an anonymized person has none.
`core/events/declared_data.py` declares which keys have ids of users (ops/decisions/0107).
"""

from __future__ import annotations

import base64
import hmac
import json
import re
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast
from uuid import UUID

from core.errors import BadRequest, ErrorCode, Refusal
from core.events.declared_data import address_keys_of
from core.events.events import EventType
from core.ids import CLOCKS_DIFFER_MAX
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize

if TYPE_CHECKING:
    from core.attempts import Attempt
    from core.events.data import AddressKeys
    from ports.unit_of_work import UnitOfWork

# Returns for each organization the addresses of these users, as far as it knows them.
Known: TypeAlias = Callable[[Mapping[UUID, Collection[UUID]]], Mapping[UUID, Mapping[UUID, str]]]
# Replaces an address from the payload in the answer of a receiver.
LEFT_OUT: Final = "[address]"


def with_addresses(known: Known, organization_id: UUID, payloads: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the payloads for an organization with the addresses that it knows."""
    return with_addresses_of_each(known, [(organization_id, payload) for payload in payloads])


def with_addresses_of_each(known: Known, payloads: Sequence[tuple[UUID, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return payloads, each with the addresses that its organization knows."""
    wanted: dict[UUID, set[UUID]] = {}
    for organization_id, payload in payloads:
        if users := set(_users_in(payload["data"], address_keys_of(payload["event"]))):
            wanted.setdefault(organization_id, set()).update(users)
    found = known(wanted)
    return [
        {
            **payload,
            "data": _with(payload["data"], address_keys_of(payload["event"]), found.get(organization_id, {})),
        }
        for organization_id, payload in payloads
    ]


def without_addresses(attempt: Attempt, payload: Mapping[str, Any]) -> Attempt:
    """Return the attempt without the payload's addresses in the answer: a receiver may send back what it got."""
    told = set(_addresses_in(payload["data"], address_keys_of(payload["event"])))
    if attempt.body is None or not told:
        return attempt
    # A receiver may escape letters that are not ASCII.
    told |= {json.dumps(address)[1:-1] for address in told}
    pattern = re.compile("|".join(re.escape(address) for address in sorted(told, key=len, reverse=True)), re.IGNORECASE)
    return replace(attempt, body=pattern.sub(LEFT_OUT, attempt.body))


def _with(data: Mapping[str, Any], keys: AddressKeys, known: Mapping[UUID, str]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name, value in data.items():
        told[name] = value
        if name in keys.within:
            told[name] = [_with(part, keys.within[name], known) for part in value]
        if name in keys.own:
            addresses = [known.get(user_id) if (user_id := _user_of(one)) else None for one in _listed(value)]
            told[keys.own[name]] = addresses if isinstance(value, list) else addresses[0]
    return told


def _users_in(data: Mapping[str, Any], keys: AddressKeys) -> Iterator[UUID]:
    yield from (user_id for one in _values_in(data, keys.own) if (user_id := _user_of(one)))
    for name in keys.within.keys() & data.keys():
        for part in data[name]:
            yield from _users_in(part, keys.within[name])


def _addresses_in(data: Mapping[str, Any], keys: AddressKeys) -> Iterator[str]:
    yield from (one for one in _values_in(data, keys.own.values()) if one is not None)
    for name in keys.within.keys() & data.keys():
        for part in data[name]:
            yield from _addresses_in(part, keys.within[name])


def _values_in(data: Mapping[str, Any], names: Iterable[str]) -> Iterator[Any]:
    for name in names:
        if name in data:
            yield from _listed(data[name])


def _listed(value: Any) -> Sequence[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _user_of(value: Any) -> UUID | None:
    """Return the id of a user, also from a text like `user:<id>`; None for anything else."""
    try:
        return UUID(str(value).removeprefix("user:"))
    except ValueError:
        return None


RETENTION: Final = timedelta(days=90)
WAIT_SECONDS_MAX: Final = 20
LIMIT_DEFAULT: Final = 100
LIMIT_MAX: Final = 500
_SECONDS: Final = struct.Struct(">I")
_POSITION: Final = struct.Struct(">Q")
_MAC_BYTES: Final = 12
# 24 bytes in base64: no padding, and a single encoding of each cursor.
_SHAPE: Final = re.compile(r"[A-Za-z0-9_-]{32}")


class CursorMalformed(BadRequest):
    """The cursor was not made for this organization."""

    default_message = "This is no cursor of this feed. Send a `next_cursor` unchanged, or leave it out."


class CursorExpired(Refusal):
    """The cursor is older than the events that are kept."""

    code = ErrorCode.GONE
    default_message = (
        "This cursor is more than 90 days old, and events after it have been deleted. Leave `after` out to start with"
        " the oldest event that is kept."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedItem:
    """An event in the feed: its position, and the payload of a webhook."""

    position: int
    payload: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventList:
    """Events after a cursor, the oldest first, and the cursor after them."""

    events: list[dict[str, Any]]
    next_cursor: str
    has_more: bool


def read(uow: UnitOfWork, slug: str, *, after: str | None, types: Sequence[EventType] | None, limit: int) -> EventList:
    """Return the events after a cursor, or the oldest ones; raise `CursorExpired` when the cursor is too old."""
    organization = authorize(uow, slug, Operation.EVENTS_READ).organization
    position = _position_of(uow, after, organization.id) if after is not None else 0
    # One more than wanted shows whether there are more.
    found, last_position = uow.elsewhere.event_feed.page(
        organization.id, after=position, types=types, limit=limit + 1, kept_since=uow.now - RETENTION
    )
    shown = found[:limit]
    has_more = len(found) > limit
    # At the end, the cursor moves past everything that the filter left out.
    reached = shown[-1].position if has_more else max(position, last_position)
    return EventList(
        events=with_addresses(uow.elsewhere.known_addresses.of_each, organization.id, [item.payload for item in shown]),
        next_cursor=_cursor(uow, reached, organization.id),
        has_more=has_more,
    )


def _cursor(uow: UnitOfWork, position: int, organization_id: UUID) -> str:
    made_at = _SECONDS.pack(int(uow.now.timestamp()))
    masked = _POSITION.pack(position ^ _mask(uow, organization_id, made_at))
    mac = uow.pepper.mark("feed cursor", organization_id.bytes, made_at + masked)[:_MAC_BYTES]
    return base64.urlsafe_b64encode(made_at + masked + mac).decode()


def _position_of(uow: UnitOfWork, cursor: str, organization_id: UUID) -> int:
    """Return the position that a cursor has reached; raise `BadRequest` when it was not made for this organization."""
    if not _SHAPE.fullmatch(cursor):
        raise CursorMalformed.of_field("after", CursorMalformed.default_message)
    raw = base64.urlsafe_b64decode(cursor)
    made_at, masked, mac = raw[:4], raw[4:12], raw[12:]
    if not hmac.compare_digest(mac, uow.pepper.mark("feed cursor", organization_id.bytes, raw[:12])[:_MAC_BYTES]):
        raise CursorMalformed.of_field("after", CursorMalformed.default_message)
    read_at = datetime.fromtimestamp(_SECONDS.unpack(made_at)[0], UTC)
    kept_since = uow.now - RETENTION
    if read_at < kept_since:
        raise CursorExpired
    return uow.elsewhere.event_feed.last_read(
        organization_id,
        position=_POSITION.unpack(masked)[0] ^ _mask(uow, organization_id, made_at),
        # The cursor may have read an event of a process whose clock is ahead.
        read_at=read_at + CLOCKS_DIFFER_MAX,
        kept_since=kept_since,
    )


def _mask(uow: UnitOfWork, organization_id: UUID, made_at: bytes) -> int:
    return _POSITION.unpack(uow.pepper.mark("feed position", organization_id.bytes, made_at)[: _POSITION.size])[0]

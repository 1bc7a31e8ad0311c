"""The declaration of the `data` of events: a frozen dataclass for each type, with a field for each key.

The modules `…_data.py` beside this one have them; `declared_data.py` maps the types to them. The audit entry of the
same name has the same keys as details, apart from marked ones. In an entry any key may be absent, because the entry
also names its target. Use cases pass the keys to `uow.record` and its like; tests compare everything recorded with the
declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Annotated, Any, Final, TypeAlias, TypeVar, get_args, get_origin, get_type_hints
from uuid import UUID

from core.lazy_dataclasses import dataclass

T = TypeVar("T")


class Place(Enum):
    """Marks a key that is only in the event or only in the entry."""

    EVENT = "event"
    ENTRY = "entry"


class Absent(Enum):
    """The value of a key that is left out."""

    ABSENT = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressOf:
    """Marks the address of the user whose id the named key has, or the addresses of all listed users.

    No table has it: when an event is read, a receiver gets the address if it knows the user
    (`core/webhooks/events.py`).
    """

    key: str


# The default of a key that may be left out.
ABSENT: Final[Any] = Absent.ABSENT
EventOnly: TypeAlias = Annotated[T, Place.EVENT]
EntryOnly: TypeAlias = Annotated[T, Place.ENTRY]
# None for an address that the receiver does not know, or no longer knows.
Address: TypeAlias = str | None
UserAddress: TypeAlias = Annotated[Address, AddressOf(key="user_id")]
# The old and the new value of each field that was changed.
Changes: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventData:
    """The keys that the data of every event may have: which key or setup link did it, and that it is only a test."""

    organization_key_id: UUID = ABSENT
    organization_key_name: str = ABSENT
    organization_key_workload_id: UUID = ABSENT
    setup_link_id: UUID = ABSENT
    is_test: EventOnly[bool] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryData:
    """Further keys that the details of every entry may have.

    They name the key or token of the caller, the impersonator and the session of the impersonation, and have the note
    that the caller left for other admins. For what a vendor sets up for a customer they name the service and, in each
    side's entry, the other side.
    """

    api_key_id: UUID = ABSENT
    scim_token_id: UUID = ABSENT
    impersonator_id: UUID = ABSENT
    impersonation_session: UUID = ABSENT
    note: str = ABSENT
    by: str = ABSENT
    customer_id: UUID = ABSENT
    client_id: UUID = ABSENT
    service_slug: str = ABSENT
    service_name: str = ABSENT
    external_id: str | None = ABSENT
    organization_slug: str = ABSENT
    organization_name: str = ABSENT
    vendor_slug: str = ABSENT
    vendor_name: str = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredKey:
    """A key of the data of an event: its type, whether it is always there, and its marks."""

    name: str
    kind: Any
    is_always_there: bool
    place: Place | None
    address_of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressKeys:
    """The keys of users' ids with the keys of their addresses, and the same for parts in lists, by the list's key."""

    own: Mapping[str, str]
    within: Mapping[str, AddressKeys]


@cache
def keys_of(data: type[Any]) -> tuple[DeclaredKey, ...]:
    """Return the keys of the data of an event and of its entry: first its own, then the common ones."""
    kinds = get_type_hints(data, include_extras=True)
    shared = {one.name for one in fields(EventData)} if data is not EventData else set[str]()
    each = sorted(fields(data), key=lambda one: one.name in shared)
    return tuple(
        DeclaredKey(
            name=one.name,
            kind=kinds[one.name],
            is_always_there=one.default is MISSING,
            place=next((mark for mark in _marks(kinds[one.name]) if isinstance(mark, Place)), None),
            address_of=next((mark.key for mark in _marks(kinds[one.name]) if isinstance(mark, AddressOf)), None),
        )
        for one in each
    )


@cache
def address_keys(data: type[Any]) -> AddressKeys:
    """Return the keys of addresses in the data of an event, and in the parts of its lists."""
    keys = keys_of(data)
    return AddressKeys(
        own={key.address_of: key.name for key in keys if key.address_of is not None},
        within={key.name: address_keys(part) for key in keys for part in _parts(key.kind)},
    )


def _parts(kind: Any) -> list[type[Any]]:
    parts = get_args(kind) if get_origin(kind) is list else ()
    return [part for part in parts if isinstance(part, type) and is_dataclass(part)]


def _marks(kind: Any) -> tuple[Any, ...]:
    return getattr(kind, "__metadata__", ())

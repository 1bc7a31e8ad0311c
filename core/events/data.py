"""What the `data` of an event may be: a frozen dataclass for each type, with a field for each key.

The modules `…_data.py` beside this one have them; `declared_data.py` says which type has which. The entry of the audit
log of the same name has the same keys as details, apart from those that are marked. There, any may be left out, since
an entry names its target besides. Use cases pass the keys to `uow.record` and its like; the tests compare all that is
recorded with what is declared here.
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
    """Where a key is found that is not both in the event and in the entry."""

    EVENT = "event"
    ENTRY = "entry"


class Absent(Enum):
    """The value of a key that is left out."""

    ABSENT = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressOf:
    """The mark of the address of the user whose id stands under that key, or of all those that are listed there.

    It is in no table: a receiver is told an address that it knows when the event is read
    (`core/webhooks/known_addresses.py`).
    """

    key: str


# The default of a key that may be left out.
ABSENT: Final[Any] = Absent.ABSENT
EventOnly: TypeAlias = Annotated[T, Place.EVENT]
EntryOnly: TypeAlias = Annotated[T, Place.ENTRY]
# None for an address that the receiver does not know, or does not know any more.
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
    """The keys that the details of every entry may have besides.

    They name the key or token of the caller, the impersonator and the session of the impersonation, and have the note
    that the caller left for other admins. Of what a vendor has set up for a customer, they name both sides and the
    service, each side's entry the other one.
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
    """A key of the data of an event: what it holds, whether it is always there, and how it is marked."""

    name: str
    kind: Any
    is_always_there: bool
    place: Place | None
    address_of: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressKeys:
    """The keys of ids of users with those of their addresses, and the same of the parts in lists, by the list's key."""

    own: Mapping[str, str]
    within: Mapping[str, AddressKeys]


@cache
def keys_of(data: type[Any]) -> tuple[DeclaredKey, ...]:
    """Return the keys of the data of an event and of its entry; first its own, then those that all events may have."""
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
    """Return the keys of addresses in the data of an event, and in the parts of which it has lists."""
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

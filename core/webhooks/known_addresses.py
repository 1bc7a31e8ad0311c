"""Adds the address beside the id of each user in the payloads for receivers, if the organization knows it.

An organization knows the addresses that its pages show: of its members, of the end users of its services, and of former
ones while they keep that address. They are read when an event is delivered or pulled, so that no stored event holds an
address that it would have to forget, and an anonymized person has none. `core/events/declared_data.py` declares which
keys have ids of users (ops/decisions/0107).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast
from uuid import UUID

from core.events.declared_data import address_keys_of

if TYPE_CHECKING:
    from core.attempts import Attempt
    from core.events.data import AddressKeys

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

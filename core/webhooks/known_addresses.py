"""The address beside the id of each user in what receivers get of events, if the organization knows it.

An organization knows the addresses that its pages show: of its members, of the end users of its services, and of former
ones while their address is the one that it knew. They are read when an event is delivered or pulled, so that no event
holds an address that it would have to forget, and a person who was anonymized has none. Which keys of which types are
ids of users is declared in `core/events/declared_data.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from core.events.declared_data import addresses_of

if TYPE_CHECKING:
    from core.attempts import Attempt
    from ports.webhooks.known_addresses import KnownAddresses

# Stands in the answer of a receiver for an address that it was told.
LEFT_OUT: Final = "[address]"


def with_addresses(
    known: KnownAddresses, organization_id: UUID, payloads: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the payloads of an organization with the addresses that it knows."""
    return with_addresses_of_each(known, [(organization_id, payload) for payload in payloads])


def with_addresses_of_each(
    known: KnownAddresses, payloads: Sequence[tuple[UUID, Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    """Return payloads, each of an organization, with the addresses that this one knows."""
    wanted: dict[UUID, set[UUID]] = {}
    for organization_id, payload in payloads:
        for user_id in _users_in(payload):
            wanted.setdefault(organization_id, set()).add(UUID(user_id))
    found = known.of_each(wanted)
    return [_with(payload, found.get(organization_id, {})) for organization_id, payload in payloads]


def without_addresses(attempt: Attempt, payload: Mapping[str, Any]) -> Attempt:
    """Return the attempt without the addresses of the payload in the answer: a receiver may send back what it got."""
    told = {address.lower() for address in _addresses_in(payload)}
    if attempt.body is None or not told:
        return attempt
    pattern = re.compile("|".join(re.escape(address) for address in sorted(told, key=len, reverse=True)), re.IGNORECASE)
    return replace(attempt, body=pattern.sub(LEFT_OUT, attempt.body))


def _with(payload: Mapping[str, Any], known: Mapping[UUID, str]) -> dict[str, Any]:
    keys = addresses_of(payload["event"])
    data: dict[str, Any] = {}
    for name, value in payload["data"].items():
        data[name] = value
        if name in keys:
            addresses = [known.get(UUID(user_id)) for user_id in _listed(value)]
            data[keys[name]] = addresses if isinstance(value, list) else addresses[0]
    return {**payload, "data": data}


def _users_in(payload: Mapping[str, Any]) -> Iterator[str]:
    yield from _values_in(payload, addresses_of(payload["event"]).keys())


def _addresses_in(payload: Mapping[str, Any]) -> Iterator[str]:
    yield from (one for one in _values_in(payload, addresses_of(payload["event"]).values()) if one is not None)


def _values_in(payload: Mapping[str, Any], names: Iterable[str]) -> Iterator[Any]:
    for name in names:
        if name in payload["data"]:
            yield from _listed(payload["data"][name])


def _listed(value: Any) -> Sequence[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]

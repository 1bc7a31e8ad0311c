"""The addresses of targets that organizations name: few look-ups at once for one organization, limited in time.

A name server that an organization names may never answer. Its look-ups wait on the event loop and hold no thread, but
the name servers of the system take a limited number of questions, too. So each organization has a share of the
look-ups, and each domain a share of its organization's, which no other organization's names can use up.
"""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncGenerator, Hashable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_address
from typing import Final
from uuid import UUID

import trio

from adapters.resolver import DnsResolver
from core.outbound import Address
from core.wording import Wording

LOOKUPS_MAX: Final = 256
LOOKUPS_OF_AN_ORGANIZATION_MAX: Final = 8
LOOKUPS_OF_A_DOMAIN_MAX: Final = 4
# With the time that a look-up waits for its turn.
LOOKUP_SECONDS_MAX: Final = 5.0
_NUMERIC: Final = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
# What the library for the DNS would read otherwise, such as escapes, is in no name of a host.
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+")
# Registries of countries that give names below another label, such as co.uk and com.br.
_COUNTRY_CHARACTERS: Final = 2
_SECOND_LEVEL: Final = frozenset({"ac", "co", "com", "edu", "gov", "govt", "gob", "ne", "net", "or", "org"})


class NameUnknown(Exception):
    """A name has no address, or its name servers did not say so in time; the message is for people."""


class NameLookups:
    """Looks names up; what shares this object shares its places."""

    def __init__(self, resolver: DnsResolver | None = None) -> None:
        self._resolver = resolver or DnsResolver()
        self._all = trio.Semaphore(LOOKUPS_MAX)
        self._organizations = Shares(LOOKUPS_OF_AN_ORGANIZATION_MAX)
        self._domains = Shares(LOOKUPS_OF_A_DOMAIN_MAX)

    async def addresses_of(self, host: str, organization_id: UUID | None) -> Sequence[Address]:
        """Return the addresses of a host, without a look-up where it is an address; raise `NameUnknown`.

        `organization_id` is the organization that has named the host, None when the operator has.
        """
        written = _read_as_address(host)
        if written is not None:
            return [written]
        if _NAME.fullmatch(host) is None:
            raise NameUnknown(Wording("The name %(host)s does not resolve.", host=host))
        found = None
        with trio.move_on_after(LOOKUP_SECONDS_MAX):
            async with AsyncExitStack() as turn:
                if organization_id is not None:
                    # Of the domain first, so that what waits for it holds no place of the organization.
                    await turn.enter_async_context(self._domains.place((organization_id, _domain_of(host))))
                    await turn.enter_async_context(self._organizations.place(organization_id))
                await turn.enter_async_context(self._all)
                found = await self._resolver.addresses(host)
        if found is None:
            raise NameUnknown(Wording("The name servers of %(host)s did not answer in time.", host=host))
        if not found:
            raise NameUnknown(Wording("The name %(host)s does not resolve.", host=host))
        return found


def _read_as_address(host: str) -> Address | None:
    """Return the address that a host is written as, in any form that the system reads; None when it is a name."""
    try:
        [(*_, sockaddr), *_] = socket.getaddrinfo(host.encode("ascii"), 0, type=socket.SOCK_STREAM, flags=_NUMERIC)
    except (OSError, UnicodeError):
        return None
    # The zone of a link-local address is no part of it; such an address is never allowed.
    return ip_address(str(sockaddr[0]).partition("%")[0])


def _domain_of(host: str) -> str:
    """Return the domain whose name servers answer for a host, as far as its name tells."""
    labels = host.lower().rstrip(".").split(".")
    is_below_second_level = len(labels[-1]) == _COUNTRY_CHARACTERS and labels[-2:][0] in _SECOND_LEVEL
    return ".".join(labels[-3:] if is_below_second_level else labels[-2:])


class Shares:
    """Places by key, such as an organization; nothing is kept of a key without taken or awaited places."""

    def __init__(self, places_max: int) -> None:
        self._places_max = places_max
        self._places: dict[Hashable, trio.Semaphore] = {}

    @property
    def keys_count(self) -> int:
        """The number of keys with taken or awaited places."""
        return len(self._places)

    @asynccontextmanager
    async def place(self, key: Hashable) -> AsyncGenerator[None]:
        """Take a place of a key while the block lasts, and wait for one first if none is free."""
        places = self._places.setdefault(key, trio.Semaphore(self._places_max))
        try:
            async with places:
                yield
        finally:
            is_unused = places.value == self._places_max and not places.statistics().tasks_waiting
            if is_unused and self._places.get(key) is places:
                del self._places[key]

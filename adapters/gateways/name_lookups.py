"""The addresses of targets that organizations name: looked up by the system, on threads of their own.

The system's resolver blocks its thread for as long as a name server does not answer, half a minute and more. So these
threads are not those of other work, all look-ups of one domain together have a few of them, and each caller waits for a
limited time. The thread of a look-up that takes longer stays counted until it ends.
"""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import trio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from core.outbound import Address

    # What `socket.getaddrinfo` returns for a host and a port; it may block.
    LookUp: TypeAlias = Callable[[bytes, int], Sequence[tuple[Any, ...]]]

THREADS_MAX: Final = 32
THREADS_OF_A_DOMAIN_MAX: Final = 4
# With the time that a look-up waits for its turn.
LOOKUP_SECONDS_MAX: Final = 5.0
_NUMERIC: Final = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
# Registries of countries that give names below another label, such as co.uk and com.br.
_COUNTRY_CHARACTERS: Final = 2
_SECOND_LEVEL: Final = frozenset({"ac", "co", "com", "edu", "gov", "govt", "gob", "ne", "net", "or", "org"})


class NameUnknown(Exception):
    """A name has no address, or its name servers did not say so in time; the message is for people."""


class NameLookups:
    """Looks names up for the targets of organizations; what shares this object shares its threads."""

    def __init__(self, look_up: LookUp | None = None) -> None:
        self._look_up = look_up or _ask_system
        self._threads = trio.CapacityLimiter(THREADS_MAX)
        self._domains: dict[str, trio.CapacityLimiter] = {}

    async def addresses_of(self, host: str, port: int) -> list[Address]:
        """Return the addresses of a host, without a look-up where it is an address; raise `NameUnknown`."""
        try:
            found = _read_as_address(host, port)
            if found is None:
                with trio.fail_after(LOOKUP_SECONDS_MAX):
                    found = await self._on_a_thread(host.encode("ascii"), port)
        except trio.TooSlowError:
            raise NameUnknown(f"The name servers of {host} did not answer in time.") from None
        except (OSError, UnicodeError):
            raise NameUnknown(f"The name {host} does not resolve.") from None
        # The zone of a link-local address is no part of it; such an address is never allowed.
        return [ip_address(str(sockaddr[0]).partition("%")[0]) for *_, sockaddr in found]

    async def _on_a_thread(self, host: bytes, port: int) -> Sequence[tuple[Any, ...]]:
        turn = _Turn(_domain_of(host.decode()), self._domains, self._threads)
        return await trio.to_thread.run_sync(
            self._look_up,
            host,
            port,
            abandon_on_cancel=True,
            # Trio takes any object with the two methods that it calls, and says so.
            limiter=cast("trio.CapacityLimiter", turn),
        )


class _Turn:
    """The limits of one look-up: first that of its domain, then that of all."""

    def __init__(self, domain: str, domains: dict[str, trio.CapacityLimiter], threads: trio.CapacityLimiter) -> None:
        self._domain = domain
        self._domains = domains
        self._threads = threads
        self._share = domains.setdefault(domain, trio.CapacityLimiter(THREADS_OF_A_DOMAIN_MAX))

    async def acquire_on_behalf_of(self, borrower: Any) -> None:
        """Wait for a place of the domain, and for a thread."""
        try:
            await self._share.acquire_on_behalf_of(borrower)
        except trio.Cancelled:
            self._forget_if_idle()
            raise
        try:
            await self._threads.acquire_on_behalf_of(borrower)
        except trio.Cancelled:
            self._release_share(borrower)
            raise

    def release_on_behalf_of(self, borrower: Any) -> None:
        """Give both back, when the thread has ended."""
        self._threads.release_on_behalf_of(borrower)
        self._release_share(borrower)

    def _release_share(self, borrower: Any) -> None:
        self._share.release_on_behalf_of(borrower)
        self._forget_if_idle()

    def _forget_if_idle(self) -> None:
        if not self._share.borrowed_tokens and not self._share.statistics().tasks_waiting:
            self._domains.pop(self._domain, None)


def _ask_system(host: bytes, port: int) -> Sequence[tuple[Any, ...]]:
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


def _read_as_address(host: str, port: int) -> Sequence[tuple[Any, ...]] | None:
    """Return the address that a host is written as, in any form that the system reads; None when it is a name."""
    try:
        return socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM, flags=_NUMERIC)
    except socket.gaierror as error:
        if error.errno != socket.EAI_NONAME:
            raise
        return None


def _domain_of(host: str) -> str:
    """Return the domain whose name servers answer for a host, as far as its name tells."""
    labels = host.lower().rstrip(".").split(".")
    is_below_second_level = len(labels[-1]) == _COUNTRY_CHARACTERS and labels[-2:][0] in _SECOND_LEVEL
    return ".".join(labels[-3:] if is_below_second_level else labels[-2:])

"""Connections to targets that organizations name: only to allowed addresses, each checked when it is connected to.

The name of a target is resolved here and the connection goes to one of the checked addresses, so a name that changes
its answer in between leads nowhere else. TLS still verifies the name. Redirects are not followed, no proxy is used.
"""

from __future__ import annotations

import ssl
from functools import cache
from http.cookiejar import CookieJar
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any, Final

import httpcore
import httpx
import trio
from httpcore._backends.trio import TrioBackend

from adapters.gateways.name_lookups import NameLookups, NameUnknown
from core.outbound import is_allowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from core.outbound import Address, Network

# For targets that the operator has named.
EVERYWHERE: Final = (ip_network("0.0.0.0/0"), ip_network("::/0"))
CONNECTIONS_MAX: Final = 200
IDLE_CONNECTIONS_MAX: Final = 50
IDLE_SECONDS_MAX: Final = 30.0
CONNECT_SECONDS_MAX: Final = 10.0
# A name server of an organization may answer with thousands.
ADDRESSES_TRIED_MAX: Final = 8


class TargetRefused(httpcore.ConnectError):
    """The name of a target resolves to no address that may be connected to; the message is for people."""


class NoCookies(CookieJar):
    """Keeps nothing: what one receiver sets would be sent with the deliveries of others to the same host."""

    def extract_cookies(self, response: Any, request: Any) -> None:
        """Ignore the cookies of an answer."""


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections for the HTTP client, to allowed addresses only."""

    def __init__(self, allowed: Sequence[Network], lookups: NameLookups) -> None:
        self._allowed = allowed
        self._lookups = lookups
        self._backend: httpcore.AsyncNetworkBackend = TrioBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature of the base class
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address of a host that is allowed and answers; raise `TargetRefused` without one."""
        failure: httpcore.ConnectError | httpcore.ConnectTimeout = TargetRefused("No address was tried.")
        addresses = await allowed_addresses(host, port, self._allowed, self._lookups)
        for address in addresses[:ADDRESSES_TRIED_MAX]:
            try:
                return await self._backend.connect_tcp(str(address), port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        """Wait before the next attempt to connect."""
        await trio.sleep(seconds)


class _CheckedTransport(httpx.AsyncHTTPTransport):
    """The transport of httpx, over connections that are checked."""

    def __init__(
        self, allowed: Sequence[Network], lookups: NameLookups, tls: ssl.SSLContext, connections_max: int
    ) -> None:
        super().__init__(verify=tls, trust_env=False)
        # httpx has no parameter for the backend.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=connections_max,
            max_keepalive_connections=IDLE_CONNECTIONS_MAX,
            keepalive_expiry=IDLE_SECONDS_MAX,
            network_backend=CheckedBackend(allowed, lookups),
        )


def outbound_client(
    allowed: Sequence[Network],
    *,
    lookups: NameLookups | None = None,
    tls: ssl.SSLContext | None = None,
    connections_max: int = CONNECTIONS_MAX,
) -> httpx.AsyncClient:
    """Return a client whose requests reach allowed addresses only; the caller limits the time of each request.

    A request beyond `connections_max` waits for one that ends. Without `lookups` the client has look-ups of its own.
    """
    return httpx.AsyncClient(
        transport=_CheckedTransport(allowed, lookups or NameLookups(), tls or tls_of_the_system(), connections_max),
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS_MAX),
        cookies=NoCookies(),
        follow_redirects=False,
        trust_env=False,
    )


async def allowed_addresses(
    host: str, port: int, allowed: Sequence[Network], lookups: NameLookups
) -> Sequence[Address]:
    """Return the addresses of a host that may be connected to, at least one; raise `TargetRefused` without one."""
    try:
        resolved = await lookups.addresses_of(host, port)
    except NameUnknown as unknown:
        raise TargetRefused(str(unknown)) from unknown
    found = [address for address in resolved if is_allowed(address, allowed)]
    if not found:
        raise TargetRefused(f"The name {host} leads to a private address, which is not allowed.")
    return found


@cache
def tls_of_the_system() -> ssl.SSLContext:
    """Return the context that all clients share: reading every certificate of the system takes a tenth of a start."""
    return ssl.create_default_context()

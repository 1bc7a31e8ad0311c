"""Connections to targets that organizations name: only to allowed addresses, each checked when it is connected to.

The name of a target is resolved here and the connection goes to one of the checked addresses, so a name that changes
its answer in between leads nowhere else. TLS still verifies the name. Redirects are not followed, no proxy is used.
"""

from __future__ import annotations

import socket
import ssl
from functools import cache
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any, Final

import httpcore
import httpx
import trio
from httpcore._backends.trio import TrioBackend

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


class TargetRefused(httpcore.ConnectError):
    """The name of a target resolves to no address that may be connected to."""


class CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections for the HTTP client, to allowed addresses only."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._allowed = allowed
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
        for address in await allowed_addresses(host, port, self._allowed):
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

    def __init__(self, allowed: Sequence[Network], tls: ssl.SSLContext, connections_max: int) -> None:
        super().__init__(verify=tls, trust_env=False)
        # httpx has no parameter for the backend.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=connections_max,
            max_keepalive_connections=IDLE_CONNECTIONS_MAX,
            keepalive_expiry=IDLE_SECONDS_MAX,
            network_backend=CheckedBackend(allowed),
        )


def outbound_client(
    allowed: Sequence[Network], *, tls: ssl.SSLContext | None = None, connections_max: int = CONNECTIONS_MAX
) -> httpx.AsyncClient:
    """Return a client whose requests reach allowed addresses only; the caller limits the time of each request.

    A request beyond `connections_max` waits for one that ends.
    """
    return httpx.AsyncClient(
        transport=_CheckedTransport(allowed, tls or _tls_of_the_system(), connections_max),
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS_MAX),
        follow_redirects=False,
        trust_env=False,
    )


async def allowed_addresses(host: str, port: int, allowed: Sequence[Network]) -> Sequence[Address]:
    """Return the addresses of a host that may be connected to, at least one.

    Raise `TargetRefused` when there is none, and `httpcore.ConnectError` when the name does not resolve.
    """
    found = [address for address in await _addresses_of(host, port) if is_allowed(address, allowed)]
    if not found:
        raise TargetRefused(f"The name {host} leads to a private address, which is not allowed.")
    return found


@cache
def _tls_of_the_system() -> ssl.SSLContext:
    """Return the context that all clients share: reading every certificate of the system takes a tenth of a start."""
    return ssl.create_default_context()


async def _addresses_of(host: str, port: int) -> list[Address]:
    try:
        found = await trio.socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(f"The name {host} does not resolve.") from error
    # The zone of a link-local address is no part of it; such an address is never allowed.
    return [ip_address(str(sockaddr[0]).partition("%")[0]) for *_, sockaddr in found]

"""Connections to targets that organizations name: only to allowed addresses, each checked when it is connected to.

The name of a target is resolved here and the connection goes to one of the checked addresses, so a name that changes
its answer in between leads nowhere else. TLS still verifies the name. Redirects are not followed, no proxy is used.

Each request says for which organization it is, `extensions=of(organization_id)`. An organization has a share of the
connections of a client and of the look-ups of names, however many targets it names.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from contextvars import ContextVar
from functools import cache
from http.cookiejar import CookieJar
from ipaddress import ip_network
from typing import Any, Final, TypeAlias
from uuid import UUID

import httpcore
import httpx
import trio
from httpcore._backends.trio import TrioBackend

from adapters.gateways.name_lookups import NameLookups, NameUnknown
from adapters.gateways.shares import Shares
from core.outbound import Address, Network, is_allowed
from core.wording import Wording

Observed: TypeAlias = Callable[[httpx.AsyncBaseTransport], httpx.AsyncBaseTransport]


# For targets that the operator has named.
EVERYWHERE: Final = (ip_network("0.0.0.0/0"), ip_network("::/0"))
CONNECTIONS_MAX: Final = 200
# The connections of a client that one organization may use.
CONNECTIONS_OF_AN_ORGANIZATION_MAX: Final = 20
IDLE_CONNECTIONS_MAX: Final = 50
IDLE_SECONDS_MAX: Final = 30.0
CONNECT_SECONDS_MAX: Final = 10.0
# Of a name with more; an attempt has no time for all of them.
ADDRESSES_TRIED_MAX: Final = 8
_EXTENSION: Final = "organization_id"
# The organization whose request opens a connection; the library passes no more than the host and the port.
_organization_id: ContextVar[UUID | None] = ContextVar("organization_id", default=None)


def of(organization_id: UUID | None) -> dict[str, Any]:
    """Return the extensions of a request for an organization; None for a target that the operator has named."""
    return {_EXTENSION: organization_id}


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
        addresses = await allowed_addresses(host, _organization_id.get(), self._allowed, self._lookups)
        for address in addresses:
            try:
                return await self._backend.connect_tcp(str(address), port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        """Wait before the next attempt to connect."""
        await trio.sleep(seconds)


class _CheckedTransport(httpx.AsyncHTTPTransport):
    """The transport of httpx, over connections that are checked, and shared among organizations."""

    def __init__(
        self,
        backend: CheckedBackend,
        tls: ssl.SSLContext | None,
        *,
        connections_max: int,
        of_an_organization_max: int,
    ) -> None:
        # The base class only makes a pool, and has no parameter for the backend of it.
        self._shares = Shares(of_an_organization_max)
        self._pool = _Pool(
            ssl_context=tls,
            max_connections=connections_max,
            max_keepalive_connections=IDLE_CONNECTIONS_MAX,
            keepalive_expiry=IDLE_SECONDS_MAX,
            network_backend=backend,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request when its organization has a place, which it keeps until the response is closed."""
        organization_id: UUID | None = request.extensions[_EXTENSION]
        async with AsyncExitStack() as place:
            if organization_id is not None:
                await place.enter_async_context(self._shares.place(organization_id))
            before = _organization_id.set(organization_id)
            try:
                response = await super().handle_async_request(request)
            finally:
                _organization_id.reset(before)
            assert isinstance(response.stream, httpx.AsyncByteStream)
            response.stream = _SharedStream(response.stream, place.pop_all())
        return response


class _Pool(httpcore.AsyncConnectionPool):
    """The connections of a client, which reads the certificates of the system for the first one only."""

    def create_connection(self, origin: httpcore.Origin) -> httpcore.AsyncConnectionInterface:
        self._ssl_context = self._ssl_context or tls_of_the_system()
        return super().create_connection(origin)


class _SharedStream(httpx.AsyncByteStream):
    """The body of a response; closing it gives the place of its organization back."""

    def __init__(self, body: httpx.AsyncByteStream, place: AsyncExitStack) -> None:
        self._body = body
        self._place = place

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            yield chunk

    async def aclose(self) -> None:
        """Close the body, and give the place back."""
        async with self._place:
            await self._body.aclose()


class _Client(httpx.AsyncClient):
    """A client that names an address as invalid also where its host is no name in the xn-- form."""

    def build_request(self, *args: Any, **others: Any) -> httpx.Request:
        try:
            return super().build_request(*args, **others)
        except UnicodeError:
            # From `idna`, which httpx does not wrap: a bad host name of one target must not stop the sending to others.
            raise httpx.InvalidURL("The host is no international name.") from None


def unobserved(transport: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
    """Put nothing in front of a transport."""
    return transport


def outbound_client(
    allowed: Sequence[Network],
    *,
    lookups: NameLookups | None = None,
    tls: ssl.SSLContext | None = None,
    connections_max: int = CONNECTIONS_MAX,
    of_an_organization_max: int = CONNECTIONS_OF_AN_ORGANIZATION_MAX,
    observed: Observed = unobserved,
) -> httpx.AsyncClient:
    """Return a client whose requests reach allowed addresses only; the caller limits the time of each request.

    A request beyond `connections_max`, or beyond the share of its organization, waits for one that ends. Without
    `lookups` the client has look-ups of its own. `observed` may put a transport that measures in front of its own.
    """
    transport = _CheckedTransport(
        CheckedBackend(allowed, lookups or NameLookups()),
        tls,
        connections_max=connections_max,
        of_an_organization_max=of_an_organization_max,
    )
    return _Client(
        transport=observed(transport),
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS_MAX),
        cookies=NoCookies(),
        follow_redirects=False,
        trust_env=False,
    )


async def read_beginning(response: httpx.Response, content: bytearray, *, bytes_max: int) -> None:
    """Add what arrives of the body of an answer to the content, until there are more bytes than that."""
    # Cancelled and not left by `break`, which would leave the client's generators to the garbage collector.
    with trio.CancelScope() as reading:
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > bytes_max:
                reading.cancel()


async def allowed_addresses(
    host: str, organization_id: UUID | None, allowed: Sequence[Network], lookups: NameLookups
) -> Sequence[Address]:
    """Return the addresses of a host that may be connected to, at least one; raise `TargetRefused` without one."""
    try:
        resolved = await lookups.addresses_of(host, organization_id)
    except NameUnknown as unknown:
        raise TargetRefused(str(unknown)) from unknown
    found = [address for address in resolved if is_allowed(address, allowed)]
    if not found:
        raise TargetRefused(Wording("The name %(host)s leads to a private address, which is not allowed.", host=host))
    return found[:ADDRESSES_TRIED_MAX]


@cache
def tls_of_the_system() -> ssl.SSLContext:
    """Return the context that all HTTP clients share, because reading every certificate takes long."""
    return ssl.create_default_context()

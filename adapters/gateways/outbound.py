"""Connections to targets that organizations name: only to allowed addresses, each checked when it is connected to.

The name of a target is resolved here and the connection goes to one of the checked addresses, so a name that changes
its answer in between leads nowhere else. TLS still verifies the name. Redirects are not followed, no proxy is used.

Each request says for which organization it is, `extensions=of(organization_id)`. An organization has a share of the
connections of a client and of the look-ups of names, however many targets it names.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Iterable, Sequence
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from http.cookiejar import CookieJar
from ipaddress import ip_network
from typing import Any, Final, TypeAlias, cast
from uuid import UUID

import httpcore
import httpx
import trio

from adapters.gateways.name_lookups import NameLookups, NameUnknown, Shares
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
# With their subclasses; httpx has an error of each name.
_ERRORS: Final = (
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
)
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
        self._backend = cast("httpcore.AsyncNetworkBackend", httpcore.TrioBackend())

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


class _CheckedTransport(httpx.AsyncBaseTransport):
    """A transport over connections that are checked, and shared among organizations.

    That of httpx takes no network backend for its pool, so this one has a pool of its own.
    """

    def __init__(
        self,
        backend: CheckedBackend,
        tls: ssl.SSLContext | None,
        *,
        connections_max: int,
        of_an_organization_max: int,
    ) -> None:
        self._shares = Shares(of_an_organization_max)
        self._backend = backend
        self._tls = tls
        self._connections_max = connections_max
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request when its organization has a place, which it keeps until the response is closed."""
        organization_id: UUID | None = request.extensions[_EXTENSION]
        async with AsyncExitStack() as place:
            if organization_id is not None:
                await place.enter_async_context(self._shares.place(organization_id))
            before = _organization_id.set(organization_id)
            try:
                with _errors_of_httpx():
                    response = await self._connections().handle_async_request(_request_of_httpcore(request))
            finally:
                _organization_id.reset(before)
            body = _SharedStream(response, place.pop_all())
        extensions = cast("dict[str, Any]", response.extensions)
        return httpx.Response(response.status, headers=response.headers, stream=body, extensions=extensions)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._pool is not None:
            await self._pool.aclose()

    def _connections(self) -> httpcore.AsyncConnectionPool:
        """Return the pool, which is made for the first request: reading the certificates of the system takes long."""
        if self._pool is None:
            self._pool = httpcore.AsyncConnectionPool(
                ssl_context=self._tls or tls_of_the_system(),
                max_connections=self._connections_max,
                max_keepalive_connections=IDLE_CONNECTIONS_MAX,
                keepalive_expiry=IDLE_SECONDS_MAX,
                network_backend=self._backend,
            )
        return self._pool


class _SharedStream(httpx.AsyncByteStream):
    """The body of a response; closing it gives the place of its organization back."""

    def __init__(self, response: httpcore.Response, place: AsyncExitStack) -> None:
        self._response = response
        self._place = place

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors_of_httpx():
            async for chunk in cast("AsyncIterable[bytes]", self._response.stream):
                yield chunk

    async def aclose(self) -> None:
        """Close the body, and give the place back."""
        async with self._place:
            await self._response.aclose()


def _request_of_httpcore(request: httpx.Request) -> httpcore.Request:
    url = request.url
    return httpcore.Request(
        request.method,
        httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
        headers=request.headers.raw,
        content=cast("httpx.AsyncByteStream", request.stream),
        extensions=request.extensions,
    )


@contextmanager
def _errors_of_httpx() -> Generator[None]:
    """Raise the error of httpx that has the name of that of httpcore, or of its nearest base class."""
    try:
        yield
    except _ERRORS as error:
        name = next(each.__name__ for each in type(error).__mro__ if hasattr(httpx, each.__name__))
        raise getattr(httpx, name)(str(error)) from error


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

"""The clients of HTTP that a running installation has: none keeps what a receiver sets, and none delays the start."""

from __future__ import annotations

from uuid import UUID

import httpx

from adapters.gateways.outbound import of, tls_of_the_system
from adapters.resolver import DnsResolver
from entrypoints.gateways import OutboundClients
from entrypoints.settings import Settings
from tests.receiver import open_receiver

SETS_COOKIES = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/\r\n\r\n"


def every_client() -> OutboundClients:
    return OutboundClients(Settings(dev=True), DnsResolver(), tracing=None)


async def test_no_client_sends_a_cookie_that_a_receiver_has_set() -> None:
    clients = every_client()
    found = {name: value for name, value in vars(clients).items() if isinstance(value, httpx.AsyncClient)}

    async with open_receiver() as receiver:
        receiver.answers(SETS_COOKIES)
        for client in found.values():
            for _ in range(2):
                await client.get(receiver.url, extensions=of(UUID(int=9)))
        await clients.close()

    assert len(found) == 8
    assert len(receiver.received) == 16
    assert [one for one in receiver.received if "cookie" in one.headers] == []


async def test_making_the_clients_reads_no_certificates() -> None:
    tls_of_the_system.cache_clear()

    await every_client().close()

    assert tls_of_the_system.cache_info().currsize == 0

"""The clients of HTTP that a running installation has: none of them keeps what a receiver sets."""

from __future__ import annotations

from uuid import UUID

import httpx

from adapters.gateways.outbound import of
from adapters.resolver import DnsResolver
from entrypoints.equipment import OutboundClients
from entrypoints.settings import Settings
from tests.receiver import open_receiver

SETS_COOKIES = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2; Path=/\r\n\r\n"


async def test_no_client_sends_a_cookie_that_a_receiver_has_set() -> None:
    clients = OutboundClients(
        Settings(dev=True),
        DnsResolver(),
        deliveries_max=2,
        logouts_max=2,
        attempts_of_an_organization_max=2,
        streams_max=2,
    )
    found = {name: value for name, value in vars(clients).items() if isinstance(value, httpx.AsyncClient)}

    async with open_receiver() as receiver:
        receiver.answers(SETS_COOKIES)
        for client in found.values():
            for _ in range(2):
                await client.get(receiver.url, extensions=of(UUID(int=9)))
        await clients.close()

    assert len(found) == 7
    assert len(receiver.received) == 14
    assert [one for one in receiver.received if "cookie" in one.headers] == []

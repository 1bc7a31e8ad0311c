"""Attempts of one delivery, for the tests in this folder."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Iterable
from datetime import UTC, datetime
from ipaddress import ip_network
from uuid import UUID

from adapters.gateways.attempts import HttpWebhookSender
from adapters.gateways.name_lookups import NameLookups
from adapters.gateways.outbound import outbound_client
from adapters.resolver import DnsResolver
from core.attempts import Attempt
from core.outbound import Network
from core.secrets import Secret
from core.webhooks.deliveries import DueDelivery
from tests.name_server import NameServer

LOOPBACK = (ip_network("127.0.0.0/8"),)
NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
ORGANIZATION_ID = UUID(int=9)
EVENT = "0194c8f2-0000-7000-8000-000000000001"
KEYS = [bytes(range(32)), bytes(range(32, 64))]
SECRETS = [Secret("whsec_" + base64.b64encode(key).decode()) for key in KEYS]
PAYLOAD = {
    "id": EVENT,
    "event": "user.login.success",
    "timestamp": "2026-02-03T04:05:06.000000Z",
    "organization_id": None,
    "actor_user_id": None,
    "actor_email": "größe@example.com",
    "data": {"provider": "password", "service_id": None},
}
DELIVERY = DueDelivery(id=UUID(int=7), payload=PAYLOAD, attempt_count=0, queued_at=NOW)


async def attempt(
    url: str,
    *,
    allowed: Iterable[Network] = LOOPBACK,
    names: NameServer | None = None,
    tls: ssl.SSLContext | None = None,
    secrets: int = 1,
) -> Attempt:
    """Make one attempt with a client of its own."""
    lookups = asking(names) if names is not None else None
    async with outbound_client(tuple(allowed), lookups=lookups, tls=tls) as client:
        sender = HttpWebhookSender(client, version="1.2.3")
        return await sender.send(ORGANIZATION_ID, url, DELIVERY, SECRETS[:secrets], at=NOW)


def asking(names: NameServer) -> NameLookups:
    """Return look-ups that ask a name server."""
    return NameLookups(DnsResolver((names.host, names.port)))

"""What the dispatcher of logout tokens does at a message, for tests whose installation has no actors."""

from __future__ import annotations

import ipaddress
from typing import Final

from actors.dispatching import Capacity
from actors.logout_dispatcher import LogoutDispatcher
from adapters.gateways.attempts import HttpLogoutSender
from adapters.gateways.outbound import outbound_client
from entrypoints.installation import Installation
from tests.mailboxes import RecordedMailboxes

_LOOPBACK: Final = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1"))


async def send_notices(installation: Installation) -> None:
    """Send the logout tokens that are due, to services of this machine."""
    async with outbound_client(_LOOPBACK) as client:
        dispatcher = LogoutDispatcher(
            sender=HttpLogoutSender(client, version="1"),
            tokens=installation.tokens,
            database=installation.database,
            mailboxes=RecordedMailboxes(),
            metrics=installation.metrics,
            clock=installation.clock,
        )
        for service in await installation.database.transact(dispatcher.lease, Capacity(targets_max=10, items_max=10)):
            await dispatcher.serve(service)

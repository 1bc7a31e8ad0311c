"""The gateways: what speaks with the systems of others, and the connections that each of them has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import httpx
import trio

from actors import logout_dispatcher, siem_streamer, webhook_dispatcher
from actors.dispatching import DELIVERIES_AT_ONCE_MAX
from adapters.crypto.pepper import HmacPepper
from adapters.gateways.attempts import HttpLogoutSender, HttpWebhookSender
from adapters.gateways.key_sets import HttpKeySets
from adapters.gateways.name_lookups import NameLookups
from adapters.gateways.outbound import (
    CONNECTIONS_MAX,
    CONNECTIONS_OF_AN_ORGANIZATION_MAX,
    EVERYWHERE,
    outbound_client,
)
from adapters.gateways.siem_sender import HttpSiemSender
from adapters.gateways.smtp import RoutingSmtpGateway
from adapters.gateways.upstream import HttpUpstreamGateway
from adapters.gateways.upstream_connections import HttpConnectionGateway
from adapters.gateways.upstream_requests import UpstreamRequests
from adapters.resolver import DnsResolver
from core.attempts import ORGANIZATION_TARGETS_MAX
from core.billing import sandbox
from core.secrets import Secret
from entrypoints import equipment
from entrypoints.equipment import Tracing, observed_by
from entrypoints.event_receiver import EventReceiver
from entrypoints.settings import Settings
from entrypoints.version import version
from ports.clock import Clock

if TYPE_CHECKING:
    from ports.database import Database

ORGANIZATION_ATTEMPTS_MAX: Final = ORGANIZATION_TARGETS_MAX * DELIVERIES_AT_ONCE_MAX
# Fetching the keys of clients, of which each address is fetched by one request at a time.
KEY_SET_CONNECTIONS_MAX: Final = 50


class OutboundClients:
    """The clients of HTTP for targets that organizations name, each with connections of its own.

    A target that never answers must not use up the connections of the others. They share the look-ups of names.
    """

    def __init__(
        self,
        settings: Settings,
        resolver: DnsResolver,
        tracing: Tracing | None,
    ) -> None:
        self._tracing = tracing
        self._clients: list[httpx.AsyncClient] = []
        self._allowed = settings.outbound_allowed
        self.lookups = NameLookups(resolver)
        self.deliveries = self._client("delivery", webhook_dispatcher.ATTEMPTS_AT_ONCE_MAX, ORGANIZATION_ATTEMPTS_MAX)
        self.streams = self._client("siem", siem_streamer.ATTEMPTS_AT_ONCE_MAX)
        self.stream_tests = self._client("siem test", CONNECTIONS_MAX)
        self.logouts = self._client("logout", logout_dispatcher.ATTEMPTS_AT_ONCE_MAX, ORGANIZATION_ATTEMPTS_MAX)
        self.key_sets = self._client("key set", KEY_SET_CONNECTIONS_MAX)
        self.connections = self._client("connection", CONNECTIONS_MAX)
        # The operator has named the external providers, wherever they are; names of organizations do not delay them.
        self.providers = self._keep(
            outbound_client(EVERYWHERE, lookups=NameLookups(resolver), observed=observed_by(tracing, "provider"))
        )

        # Named by the operator as well, and apart: what hangs there is not to delay providers.
        self.breached = self._keep(
            outbound_client(
                EVERYWHERE, lookups=NameLookups(resolver), observed=observed_by(tracing, "breached passwords")
            )
        )

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            await client.aclose()

    def _client(
        self, purpose: str, connections_max: int, of_an_organization_max: int = CONNECTIONS_OF_AN_ORGANIZATION_MAX
    ) -> httpx.AsyncClient:
        return self._keep(
            outbound_client(
                self._allowed,
                lookups=self.lookups,
                connections_max=connections_max,
                of_an_organization_max=of_an_organization_max,
                observed=observed_by(self._tracing, purpose),
            )
        )

    def _keep(self, client: httpx.AsyncClient) -> httpx.AsyncClient:
        self._clients.append(client)
        return client


class Gateways:
    """Every gateway of a process; requests use some of them, and the actors the others."""

    def __init__(
        self, settings: Settings, database: Database, clock: Clock, pepper: HmacPepper, tracing: Tracing | None
    ) -> None:
        self._tracing = tracing
        self.resolver = equipment.resolver(settings)
        self._clients = clients = OutboundClients(settings, self.resolver, tracing)
        connections = UpstreamRequests(clients.connections, version=version())
        self.billing = equipment.billing_gateway(settings, database, clock, tracing)
        self.billing_receiver = EventReceiver(
            mode=self.billing.mode,
            secret=lambda: settings.billing_webhook_secret or Secret(pepper.mark(sandbox.SIGNING_PURPOSE).hex()),
            clock=clock,
            database=database,
        )
        self.breached_passwords = equipment.breached_passwords(settings, clients.breached, version=version())
        self.key_sets = HttpKeySets(clients.key_sets)
        self.upstream = HttpUpstreamGateway(UpstreamRequests(clients.providers, version=version()), clock=clock)
        self.upstream_connections = HttpConnectionGateway(connections, clock=clock)
        self.saml_connections = equipment.saml_connections(connections, settings)
        # The mail server of the platform, None without one, and the mail servers of organizations.
        self.mail = equipment.mail_gateway(settings, clock)
        self.routed_mail = RoutingSmtpGateway(settings.outbound_allowed, clock=clock, lookups=clients.lookups)
        self.webhooks = HttpWebhookSender(clients.deliveries, version=version())
        self.logouts = HttpLogoutSender(clients.logouts, version=version())
        self.streams = HttpSiemSender(clients.streams, version=version())
        self.stream_tests = HttpSiemSender(clients.stream_tests, version=version())

    async def close(self) -> None:
        """Close the connections to others, and last hand the traces over."""
        await self._clients.close()
        await self.billing.close()
        if self._tracing is not None:
            await trio.to_thread.run_sync(self._tracing.close, limiter=trio.CapacityLimiter(1))

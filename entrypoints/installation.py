"""The connected ports that the entry points use. Only `main.py` makes an `Installation`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING
from uuid import UUID

import trio

from actors.live_processes import MemoryLiveProcesses
from actors.precedence import RequestsFirst
from core.accounts.passwords import PasswordRules
from core.accounts.sign_in_methods import Provider
from core.lazy_dataclasses import dataclass
from core.mail.mail import RenderedMail
from core.platform_brand import PlatformBrand
from core.sign_in.upstream.providers import ExternalProvider
from entrypoints.connection_counts import ConnectionCount
from entrypoints.settings import Settings
from ports.accounts.passwords import PasswordHasher
from ports.actors import Actors
from ports.clock import Clock
from ports.listening import LiveProcesses
from ports.metrics import ConnectionPool, Metrics

if TYPE_CHECKING:
    from ports.accounts.passwords import BreachedPasswords
    from ports.audit.siem import AuditTails, SiemSender
    from ports.billing.gateway import BillingGateway
    from ports.credentials.mfa import QrCodes
    from ports.database import Database
    from ports.domain_names import DomainNames
    from ports.event_receiver import BillingReceiver
    from ports.mail.mail import MailRenderer, RoutingGateway
    from ports.openid.signatures import KeySets, Signatures
    from ports.organizations.settings.settings import PictureCleaner
    from ports.precedence import Precedence
    from ports.resolver import Resolver
    from ports.saml.messages import SamlMessages
    from ports.sessions.tokens import KeyRefresh, TokenSigner
    from ports.sign_in.upstream.gateway import ConnectionGateway, SamlConnectionGateway, UpstreamGateway
    from ports.tracing import Tracer
    from ports.webhooks.deliveries import FeedWaiters


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The connected ports and the settings that they were connected with."""

    settings: Settings
    version: str
    clock: Clock
    # That of the machine, which `clock` does not follow when it jumps; only checks read it.
    machine_clock: Clock
    database: Database
    metrics: Metrics
    actors: Actors
    tokens: TokenSigner
    key_refresh: KeyRefresh
    signatures: Signatures
    key_sets: KeySets
    passwords: PasswordHasher
    password_rules: PasswordRules
    domain_names: DomainNames
    qr_codes: QrCodes
    mail_renderer: MailRenderer
    saml: SamlMessages
    routing_gateway: RoutingGateway
    pictures: PictureCleaner
    resolver: Resolver
    billing: BillingGateway
    billing_receiver: BillingReceiver
    feed_waiters: FeedWaiters
    audit_tails: AuditTails
    external_providers: Mapping[Provider, ExternalProvider]
    upstream: UpstreamGateway
    upstream_connections: ConnectionGateway
    saml_connections: SamlConnectionGateway
    siem_sender: SiemSender
    # None where new passwords and those of sign-ins are not looked for among breached ones.
    breached_passwords: BreachedPasswords | None = None
    platform: PlatformBrand = field(default_factory=PlatformBrand)
    precedence: Precedence = field(default_factory=RequestsFirst)
    processes: LiveProcesses = field(default_factory=MemoryLiveProcesses)
    # The connections of this process to the database, and its number among the workers; None when it is the only one.
    pool: ConnectionPool | None = None
    # None where traces are off.
    tracer: Tracer | None = None
    worker: int | None = None
    # The open connections of this worker beside those of the others; None when it is the only process.
    connection_count: ConnectionCount | None = None
    # Set when Gatehouse begins to stop. From then on, every response asks its client to close the connection.
    stopping: trio.Event = field(default_factory=trio.Event)
    # Set before, when another process of the same server takes the requests: the server itself does not stop.
    succeeded: trio.Event = field(default_factory=trio.Event)

    def asks_clients_to_leave(self) -> bool:
        """Return whether a response closes its connection: the process stops, or has too many beside another one."""
        return self.stopping.is_set() or (self.connection_count is not None and self.connection_count.sheds())


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectedInstallation:
    """A connected installation, with the few parts that only starting, stopping and operators use."""

    installation: Installation
    start_actors: Callable[[], None]
    load_secrets: Callable[[], Awaitable[None]]
    send_mail: Callable[[UUID, str, RenderedMail], Awaitable[None]] | None

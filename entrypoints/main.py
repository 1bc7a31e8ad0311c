"""The composition root: it connects every port to its adapter, and disconnects them in reverse order.

Only this module and four others know the adapters: `database.py` the database and its schema, `master_keys.py` the
encryption, `signing_key_pairs.py` the keys of tokens, `equipment.py` what else the settings choose. `serving.py`,
`operations.py` and `doctor.py` use what is connected here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import trio

from actors.audit_counter import AuditCounter
from actors.audit_sealer import AuditSealer
from actors.audit_tail_watcher import AuditTailWatcher
from actors.audit_tails import MemoryAuditTails
from actors.billing_reconciler import BillingReconciler
from actors.bulk_worker import BulkWorker
from actors.certificate_watcher import CertificateWatcher
from actors.clock_watcher import ClockWatcher
from actors.customer_sweeper import CustomerSweeper
from actors.dispatching import DELIVERIES_AT_ONCE_MAX, Connections, Dispatcher
from actors.domain_checker import DomainChecker
from actors.event_sequencer import EventSequencer
from actors.feed_waiters import MemoryFeedWaiters
from actors.housekeeper import Housekeeper
from actors.invitation_sweeper import InvitationSweeper
from actors.key_refresher import KeyRefresher
from actors.live_processes import MemoryLiveProcesses
from actors.log_month_keeper import LogMonthKeeper
from actors.logout_dispatcher import ATTEMPTS_AT_ONCE_MAX as NOTICES_AT_ONCE_MAX
from actors.logout_dispatcher import LogoutDispatcher
from actors.mail_courier import MailCourier
from actors.metadata_reader import MetadataReader
from actors.metrics_refresher import MetricsRefresher
from actors.old_mails import OldMails
from actors.overlooked_work import OverlookedWorkFinder
from actors.periods import PeriodicConnections
from actors.poller import Poller
from actors.precedence import RequestsFirst
from actors.replica_watcher import ReplicaWatcher
from actors.routed_mail_courier import RoutedMailCourier
from actors.sales_counter import SalesCounter
from actors.sandbox_sender import SandboxSender
from actors.service_user_counter import ServiceUserCounter
from actors.siem_streamer import ATTEMPTS_AT_ONCE_MAX as STREAMS_AT_ONCE_MAX
from actors.siem_streamer import SiemStreamer
from actors.sign_in_counter import SignInCounter
from actors.supervision import Supervisor
from actors.timekeeper import Timekeeper
from actors.webhook_dispatcher import ATTEMPTS_AT_ONCE_MAX, WebhookDispatcher
from adapters.clock import CheckedClock
from adapters.crypto.json_web_signatures import JsonWebSignatures
from adapters.crypto.passkeys_on_demand import webauthn_on_demand
from adapters.crypto.pepper import PEPPER_BYTES, HmacPepper
from adapters.crypto.randomness import SystemRandomness
from adapters.crypto.tokens import JwtTokenSigner, SigningKeyRing
from adapters.crypto.totp import PyotpTotp
from adapters.crypto.vault import SealBroken
from adapters.folder_space import folder_space
from adapters.gateways.key_sets import HttpKeySets
from adapters.gateways.logout_sender import HttpLogoutSender
from adapters.gateways.siem_sender import HttpSiemSender
from adapters.gateways.smtp import RoutingSmtpGateway
from adapters.gateways.upstream import HttpUpstreamGateway
from adapters.gateways.upstream_connections import HttpConnectionGateway
from adapters.gateways.upstream_requests import UpstreamRequests
from adapters.gateways.webhook_sender import HttpWebhookSender
from adapters.known_time import SharedTime
from adapters.pictures import RebuildingCleaner
from adapters.postgres.database import PostgresDatabase
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.pool import Pool
from adapters.postgres.embedded.folder import DataFolderError
from adapters.postgres.embedded.server import EmbeddedPostgresError
from adapters.postgres.listening import PostgresListening
from adapters.postgres.replicas import Replicas
from adapters.postgres.schema.migrations import MigrationError
from adapters.postgres.transaction import Tools, always
from adapters.process_usage import process_usage
from adapters.qr_codes import SegnoQrCodes
from core.attempts import ORGANIZATION_TARGETS_MAX
from core.billing import sandbox
from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.mail.mail import RenderedMail
from core.platform.backups import BackupError
from core.secrets import Secret
from core.sessions import server_secrets
from entrypoints import equipment, logs, master_keys, signing_key_pairs
from entrypoints.database import listening_address, replicas_of
from entrypoints.event_receiver import EventReceiver
from entrypoints.installation import Installation
from entrypoints.refusals import CannotStart
from entrypoints.settings import Settings
from entrypoints.upstream_settings import external_providers
from entrypoints.version import version
from entrypoints.workers_memory import WorkersMemory
from ports.clock import Clock
from ports.metrics import Metrics

if TYPE_CHECKING:
    from ports.database import Database
    from ports.mail.mail import MailGateway


# Errors that a command reports in one line; any other exception is a defect and shows its traceback.
REFUSALS: Final = (
    BackupError,
    CannotStart,
    DataFolderError,
    EmbeddedPostgresError,
    MigrationError,
    Refusal,
    SealBroken,
)


def exit_status_of(run: Callable[[], int | None]) -> int:
    """Run a command and return its exit status; print one of `REFUSALS` as one line."""
    try:
        with ungrouped_errors():
            return run() or 0
    except REFUSALS as refusal:
        logs.print_last(f"gatehouse: {refusal}\n", sys.stderr)
        return 1


@contextmanager
def ungrouped_errors() -> Generator[None]:
    """Raise an expected error without the exception groups that nurseries wrapped it in."""
    try:
        yield
    except BaseExceptionGroup as group:
        expected, defects = group.split((*REFUSALS, KeyboardInterrupt, BrokenPipeError))
        if expected is None or defects is not None:
            raise
        first: BaseException = expected
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


def now() -> datetime:
    """Return the current time by the machine's clock."""
    return datetime.now(UTC)


def clock_of(shared: SharedTime, worker: int | None) -> Clock:
    """Return the clock of a worker, which goes on with what the others know of the time."""
    return CheckedClock(shared=shared, worker=worker or 0)


def _clocks(clock: Clock | None) -> tuple[Clock, Clock, Callable[[], bool]]:
    """Return the clock of the process, that of the machine as it is, and whether one may delete by the time."""
    clock = clock or CheckedClock()
    return (clock, now, clock.is_settled) if isinstance(clock, CheckedClock) else (clock, clock, always)


def _randomness(clock: Clock) -> SystemRandomness:
    if isinstance(clock, CheckedClock):
        return SystemRandomness(clock.nanoseconds)
    return SystemRandomness(lambda: int(clock().timestamp() * 1e6) * 1_000)


def _pools(
    settings: Settings, address: Secret, metrics: Metrics, *, connection: Callable[..., Connection]
) -> tuple[Pool, Replicas | None]:
    """Return the connections to the database, and the replicas; None where the settings name none."""
    pool = Pool(
        address.reveal(),
        connections_max=settings.database_connections,
        connection=connection,
        failed=metrics.connect_failed,
    )
    return pool, replicas_of(settings, metrics, connection=connection)


def _close_pools(pool: Pool, replicas: Replicas | None) -> None:
    pool.close()
    if replicas is not None:
        replicas.close()


def _replica_watchers(database: Database, replicas: Replicas | None) -> dict[str, ReplicaWatcher]:
    """Return the actor that looks at the replicas, by its name; none without replicas."""
    return {"replica_watcher": ReplicaWatcher(database=database, replicas=replicas)} if replicas is not None else {}


def _watchers(clock: Clock, database: Database, metrics: Metrics) -> dict[str, ClockWatcher]:
    """Return the actor that watches the clock, by its name; none for a clock that is not the machine's."""
    if not isinstance(clock, CheckedClock):
        return {}
    return {"clock_watcher": ClockWatcher(clock=clock, database=database, metrics=metrics)}


def require_settings(settings: Settings) -> None:
    """Raise `CannotStart` for settings that only an adapter can check, before anything is started."""
    master_keys.vault(settings)
    equipment.mail_gateway(settings, now)
    equipment.geoip_edition(settings)
    equipment.require_owner_email(settings)
    if isinstance(settings.breached_passwords, Path):
        equipment.breached_file(settings.breached_passwords)
    equipment.platform_brand_of(settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectedInstallation:
    """A connected installation, with the few parts that only starting, stopping and operators use."""

    installation: Installation
    start_actors: Callable[[], None]
    load_secrets: Callable[[], Awaitable[None]]
    send_mail: Callable[[UUID, str, RenderedMail], Awaitable[None]] | None


@asynccontextmanager
async def connected(
    settings: Settings,
    address: Secret,
    *,
    worker: int | None = None,
    memory: WorkersMemory | None = None,
    count_database_restarts: Callable[[], int] | None = None,
    observed: Callable[[Database], Database] = lambda database: database,
    clock: Clock | None = None,
) -> AsyncGenerator[ConnectedInstallation]:
    """Connect every port to its adapter; the actors do not run until `start_actors`.

    `worker` is the number of this worker process, which shares `memory` with the others; both are None when there is
    only one process. `count_database_restarts` returns how often an embedded database was started again. `observed` may
    put a port that measures in front of the database.
    `clock` may be that of a worker, or another one than that of the machine; ids have its times.
    """
    clock, machine_clock, is_settled = _clocks(clock)
    vault, randomness = master_keys.vault(settings), _randomness(clock)
    metrics = equipment.metrics(
        version=version(),
        worker=worker,
        shared=memory.metrics if memory is not None else None,
        count_database_restarts=count_database_restarts,
        count_replaced_workers=memory.replaced.by_reason if memory is not None else None,
    )
    timekeeper, pepper = Timekeeper(metrics), HmacPepper()
    locations = equipment.locations(settings)
    tracing = equipment.tracing(settings, version=version(), metrics=metrics)
    pool, replicas = _pools(settings, address, metrics, connection=equipment.connection_of(tracing))
    postgres = PostgresDatabase(
        pool=pool,
        replicas=replicas,
        tools=Tools(
            clock=clock,
            randomness=randomness,
            vault=vault,
            pepper=pepper,
            domain_names=equipment.DOMAIN_NAMES,
            locations=locations,
            totp=PyotpTotp(issuer=settings.name),
            webauthn=webauthn_on_demand(rp_id=settings.relying_party_id, rp_name=settings.name, origin=settings.origin),
            has_rate_limits=settings.rate_limits,
            is_settled=is_settled,
        ),
        mailboxes=timekeeper,
        cancelled=metrics.statement_cancelled,
    )
    database = observed(postgres)
    ring, platform = SigningKeyRing(), equipment.platform_brand_of(settings)
    refresher = KeyRefresher(database=database, ring=ring)
    watchers = _watchers(clock, database, metrics)
    gateway = equipment.mail_gateway(settings, clock)
    precedence, processes = RequestsFirst(), MemoryLiveProcesses()
    deleting: PeriodicConnections = {
        "database": database,
        "metrics": metrics,
        "mailboxes": timekeeper,
        "precedence": precedence,
        "is_settled": is_settled,
    }
    housekeeper = Housekeeper(kept_for=settings.kept_for, **deleting)
    waiters, tails = MemoryFeedWaiters(), MemoryAuditTails(timekeeper)
    resolver = equipment.resolver(settings)
    http = equipment.OutboundClients(
        settings,
        resolver,
        deliveries_max=ATTEMPTS_AT_ONCE_MAX,
        logouts_max=NOTICES_AT_ONCE_MAX,
        attempts_of_an_organization_max=ORGANIZATION_TARGETS_MAX * DELIVERIES_AT_ONCE_MAX,
        streams_max=STREAMS_AT_ONCE_MAX,
        tracing=tracing,
    )
    upstream_requests = UpstreamRequests(http.connections, version=version())
    tokens = JwtTokenSigner(ring, issuer=settings.base_url, randomness=randomness)
    billing = equipment.billing_gateway(settings, database, clock, tracing)
    billing_receiver = EventReceiver(
        mode=billing.mode,
        secret=lambda: settings.billing_webhook_secret or Secret(pepper.mark(sandbox.SIGNING_PURPOSE).hex()),
        clock=clock,
        database=database,
    )
    try:
        async with trio.open_nursery() as nursery:
            supervisor = Supervisor(nursery, clock=clock, metrics=metrics)

            def start_actors() -> None:
                everywhere: PeriodicConnections = {
                    "database": database,
                    "metrics": metrics,
                    "mailboxes": timekeeper,
                    "precedence": precedence,
                }
                poller = Poller(
                    listening=PostgresListening(
                        listening_address(settings, address), mode=billing.mode, database_address=address
                    ),
                    mode=billing.mode,
                    clock=clock,
                    keeper=timekeeper,
                    waiters=waiters,
                    database=database,
                    metrics=metrics,
                    processes=processes,
                )
                told: dict[str, Any] = {
                    **watchers,
                    **_replica_watchers(database, replicas),
                    "key_refresher": refresher,
                    "metrics_refresher": MetricsRefresher(
                        database=database,
                        pool=pool,
                        metrics=metrics,
                        usage=process_usage,
                        space=partial(folder_space, settings.data_dir),
                    ),
                    "housekeeper": housekeeper,
                    "log_month_keeper": LogMonthKeeper(kept_for=settings.logs_kept_for, **deleting),
                    "invitation_sweeper": InvitationSweeper(**deleting),
                    "audit_counter": AuditCounter(**everywhere),
                    "certificate_watcher": CertificateWatcher(**everywhere),
                    "customer_sweeper": CustomerSweeper(**everywhere),
                    "domain_checker": DomainChecker(resolver=installation.resolver, **everywhere),
                    "metadata_reader": MetadataReader(
                        identity_providers=installation.saml_connections, clock=installation.clock, **everywhere
                    ),
                    "overlooked_work_finder": OverlookedWorkFinder(**everywhere),
                    "sign_in_counter": SignInCounter(**everywhere),
                    "sales_counter": SalesCounter(**everywhere),
                    "service_user_counter": ServiceUserCounter(**everywhere),
                    "audit_sealer": AuditSealer(**everywhere),
                    "audit_tail_watcher": AuditTailWatcher(logs=tails, **everywhere),
                    "event_sequencer": EventSequencer(waiters=waiters, **everywhere),
                    "billing_reconciler": BillingReconciler(gateway=billing, **everywhere),
                    "old_mails": OldMails(**deleting),
                    **_dispatchers(installation, http, gateway, timekeeper),
                }
                if not settings.has_billing_provider:
                    # Also for a sandbox that is closed: what it has sold can be cancelled.
                    told["sandbox_sender"] = SandboxSender(receiver=billing_receiver, **everywhere)
                supervisor.supervise("timekeeper", timekeeper.run)
                supervisor.supervise("poller", poller.run)
                for name, actor in told.items():
                    timekeeper.add(name, actor.box)
                    supervisor.supervise(name, actor.run, actor.box)

            async def load_secrets() -> None:
                await signing_key_pairs.ensure(installation)
                await refresher.refresh()
                pepper.load(await database.transact(server_secrets.pepper, os.urandom(PEPPER_BYTES)))

            installation = Installation(
                settings=settings,
                version=version(),
                clock=clock,
                machine_clock=machine_clock,
                database=database,
                metrics=metrics,
                actors=supervisor,
                tokens=tokens,
                key_refresh=refresher,
                signatures=JsonWebSignatures(),
                key_sets=HttpKeySets(http.key_sets),
                passwords=equipment.password_hasher(settings, worker=worker),
                password_rules=equipment.password_rules(settings),
                breached_passwords=equipment.breached_passwords(settings, http.breached, version=version()),
                domain_names=equipment.DOMAIN_NAMES,
                qr_codes=SegnoQrCodes(),
                mail_renderer=equipment.mail_renderer(settings, platform),
                saml=equipment.saml_messages(),
                routing_gateway=RoutingSmtpGateway(settings.outbound_allowed, clock=clock, lookups=http.lookups),
                pictures=RebuildingCleaner(),
                resolver=resolver,
                billing=billing,
                billing_receiver=billing_receiver,
                feed_waiters=waiters,
                audit_tails=tails,
                external_providers=external_providers(settings),
                upstream=HttpUpstreamGateway(UpstreamRequests(http.providers, version=version()), clock=clock),
                upstream_connections=HttpConnectionGateway(upstream_requests, clock=clock),
                saml_connections=equipment.saml_connections(upstream_requests, settings),
                platform=platform,
                siem_sender=HttpSiemSender(http.stream_tests, version=version()),
                precedence=precedence,
                processes=processes,
                pool=pool,
                tracer=tracing.tracer if tracing is not None else None,
                worker=worker,
                connection_count=memory.connections.of(worker) if memory is not None and worker is not None else None,
            )
            for watcher in watchers.values():
                # A process that is started with a wrong clock has the right time from its first request on.
                await watcher.begin()
            yield ConnectedInstallation(
                installation=installation,
                start_actors=start_actors,
                load_secrets=load_secrets,
                send_mail=gateway.send if gateway is not None else None,
            )
            await supervisor.stop()
    finally:
        with trio.CancelScope(shield=True):
            await equipment.close_clients(http, billing, tracing)
        # Last, because the actors use the database until they have ended.
        _close_pools(pool, replicas)
        locations.close()


def _dispatchers(
    installation: Installation,
    http: equipment.OutboundClients,
    gateway: MailGateway | None,
    timekeeper: Timekeeper,
) -> dict[str, Dispatcher[Any]]:
    """Return the actors that send, by their names; mail leaves through `gateway` or the servers of organizations."""
    clock, renderer = installation.clock, installation.mail_renderer
    connections: Connections = {
        "database": installation.database,
        "mailboxes": timekeeper,
        "metrics": installation.metrics,
        "precedence": installation.precedence,
    }
    webhooks = HttpWebhookSender(http.deliveries, version=version())
    logouts = HttpLogoutSender(http.logouts, version=version())
    streams = HttpSiemSender(http.streams, version=version())
    routing = installation.routing_gateway
    return {
        "webhook_dispatcher": WebhookDispatcher(sender=webhooks, clock=clock, **connections),
        "logout_dispatcher": LogoutDispatcher(sender=logouts, tokens=installation.tokens, clock=clock, **connections),
        "bulk_worker": BulkWorker(**connections),
        "siem_streamer": SiemStreamer(sender=streams, clock=clock, **connections),
        "mail_courier": MailCourier(renderer=renderer, gateway=gateway, **connections),
        "routed_mail_courier": RoutedMailCourier(renderer=renderer, gateway=routing, **connections),
    }

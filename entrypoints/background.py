"""The table of actors: what runs beside the requests, by its name, and what both have in common."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

from actors.audit_sealer import AuditSealer
from actors.audit_tails import AuditTailWatcher, MemoryAuditTails
from actors.billing_reconciler import BillingReconciler
from actors.bulk_worker import BulkWorker
from actors.certificates import CertificateWatcher, MetadataReader
from actors.clock_watcher import ClockWatcher
from actors.counters import AuditCounter, SalesCounter, ServiceUserCounter, SignInCounter
from actors.customer_sweeper import CustomerSweeper
from actors.dispatching import Connections
from actors.domain_checker import DomainChecker
from actors.event_sequencer import EventSequencer, MemoryFeedWaiters
from actors.housekeeper import Housekeeper, LogMonthKeeper
from actors.invitation_sweeper import InvitationSweeper
from actors.key_refresher import KeyRefresher
from actors.live_processes import MemoryLiveProcesses
from actors.logout_dispatcher import LogoutDispatcher
from actors.mail_couriers import MailCourier, OldMails, RoutedMailCourier
from actors.mailboxes import Mailbox
from actors.metrics_refresher import MetricsRefresher
from actors.overlooked_work import OverlookedWorkFinder
from actors.periods import PeriodicConnections
from actors.poller import Poller
from actors.precedence import RequestsFirst
from actors.replica_watcher import ReplicaWatcher
from actors.sandbox_sender import SandboxSender
from actors.siem_streamer import SiemStreamer
from actors.supervision import Supervisor
from actors.timekeeper import Timekeeper
from actors.webhook_dispatcher import WebhookDispatcher
from adapters.machine_usage import folder_space, process_usage
from adapters.postgres.listening import PostgresListening
from core.secrets import Secret
from entrypoints.clocks import Time
from entrypoints.database import listening_address
from entrypoints.gateways import Gateways
from entrypoints.installation import Installation
from entrypoints.storage import Storage

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from ports.database import Database
    from ports.metrics import Metrics
    from ports.sessions.tokens import KeyRing


class Actor(Protocol):
    """A task that works at each message of its box, until it is cancelled."""

    box: Mailbox

    def run(self) -> Awaitable[None]:
        """Work until cancelled."""
        ...


class Background:
    """What requests and actors have in common, and the actors once they run."""

    def __init__(
        self,
        database: Database,
        storage: Storage,
        metrics: Metrics,
        timekeeper: Timekeeper,
        time: Time,
        ring: KeyRing,
    ) -> None:
        self._storage, self._metrics, self._timekeeper, self._time = storage, metrics, timekeeper, time
        self.precedence, self.processes = RequestsFirst(), MemoryLiveProcesses()
        self.waiters, self.tails = MemoryFeedWaiters(), MemoryAuditTails(timekeeper)
        self.key_refresher = KeyRefresher(database=database, ring=ring)
        self.clock_watcher = (
            ClockWatcher(clock=time.checked, database=database, metrics=metrics) if time.checked is not None else None
        )

    def start(self, supervisor: Supervisor, address: Secret, installation: Installation, gateways: Gateways) -> None:
        """Let all actors run."""
        supervisor.supervise("timekeeper", self._timekeeper.run)
        supervisor.supervise("poller", self._poller(address, installation).run)
        for name, actor in self._table(installation, gateways).items():
            self._timekeeper.add(name, actor.box)
            supervisor.supervise(name, actor.run, actor.box)

    def _poller(self, address: Secret, installation: Installation) -> Poller:
        settings, mode = installation.settings, installation.billing.mode
        return Poller(
            listening=PostgresListening(listening_address(settings, address), mode=mode, database_address=address),
            mode=mode,
            clock=self._time.clock,
            database=installation.database,
            keeper=self._timekeeper,
            processes=self.processes,
            waiters=self.waiters,
            metrics=self._metrics,
        )

    def _table(self, installation: Installation, gateways: Gateways) -> dict[str, Actor]:
        settings, database, clock = installation.settings, installation.database, self._time.clock
        shared: Connections = {
            "database": database,
            "metrics": self._metrics,
            "mailboxes": self._timekeeper,
            "precedence": self.precedence,
        }
        deleting: PeriodicConnections = {**shared, "is_settled": self._time.is_settled}
        table: dict[str, Actor] = {
            "key_refresher": self.key_refresher,
            "metrics_refresher": MetricsRefresher(
                database=database,
                pool=self._storage.pool,
                metrics=self._metrics,
                usage=process_usage,
                space=partial(folder_space, settings.data_dir),
            ),
            "housekeeper": Housekeeper(kept_for=settings.kept_for, **deleting),
            "log_month_keeper": LogMonthKeeper(kept_for=settings.logs_kept_for, **deleting),
            "invitation_sweeper": InvitationSweeper(**deleting),
            "old_mails": OldMails(**deleting),
            "audit_counter": AuditCounter(**shared),
            "certificate_watcher": CertificateWatcher(**shared),
            "customer_sweeper": CustomerSweeper(**shared),
            "domain_checker": DomainChecker(resolver=gateways.resolver, **shared),
            "metadata_reader": MetadataReader(identity_providers=gateways.saml_connections, clock=clock, **shared),
            "overlooked_work_finder": OverlookedWorkFinder(**shared),
            "sign_in_counter": SignInCounter(**shared),
            "sales_counter": SalesCounter(**shared),
            "service_user_counter": ServiceUserCounter(**shared),
            "audit_sealer": AuditSealer(**shared),
            "audit_tail_watcher": AuditTailWatcher(logs=self.tails, **shared),
            "event_sequencer": EventSequencer(waiters=self.waiters, **shared),
            "billing_reconciler": BillingReconciler(gateway=gateways.billing, **shared),
            "webhook_dispatcher": WebhookDispatcher(sender=gateways.webhooks, clock=clock, **shared),
            "logout_dispatcher": LogoutDispatcher(
                sender=gateways.logouts, tokens=installation.tokens, clock=clock, **shared
            ),
            "bulk_worker": BulkWorker(**shared),
            "siem_streamer": SiemStreamer(sender=gateways.streams, clock=clock, **shared),
            "mail_courier": MailCourier(renderer=installation.mail_renderer, gateway=gateways.mail, **shared),
            "routed_mail_courier": RoutedMailCourier(
                renderer=installation.mail_renderer, gateway=gateways.routed_mail, **shared
            ),
        }
        if self.clock_watcher is not None:
            table["clock_watcher"] = self.clock_watcher
        if self._storage.replicas is not None:
            table["replica_watcher"] = ReplicaWatcher(database=database, replicas=self._storage.replicas)
        if not settings.has_billing_provider:
            # Also for a sandbox that is closed: what it has sold can be cancelled.
            table["sandbox_sender"] = SandboxSender(receiver=installation.billing_receiver, **shared)
        return table

"""The composition root: which parts there are, each connected beside its table, and disconnected in reverse order.

`clocks.py` has the time, `storage.py` the database, `gateways.py` what speaks with others, `background.py` the actors,
`equipment.py` what else the settings choose. `serving.py`, `operations.py` and `doctor.py` use what is connected here.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import trio

from actors.supervision import Supervisor
from actors.timekeeper import Timekeeper
from adapters.crypto.json_web_signatures import JsonWebSignatures
from adapters.crypto.tokens import JwtTokenSigner, SigningKeyRing
from adapters.pictures import RebuildingCleaner
from adapters.qr_codes import SegnoQrCodes
from core.secrets import Secret
from entrypoints import equipment, signing_key_pairs
from entrypoints.background import Background
from entrypoints.clocks import time_of
from entrypoints.gateways import Gateways
from entrypoints.installation import ConnectedInstallation, Installation
from entrypoints.settings import Settings
from entrypoints.storage import Storage
from entrypoints.upstream_settings import external_providers
from entrypoints.version import version
from entrypoints.workers_memory import WorkersMemory
from ports.clock import Clock

if TYPE_CHECKING:
    from ports.database import Database


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
    only one. `count_database_restarts` returns how often an embedded database was started again. `observed` may put a
    measuring port in front of the database. `clock` may differ from the machine's; ids take their times from it.
    """
    time, ring = time_of(clock), SigningKeyRing()
    metrics = equipment.metrics(worker=worker, memory=memory, count_database_restarts=count_database_restarts)
    tracing = equipment.tracing(settings, version=version(), metrics=metrics)
    timekeeper, platform = Timekeeper(metrics), equipment.platform_brand_of(settings)
    storage = Storage(settings, address, time=time, metrics=metrics, mailboxes=timekeeper, tracing=tracing)
    database = observed(storage.database)
    gateways = Gateways(settings, database, time.clock, storage.pepper, tracing)
    background = Background(database, storage, metrics, timekeeper, time, ring)
    try:
        async with trio.open_nursery() as nursery:
            supervisor = Supervisor(nursery, clock=time.clock, metrics=metrics)
            installation = Installation(
                settings=settings,
                version=version(),
                clock=time.clock,
                machine_clock=time.machine,
                database=database,
                metrics=metrics,
                actors=supervisor,
                tokens=JwtTokenSigner(ring, issuer=settings.base_url, randomness=time.randomness),
                key_refresh=background.key_refresher,
                signatures=JsonWebSignatures(),
                key_sets=gateways.key_sets,
                passwords=equipment.password_hasher(settings, workers=memory.workers if memory is not None else 1),
                password_rules=equipment.password_rules(settings),
                breached_passwords=gateways.breached_passwords,
                domain_names=equipment.DOMAIN_NAMES,
                qr_codes=SegnoQrCodes(),
                mail_renderer=equipment.mail_renderer(settings, platform),
                saml=equipment.saml_messages(),
                routing_gateway=gateways.routed_mail,
                pictures=RebuildingCleaner(),
                resolver=gateways.resolver,
                billing=gateways.billing,
                billing_receiver=gateways.billing_receiver,
                feed_waiters=background.waiters,
                audit_tails=background.tails,
                external_providers=external_providers(settings),
                upstream=gateways.upstream,
                upstream_connections=gateways.upstream_connections,
                saml_connections=gateways.saml_connections,
                platform=platform,
                siem_sender=gateways.stream_tests,
                precedence=background.precedence,
                processes=background.processes,
                pool=storage.pool,
                tracer=tracing.tracer if tracing is not None else None,
                worker=worker,
                connection_count=memory.connections.of(worker) if memory is not None and worker is not None else None,
            )
            if background.clock_watcher is not None:
                # A process that is started with a wrong clock has the right time from its first request on.
                await background.clock_watcher.begin()
            yield ConnectedInstallation(
                installation=installation,
                start_actors=lambda: background.start(supervisor, address, installation, gateways),
                load_secrets=partial(signing_key_pairs.load, installation, background.key_refresher, storage.pepper),
                send_mail=gateways.mail.send if gateways.mail is not None else None,
            )
            await supervisor.stop()
    finally:
        with trio.CancelScope(shield=True):
            await gateways.close()
        # Last, because the actors use the database until they have ended.
        storage.close()

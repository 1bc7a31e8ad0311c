"""`gatehouse serve`: starting, serving until a stop signal, and stopping in order.

Ready means that the schema is up to date, the keys exist and the socket listens. With several workers, this process
prepares the start and then only supervises them. A signal stops it at any moment: before there is an event loop the
start is undone, from then on an orderly stop begins, and a second signal ends the process at once.
"""

from __future__ import annotations

import gc
import resource
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, TypeAlias

import structlog
import trio

from core.accounts import new_passwords
from core.lazy_dataclasses import dataclass
from core.platform import owners
from core.secrets import Secret
from entrypoints import billing_settings, capabilities, database, equipment, logs, main, master_keys
from entrypoints.database import Keeper
from entrypoints.heartbeats import beat
from entrypoints.installation import Installation
from entrypoints.process_memory import return_free_memory
from entrypoints.refusals import CannotStart
from entrypoints.server import CONNECTIONS_MAX, Server, connections_max, listen_on, reserve
from entrypoints.setting_kinds import Bind
from entrypoints.settings import Settings
from entrypoints.shared.accounts.new_passwords import generated_password, hashed
from entrypoints.signals import stop_signals
from entrypoints.upstream_settings import added_to
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.paths import paths_of
from entrypoints.web.serving.routes import Route
from entrypoints.workers import supervise_workers
from entrypoints.workers_memory import WorkersMemory

# The routes of each listening socket.
_Served: TypeAlias = list[tuple[Route, ...]]


DEVELOPMENT_OWNER: Final = "owner@gatehouse.test"
OWNER_FILE: Final = "owner-password"
OWNER_PASSWORD_BYTES: Final = 12
# The time a worker has for stopping besides that for requests in flight: for its actors and connections.
WORKER_STOP_SECONDS_MAX: Final = 20.0
# The threshold of the garbage collector. A request allocates some hundreds of objects, so the default, 700, would
# interrupt every other request.
NEW_OBJECTS_MAX: Final = 10_000
FEW_OPEN_FILES_ADVICE: Final = (
    "Raise the limit on open files to 65536: LimitNOFILE= under systemd, --ulimit nofile= for a container, ulimit -n"
    " in a shell."
)
METRICS_BIND: Final = "GATEHOUSE_METRICS_BIND"
NEWER_SCHEMA_ADVICE: Final = (
    "A newer Gatehouse has migrated the database, and its schema says that this version works with it. Replace this"
    " process by the newer version when it suits."
)

log = structlog.get_logger(__name__)


class StoppedAtOnce(CannotStart):
    """A second stop signal arrived before the orderly stop was complete."""


@dataclass(frozen=True, slots=True)
class Process:
    """What a serving process is to its parent: its number, and how it reports; None and nothing for a process alone."""

    worker: int | None
    # None when the parent does not wait for this worker.
    report_ready: Callable[[], None] | None
    heartbeat: int | None
    memory: WorkersMemory | None


def serve(settings: Settings, *, workers: int) -> int:
    """Serve until a stop signal; return the exit status."""
    logs.configure(log_format=settings.log_format, log_level=settings.log_level)
    _allow_many_files(settings)
    with database.serving_lock(settings), _reserved(settings) as listeners:
        main.require_settings(settings)
        served = _served(settings)
        with database.address_and_keeper_of(settings) as (address, keeper):
            _prepare(settings, address)
            status = _serve_with(workers, settings, served, address, keeper, listeners)
    log.info("server.stopped")
    return status


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listeners:
    """The socket for everyone, and the one for what only the operator may reach, if that has an address of its own."""

    public: socket.socket
    internal: socket.socket | None

    def listen(self, settings: Settings) -> None:
        """Start listening on both."""
        listen_on(self.public, settings.bind)
        if self.internal is not None and settings.metrics_bind is not None:
            listen_on(self.internal, settings.metrics_bind, setting=METRICS_BIND)


@contextmanager
def _reserved(settings: Settings) -> Generator[_Listeners]:
    with reserve(settings.bind) as public:
        if settings.metrics_bind is None:
            yield _Listeners(public=public, internal=None)
            return
        with reserve(settings.metrics_bind, setting=METRICS_BIND) as internal:
            yield _Listeners(public=public, internal=internal)


def _serve_with(
    workers: int, settings: Settings, served: _Served, address: Secret, keeper: Keeper | None, listeners: _Listeners
) -> int:
    memory = WorkersMemory(workers) if workers > 1 else None
    # Once for all workers, which share what exists before them.
    main.version()
    for routes in served:
        paths_of(routes)

    def work(worker: int | None, report_ready: Callable[[], None] | None, heartbeat: int | None) -> None:
        # From here on, signals are pending until the event loop receives them.
        signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals())
        process = Process(worker, report_ready, heartbeat, memory)
        trio.run(_serve, settings, served, address, keeper, listeners, process)

    if memory is None:
        work(None, lambda: None, None)
        return 0
    return supervise_workers(
        workers,
        lambda worker, report_ready, heartbeat: main.exit_status_of(partial(work, worker, report_ready, heartbeat)),
        listener=listeners.public,
        stop_seconds_max=settings.drain_seconds + settings.shutdown_seconds + WORKER_STOP_SECONDS_MAX,
        memory=memory,
        attend=keeper.attend if keeper is not None else None,
    )


def _prepare(settings: Settings, address: Secret) -> None:
    """Migrate an embedded or development database; require that any other one is up to date."""

    def report(text: str) -> None:
        log.info("database.preparing", text=text)

    database.wait_for(address, report)
    session_address = database.session_address(settings, address)
    if settings.is_embedded or settings.dev:
        database.migrate(session_address, report)
    else:
        database.require_schema(address)
    if ahead := database.migration_plan(address).ahead:
        log.warning("database.newer_schema", migrations=[str(each) for each in ahead], advice=NEWER_SCHEMA_ADVICE)
    if not equipment.hashing_is_correct():
        raise CannotStart("Password hashing gives wrong results on this machine. Remove .venv and run ops/run again.")


async def _serve(
    settings: Settings,
    served: _Served,
    address: Secret,
    keeper: Keeper | None,
    listeners: _Listeners,
    process: Process,
) -> None:
    stopping = trio.Event()
    is_alone = process.worker is None
    with trio.open_signal_receiver(*stop_signals()) as signals:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, stop_signals())
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(_stop_on_signal, signals, stopping, is_alone=is_alone))
            if keeper is not None and is_alone:
                # With several workers, the parent attends to it.
                nursery.start_soon(database.keep_running, keeper)
            count_restarts = None if keeper is None else lambda: keeper.restarts
            async with main.connected(
                settings,
                address,
                worker=process.worker,
                memory=process.memory,
                count_database_restarts=count_restarts,
            ) as connected:
                await connected.load_secrets()
                owner = await _ensure_owner(connected.installation)
                connected.start_actors()
                servers = _servers(connected.installation, served, listeners)
                _tune_garbage_collector()
                listeners.listen(settings)
                if process.heartbeat is not None:
                    nursery.start_soon(beat, process.heartbeat)
                if process.report_ready is None:
                    log.info("worker.ready", worker=process.worker)
                else:
                    _announce(settings, listeners, owner)
                    process.report_ready()
                async with trio.open_nursery() as serving:
                    for server in servers:
                        serving.start_soon(server.serve, stopping)
            nursery.cancel_scope.cancel()


def _servers(installation: Installation, served: _Served, listeners: _Listeners) -> list[Server]:
    """Return the server for everyone, and the one for the operator, if it has an address of its own."""
    settings = installation.settings
    seconds = float(settings.shutdown_seconds), float(settings.drain_seconds)
    sockets = [listeners.public] if listeners.internal is None else [listeners.public, listeners.internal]
    return [
        Server(_application(installation, routes), listener, *seconds, return_memory=return_free_memory)
        for routes, listener in zip(served, sockets, strict=True)
    ]


def _served(settings: Settings) -> _Served:
    """Return the routes of each listening socket: of that for everyone, and of the operator's."""
    routes = capabilities.routes(
        is_development=settings.dev, has_billing_provider=settings.has_billing_provider, added=added_to(settings)
    )
    if settings.metrics_bind is None:
        return [tuple(routes)]
    public = tuple(route for route in routes if not capabilities.is_internal(route))
    return [public, tuple(route for route in routes if capabilities.is_internal(route))]


def _application(installation: Installation, routes: Sequence[Route]) -> Application:
    if installation.tracer is None:
        return Application(installation, routes)
    # Imported here, because without traces it is not needed.
    from entrypoints.web.serving.traced import TracedApplication  # noqa: PLC0415

    return TracedApplication(installation, routes, tracer=installation.tracer)


def _tune_garbage_collector() -> None:
    """Exclude the objects that live as long as the process from garbage collection.

    Scanning everything each time took a tenth of the processor, and delayed all requests by up to 0.2 s.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS_MAX, *gc.get_threshold()[1:])
    gc.enable()


async def _stop_on_signal(signals: AsyncIterator[int], stopping: trio.Event, *, is_alone: bool) -> None:
    async for number in signals:
        if not stopping.is_set():
            if is_alone:
                log.info("server.stopping", signal=signal.Signals(number).name)
            stopping.set()
        elif is_alone:
            # If this is too slow as well, a third signal ends the process through the kernel.
            for stop in stop_signals():
                signal.signal(stop, signal.SIG_DFL)
            raise StoppedAtOnce("Stopped at once after a second signal. Requests in flight were aborted.")


async def _ensure_owner(installation: Installation) -> str | None:
    """Make the first platform owner that a setting or development mode names.

    Return the address if it is a platform owner's, else None.
    """
    settings = installation.settings
    email = settings.owner_email or (DEVELOPMENT_OWNER if settings.dev else None)
    if email is None:
        return None
    if not await installation.database.transact(owners.any_exists):
        password = settings.owner_password or _development_password(settings)
        new = new_passwords.accepted(
            password.reveal(), "GATEHOUSE_OWNER_PASSWORD", installation.password_rules, [email]
        )
        await installation.database.transact(owners.appoint_first, email, await hashed(installation, new))
    # Another replica may have made a different first owner.
    return email if await installation.database.read(owners.is_platform_owner, email) else None


def _development_password(settings: Settings) -> Secret:
    """Return the development owner's password, which is generated once, because every start prints it."""
    return master_keys.kept_secret(settings, OWNER_FILE, lambda: generated_password(settings, OWNER_PASSWORD_BYTES))


def _announce(settings: Settings, listeners: _Listeners, owner: str | None) -> None:
    places = {"bind": _place(settings.bind, listeners.public)}
    if settings.metrics_bind is not None and listeners.internal is not None:
        places["metrics_bind"] = _place(settings.metrics_bind, listeners.internal)
    log.info("server.ready", address=settings.base_url, **places, version=main.version())
    _announce_sales(settings)
    # The rest is for a developer at a terminal.
    if not settings.dev or settings.log_format != "console":
        return
    base = settings.base_url
    metrics = f"http://{places['metrics_bind']}" if "metrics_bind" in places else base
    lines = [
        "",
        f"  Gatehouse is ready at {base}",
        "",
        f"  Reference   {base}/docs",
        f"  Mailbox     {base}/dev/mailbox",
        f"  Metrics     {metrics}/metrics",
    ]
    if owner is not None:
        is_given = settings.owner_password is not None
        password = "as in GATEHOUSE_OWNER_PASSWORD" if is_given else _development_password(settings).reveal()
        lines += [f"  Owner       {owner}", f"  Password    {password}"]
    lines += ["", "  Stop with Ctrl-C.", ""]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _place(bind: Bind, listener: socket.socket) -> str:
    """Return where a socket listens: port 0 stands for one that the system has chosen."""
    return str(Bind(bind.host, listener.getsockname()[1]))


def _announce_sales(settings: Settings) -> None:
    """Report that plans are sold without money, or not at all; in development mode everybody expects the sandbox."""
    if settings.has_billing_provider or settings.dev:
        return
    if settings.has_billing_sandbox:
        log.warning("billing.sandbox", advice=billing_settings.SANDBOX_ADVICE)
    else:
        log.info("billing.nothing_for_sale", advice=billing_settings.NOTHING_FOR_SALE_ADVICE)


def _allow_many_files(settings: Settings) -> None:
    """Raise the limit on open files to the maximum, and report when that is low: each connection is an open file."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems accept no limit as high as the one that they report.
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    connections = connections_max(settings)
    if connections < CONNECTIONS_MAX:
        log.warning(
            "server.few_open_files", open_files_max=hard, connections_max=connections, advice=FEW_OPEN_FILES_ADVICE
        )

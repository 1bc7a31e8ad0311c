"""`gatehouse serve`: starting, serving until a stop signal, and stopping in order.

Ready means that the schema is up to date, the keys exist and the socket listens. With several workers, this process
prepares the start and then only supervises them. A signal stops it at any moment: before there is an event loop the
start is undone, from then on an orderly stop begins, and a second signal ends the process at once. Another signal lets
it read its settings again (ops/decisions/0091-restarts-and-reloads.md): workers are replaced one by one, and a process
alone executes itself again with the sockets that it has.
"""

from __future__ import annotations

import gc
import resource
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from typing import Final, TypeAlias

import structlog
import trio

from core.errors import ServiceUnavailable
from core.lazy_dataclasses import dataclass
from core.platform import log_months
from core.platform.log_months import Log
from core.secrets import Secret
from entrypoints import (
    capabilities,
    clocks,
    database,
    equipment,
    exits,
    first_owner,
    handed_sockets,
    logs,
    main,
    reloading,
)
from entrypoints.announcement import announce
from entrypoints.database import Keeper
from entrypoints.heartbeats import beat
from entrypoints.installation import Installation
from entrypoints.listeners import Listeners, reserved
from entrypoints.process_memory import return_free_memory
from entrypoints.refusals import CannotStart
from entrypoints.server import CONNECTIONS_MAX, Server, connections_max
from entrypoints.settings import Settings
from entrypoints.signals import reload_signals, server_stop_signals
from entrypoints.upstream_settings import added_to
from entrypoints.version import version
from entrypoints.web.serving.application import Application
from entrypoints.web.serving.paths import paths_of
from entrypoints.web.serving.routes import Route
from entrypoints.workers import RETIRE, Generation, supervise_workers
from entrypoints.workers_memory import WorkersMemory

# The routes of each listening socket, and what imports all of them where the pages wait for their first request.
_Served: TypeAlias = "list[tuple[tuple[Route, ...], Callable[[], Sequence[Route]] | None]]"


# The time a worker has for stopping besides that for requests in flight: for its actors and connections.
WORKER_STOP_SECONDS_MAX: Final = 20.0
# The threshold of the garbage collector. A request allocates some hundreds of objects, so the default, 700, would
# interrupt every other request.
NEW_OBJECTS_MAX: Final = 10_000
FEW_OPEN_FILES_ADVICE: Final = (
    "Raise the limit on open files to 65536: LimitNOFILE= under systemd, --ulimit nofile= for a container, ulimit -n"
    " in a shell."
)
NEWER_SCHEMA_ADVICE: Final = (
    "A newer Gatehouse has migrated the database, and its schema says that this version works with it. Replace this"
    " process by the newer version when it suits."
)

log = structlog.get_logger(__name__)


class StoppedAtOnce(CannotStart):
    """A second stop signal arrived before the orderly stop was complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """What a serving process is to its parent: its number, and how it reports; None and nothing for a process alone."""

    worker: int | None
    # None when the parent does not wait for this worker.
    report_ready: Callable[[], None] | None
    heartbeat: int | None
    memory: WorkersMemory | None
    # Whether the server has announced itself before.
    is_of_reload: bool

    @property
    def signals(self) -> frozenset[signal.Signals]:
        """The signals that its event loop receives."""
        return server_stop_signals() | (reload_signals() if self.worker is None else frozenset((RETIRE,)))


def serve(settings: Settings, *, workers: int) -> int:
    """Serve until a stop signal; return the exit status."""
    logs.configure(log_format=settings.log_format, log_level=settings.log_level, is_brief=settings.dev)
    _allow_many_files(settings)
    with database.serving_lock(settings), reserved(settings) as listeners:
        equipment.require_settings(settings)
        served = _served(settings, is_alone=workers == 1)
        with database.address_and_keeper_of(settings) as (address, keeper):
            _prepare(settings, address)
            start = _Start(settings=settings, served=served, address=address, keeper=keeper, listeners=listeners)
            status = _serve_with(workers, start)
    if listeners.kept:
        # Everything else has ended in order. New connections wait in the queues of these sockets. Python's cleanup,
        # which writes the rest of the log, does not run.
        logs.finish()
        handed_sockets.begin_anew(listeners.kept)
    log.info("server.stopped")
    return status


@dataclass(slots=True)
class _Ending:
    """How this process ends: once it stops, and whether another one, or itself anew, takes the requests."""

    stopping: trio.Event = field(default_factory=trio.Event)
    is_succeeded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """What all processes of a server have: its settings, its routes, its database and its sockets."""

    settings: Settings
    served: _Served
    address: Secret
    keeper: Keeper | None
    listeners: Listeners
    # Before a reload.
    address_before: Secret | None = None

    def again(self, settings: Settings) -> _Start:
        """Return the start by other settings."""
        again = replace(
            self,
            settings=settings,
            served=_served(settings, is_alone=False),
            address=database.address_again(settings, self.address),
            address_before=self.address,
        )
        again.prepare_routes()
        return again

    def prepare_routes(self) -> None:
        """Compute once what all workers need of the routes."""
        for routes, _ in self.served:
            paths_of(routes)


def _serve_with(workers: int, start: _Start) -> int:
    # Once for all workers, which share what exists before them.
    version()
    start.prepare_routes()
    if workers == 1:
        _work(start, Process(worker=None, report_ready=lambda: None, heartbeat=None, memory=None, is_of_reload=False))
        return 0
    memory = WorkersMemory(workers)

    def reload() -> Generation | None:
        nonlocal start
        settings = reloading.read_again(start.settings)
        if settings is None:
            return None
        start = start.again(settings)
        return _generation(start, memory, is_of_reload=True)

    return supervise_workers(
        workers,
        _generation(start, memory, is_of_reload=False),
        listener=start.listeners.public.listener,
        memory=memory,
        reload=reload,
        attend=start.keeper.attend if start.keeper is not None else None,
    )


def _generation(start: _Start, memory: WorkersMemory, *, is_of_reload: bool) -> Generation:
    def work(worker: int, report_ready: Callable[[], None] | None, heartbeat: int) -> int:
        process = Process(
            worker=worker, report_ready=report_ready, heartbeat=heartbeat, memory=memory, is_of_reload=is_of_reload
        )
        return exits.exit_status_of(partial(_work, start, process))

    settings = start.settings
    return Generation(
        work=work, stop_seconds_max=settings.drain_seconds + settings.shutdown_seconds + WORKER_STOP_SECONDS_MAX
    )


def _work(start: _Start, process: Process) -> None:
    # From here on, signals are pending until the event loop receives them.
    signal.pthread_sigmask(signal.SIG_BLOCK, process.signals)
    if process.is_of_reload:
        logs.configure(
            log_format=start.settings.log_format, log_level=start.settings.log_level, is_brief=start.settings.dev
        )
        # Its settings may name another database, and the workers before it go on meanwhile.
        if start.address_before is not None:
            database.require_same(start.address, start.address_before)
        database.require_schema(start.address)
    if process.worker is None:
        for number in reload_signals():
            # By default, one that comes behind the event loop would end this process, with its database. It is not
            # set to be ignored, because the next server would find it so.
            signal.signal(number, _outlive)
    logs.allow_thread()
    trio.run(_serve, start, process)


def _outlive(_number: int, _frame: object) -> None:
    return


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


async def _serve(start: _Start, process: Process) -> None:
    ending = _Ending()
    settings, listeners, keeper = start.settings, start.listeners, start.keeper
    is_alone = process.worker is None
    with trio.open_signal_receiver(*process.signals) as signals:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, process.signals)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(_end_on_signal, signals, ending, start, is_alone=is_alone))
            if keeper is not None and is_alone:
                # With several workers, the parent attends to it.
                nursery.start_soon(database.keep_running, keeper)
            count_restarts = None if keeper is None else lambda: keeper.restarts
            async with main.connected(
                settings,
                start.address,
                worker=process.worker,
                memory=process.memory,
                count_database_restarts=count_restarts,
                clock=clocks.clock_of(process.memory.time, process.worker) if process.memory is not None else None,
            ) as connected:
                await connected.load_secrets()
                owner = await first_owner.ensure(connected.installation)
                if settings.dev:
                    await _make_log_months(connected.installation)
                connected.start_actors()
                servers = _servers(connected.installation, start, ending)
                _tune_garbage_collector()
                listeners.listen(settings)
                if connected.installation.connection_count is not None:
                    # From here on, the others leave it its part of the connections.
                    connected.installation.connection_count.begin()
                if process.heartbeat is not None:
                    nursery.start_soon(beat, process.heartbeat)
                if process.report_ready is None or process.is_of_reload:
                    log.info("worker.ready", worker=process.worker)
                else:
                    announce(settings, listeners, owner)
                if process.report_ready is not None:
                    process.report_ready()
                async with trio.open_nursery() as serving:
                    for server in servers:
                        serving.start_soon(server.serve, ending.stopping)
            nursery.cancel_scope.cancel()
        # One that comes from here on waits for the server that this process begins anew, also while that is executed.
        signal.pthread_sigmask(signal.SIG_BLOCK, reload_signals())


def _servers(installation: Installation, start: _Start, ending: _Ending) -> list[Server]:
    """Return the server for everyone, and the one for the operator, if it has an address of its own."""
    seconds = float(start.settings.shutdown_seconds), float(start.settings.drain_seconds)
    return [
        Server(
            _application(installation, *routes),
            one.listener,
            *seconds,
            return_memory=return_free_memory,
            count=installation.connection_count if name == "public" else None,
            is_kept=one.is_kept,
            is_succeeded=lambda: ending.is_succeeded,
        )
        for routes, (name, one) in zip(start.served, start.listeners.all.items(), strict=True)
    ]


def _served(settings: Settings, *, is_alone: bool) -> _Served:
    """Return the routes of each listening socket: of the public one, and of the operator's.

    Workers share the memory of what is imported before them. A process alone imports the pages for their first request.
    """
    added = added_to(settings)
    if is_alone and not added:
        routes = [route for capability in capabilities.for_programs() for route in capability.routes]
        import_all = partial(_import_all, settings)
    else:
        routes, import_all = _all_routes(settings), None
    if settings.metrics_bind is None:
        return [(tuple(routes), import_all)]
    internal = tuple(filter(capabilities.is_internal, routes))
    return [(tuple(route for route in routes if route not in internal), import_all), (internal, None)]


def _all_routes(settings: Settings) -> list[Route]:
    return capabilities.routes(
        is_development=settings.dev, has_billing_provider=settings.has_billing_provider, added=added_to(settings)
    )


def _import_all(settings: Settings) -> list[Route]:
    """Import the pages while requests are served, and return the routes for everyone."""
    gc.disable()
    try:
        routes = _all_routes(settings)
    finally:
        gc.freeze()
        gc.enable()
    return [route for route in routes if settings.metrics_bind is None or not capabilities.is_internal(route)]


def _application(
    installation: Installation, routes: Sequence[Route], import_all: Callable[[], Sequence[Route]] | None
) -> Application:
    if installation.tracer is None:
        return Application(installation, routes, import_all=import_all)
    # Imported here, because without traces it is not needed.
    from entrypoints.web.serving.traced import TracedApplication  # noqa: PLC0415

    return TracedApplication(installation, routes, tracer=installation.tracer, import_all=import_all)


def _tune_garbage_collector() -> None:
    """Exclude the objects that live as long as the process from garbage collection.

    Scanning everything each time took a tenth of the processor, and delayed all requests by up to 0.2 s.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS_MAX, *gc.get_threshold()[1:])
    gc.enable()


async def _end_on_signal(signals: AsyncIterator[int], ending: _Ending, start: _Start, *, is_alone: bool) -> None:
    async for number in signals:
        if number in reload_signals():
            await _begin_anew(ending, start)
        elif not ending.stopping.is_set():
            ending.is_succeeded = number == RETIRE
            if is_alone:
                log.info("server.stopping", signal=signal.Signals(number).name)
            ending.stopping.set()
        elif start.listeners.kept:
            log.info("server.stopping", signal=signal.Signals(number).name)
            # It was to begin anew.
            start.listeners.kept.clear()
        elif is_alone:
            # If this is too slow as well, a third signal ends the process through the kernel.
            for stop in server_stop_signals():
                signal.signal(stop, signal.SIG_DFL)
            raise StoppedAtOnce("Stopped at once after a second signal. Requests in flight were aborted.")


async def _begin_anew(ending: _Ending, start: _Start) -> None:
    """Let a process alone stop and begin again, if its settings are right."""
    if ending.stopping.is_set():
        return
    # On a thread, because it reads files.
    if await trio.to_thread.run_sync(reloading.read_again, start.settings, limiter=trio.CapacityLimiter(1)) is None:
        return
    log.info("server.reloading", workers=1)
    start.listeners.keep()
    ending.is_succeeded = True
    ending.stopping.set()


async def _make_log_months(installation: Installation) -> None:
    """Make the months of logs, so that their actor says nothing of a new database behind the address."""
    for one in Log:
        # Another transaction holds the log: the actor makes its months.
        with suppress(ServiceUnavailable):
            while await installation.database.transact(log_months.make_next, one) is not None:
                pass


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

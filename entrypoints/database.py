"""The database that the settings name: its address, waiting for it, and its schema.

An embedded database runs as long as it is needed. `main.py` connects the port `Database` to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final
from uuid import UUID

import psycopg
import trio

from adapters.postgres.backup import runs
from adapters.postgres.driver import server_facts, servers, timed_connection, write_failures
from adapters.postgres.driver.connection import Connection
from adapters.postgres.driver.server_facts import ServerFacts
from adapters.postgres.embedded import folder as embedded_folder
from adapters.postgres.embedded.fresh_states import FreshStates, disable_durability
from adapters.postgres.embedded.keeper import PERIOD_SECONDS as KEEPER_PERIOD_SECONDS
from adapters.postgres.embedded.keeper import Keeper
from adapters.postgres.embedded.server import EmbeddedPostgres
from adapters.postgres.replicas import ReplicaReport, Replicas, report_of
from adapters.postgres.schema import canonical_addresses, distribution, migration_files, migrations
from adapters.postgres.sign_in.upstream.connections import connections as upstream_connections
from core.platform.backups import RecoveryRun
from core.secrets import Secret
from entrypoints.refusals import CannotStart
from entrypoints.settings import Settings
from ports.metrics import ReplicaMetrics

if TYPE_CHECKING:
    from adapters.postgres.schema.migration_steps import Step

__all__ = ["FreshStates", "ReplicaReport", "newest_schema"]


WAIT_SECONDS_MAX: Final = 30.0
POLL_SECONDS: Final = 0.5


def serving_lock(settings: Settings) -> embedded_folder.ServingLock:
    """Return the lock that keeps a second server out of the same data folder."""
    return embedded_folder.ServingLock(settings.data_dir)


def make_data_folder(folder: Path) -> None:
    """Make the folder of the embedded database and the generated secrets, readable by its owner alone."""
    embedded_folder.make_data_folder(folder)


@contextmanager
def address_of(settings: Settings) -> Generator[Secret]:
    """Yield the address of the database; an embedded database runs until the context ends."""
    with address_and_keeper_of(settings) as (address, _):
        yield address


@contextmanager
def address_and_keeper_of(settings: Settings) -> Generator[tuple[Secret, Keeper | None]]:
    """Yield the address too, and what starts an embedded database again when it dies; None for any other one."""
    if settings.database_url is not None:
        yield Secret(servers.to_writable_server(settings.database_url.reveal())), None
        return
    postgres = EmbeddedPostgres(settings.data_dir)
    with postgres as address:
        yield Secret(address), Keeper(postgres)


def address_again(settings: Settings, present: Secret) -> Secret:
    """Return the address of the database by settings that were read again; that of an embedded one does not change."""
    if settings.database_url is None:
        return present
    return Secret(servers.to_writable_server(settings.database_url.reveal()))


def require_same(address: Secret, other: Secret) -> None:
    """Raise `CannotStart` when two addresses lead to different databases, as far as both of them answer."""
    if address == other:
        return
    # The previous one may be gone, or no longer accept its password.
    with suppress(psycopg.Error, OSError):
        if timed_connection.difference(address.reveal(), other.reveal()) is not None:
            raise CannotStart(
                "GATEHOUSE_DATABASE_URL leads to another database than before, which the other workers still write to."
                " Stop the server, and start it again."
            )


@contextmanager
def throwaway(folder: Path, report: Callable[[str], None]) -> Generator[tuple[Secret, FreshStates]]:
    """Yield the address of an up-to-date embedded database that may be lost, and what gives it its first state."""
    postgres = EmbeddedPostgres(folder)
    with postgres as address:
        disable_durability(postgres.superuser_address())
        migrate(Secret(address), report)
        with closing(FreshStates(postgres.superuser_address())) as states:
            yield Secret(address), states


def listening_address(settings: Settings, address: Secret) -> Secret:
    """Return the address for what needs a session, such as waiting for notifications, given that of the database."""
    if settings.database_url is None or settings.database_listen_url is None:
        return address
    return Secret(servers.to_writable_server(settings.database_listen_url.reveal()))


def listening_problem(settings: Settings, address: Secret) -> str | None:
    """Return why notifications cannot be waited for at the address that is set for it; None when they can, or none is.

    An address of another database would hide what is due in this one.
    """
    listening = listening_address(settings, address).reveal()
    if listening == address.reveal():
        return None
    problem = timed_connection.problem_of(listening, needs_session=True)
    return problem or timed_connection.difference(listening, address.reveal())


def replicas_of(
    settings: Settings, metrics: ReplicaMetrics, *, connection: Callable[..., Connection] = Connection
) -> Replicas | None:
    """Return the replicas that the settings name; None when they name none, or the embedded database is used."""
    if settings.is_embedded or settings.database_read_urls is None:
        return None
    urls = settings.database_read_urls.reveal().split()
    return Replicas(urls, connections_max=settings.database_connections, metrics=metrics, connection=connection)


def replica_reports(settings: Settings, address: Secret) -> list[ReplicaReport]:
    """Return what is found out about each replica that the settings name."""
    if settings.is_embedded or settings.database_read_urls is None:
        return []
    with migrations.connected(address.reveal()) as connection:
        return [report_of(url, connection) for url in settings.database_read_urls.reveal().split()]


async def keep_running(keeper: Keeper) -> None:
    """Start an embedded database again whenever it dies, until cancelled; raise when that keeps failing."""
    thread = trio.CapacityLimiter(1)
    while True:
        # A start that has begun is not interrupted by a stop signal: what it started has to be stopped as well.
        await trio.to_thread.run_sync(keeper.attend, limiter=thread)
        await trio.sleep(KEEPER_PERIOD_SECONDS)


def wait_for(address: Secret, report: Callable[[str], None]) -> None:
    """Wait for a database that is still starting; raise `DatabaseAway` after `WAIT_SECONDS_MAX`."""
    give_up_at = time.monotonic() + WAIT_SECONDS_MAX
    has_reported = False
    while True:
        try:
            with migrations.connected(address.reveal()):
                return
        except migrations.DatabaseUnreachable as away:
            if time.monotonic() >= give_up_at:
                raise
            if not has_reported:
                report(f"{away} Trying again for {WAIT_SECONDS_MAX:.0f} s.")
            has_reported = True
        time.sleep(POLL_SECONDS)


def session_address(settings: Settings, address: Secret) -> Secret:
    """Return the address for migrations and re-encryption: behind a pooler that shares sessions another one.

    Raise `CannotStart` when the server can be reached and Gatehouse cannot work with it.
    """
    if settings.is_embedded:
        # Nothing stands between.
        return address
    listening = listening_address(settings, address)
    if problem := timed_connection.problem_of(address.reveal(), needs_session=listening.reveal() == address.reveal()):
        raise CannotStart(f"The database cannot be used: {problem}.")
    if not timed_connection.is_pooled(address.reveal()):
        return address
    if problem := listening_problem(settings, address):
        raise CannotStart(f"The address GATEHOUSE_DATABASE_LISTEN_URL cannot be used: {problem}.")
    return listening


def facts_of_server(address: Secret) -> ServerFacts:
    """Return what the server says of the connection, of our role, and of its limits."""
    with migrations.connected(address.reveal()) as connection:
        return server_facts.of(connection)


def writing_problem(address: Secret) -> str | None:
    """Return why the server does not write, if its disk is the reason; None when it writes."""
    with migrations.connected(address.reveal()) as connection:
        return write_failures.problem_of_writing(connection)


def migrate(address: Secret, report: Callable[[str], None]) -> list[migrations.Migration]:
    """Bring the schema up to date, and stored addresses into their canonical form; return the applied migrations."""
    with migrations.connected(address.reveal()) as connection:
        applied = migrations.migrate(connection, report)
        canonical_addresses.convert(connection, report)
        return applied


def accounts_without_canonical_address(address: Secret) -> list[UUID]:
    """Return the ids of the accounts whose address is not in its canonical form."""
    with migrations.connected(address.reveal()) as connection:
        return [one.id for one in canonical_addresses.not_canonical(connection)]


def connections_with_changed_issuer(address: Secret) -> list[UUID]:
    """Return the ids of the connections whose issuer was changed while their client secret stayed."""
    with migrations.connected(address.reveal()) as connection:
        return upstream_connections.with_changed_issuer(connection)


def migration_plan(address: Secret) -> migrations.MigrationPlan:
    """Return the applied and the pending migrations."""
    with migrations.connected(address.reveal()) as connection:
        return migrations.plan(connection)


def migration_steps(address: Secret) -> list[Step]:
    """Return what the pending migrations would do to this database; it is only read."""
    # Imported here, because no start asks for it.
    from adapters.postgres.schema.migration_steps import steps  # noqa: PLC0415

    with migrations.connected(address.reveal()) as connection:
        return steps(connection, migrations.plan(connection))


def undistributed_logs(address: Secret) -> Sequence[str]:
    """Return the logs that `migrate` would distribute over the workers of a cluster."""
    with migrations.connected(address.reveal()) as connection:
        return distribution.undistributed(connection)


def record_run(address: Secret, run: RecoveryRun, *, at: datetime) -> str | None:
    """Keep when a backup was made or tried; return why that could not be done, None when it was."""
    with migrations.connected(address.reveal()) as connection:
        return runs.record(connection, run, at=at)


def newest_schema() -> int:
    """Return the number of the last migration that this version knows."""
    return migration_files.newest_version()


def require_schema(address: Secret) -> None:
    """Raise `CannotStart` unless the schema is up to date."""
    pending = migration_plan(address).pending
    if pending:
        raise CannotStart(
            f"The database's schema lacks {len(pending)} of the migrations of this version. Run `gatehouse migrate`;"
            " `gatehouse migrate --plan` lists them."
        )

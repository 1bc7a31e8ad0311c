"""An embedded PostgreSQL: the first process that needs it starts it, others join, and the last one stops it.

`cluster.py` creates the cluster, `programs.py` runs the programs as the right account, `folder.py` has the locks, and
`keeper.py` starts PostgreSQL again when it has died, and ops/decisions/0003-embedded-postgresql.md has the reasons.
Everything here blocks, so it is called before and after the event loop, or on a thread.

Three locks in the data folder, none of which can be stale:

- `postgres.turn.lock`: held by the one process that starts or stops PostgreSQL at this moment.
- `postgres.users.lock`: shared by every process that uses PostgreSQL, so a process that gets it alone is the last one.
- `postgres.alive.lock`: inherited by PostgreSQL's processes, which hold it for as long as they exist.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from adapters.postgres.embedded.cluster import PORT, SUPERUSER, Cluster
from adapters.postgres.embedded.folder import (
    POLL_SECONDS,
    FileLock,
    make_data_folder,
    poll_until,
    raising_data_folder_errors,
)
from adapters.postgres.embedded.programs import (
    PROGRAM_SECONDS_MAX,
    EmbeddedPostgresError,
    account_for,
    failure,
    programs_for,
    rotate,
)

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError"]

ROLE = "gatehouse"
DATABASE = "gatehouse"
# Recovery after a crash reads at most max_wal_size of our settings, which takes a few seconds.
START_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 60.0
STOP_AGAIN_SECONDS = 0.5
# Longer than any statement of Gatehouse runs, after which a process notices that the main process has ended.
LEFT_OVER_SECONDS_MAX = 10.0
# As long as another process may take to create a cluster, start it and, if that fails, stop it.
TURN_SECONDS_MAX = PROGRAM_SECONDS_MAX + START_SECONDS_MAX + STOP_SECONDS_MAX
# The shortest timeout that every libpq accepts.
PING_SECONDS_MAX = 2
CONNECT_SECONDS_MAX = 10


class EmbeddedPostgres:
    """The PostgreSQL of one data folder, which several processes may use."""

    def __init__(self, data_folder: Path) -> None:
        self._folder = data_folder.resolve()
        self._cluster = Cluster(self._folder)
        self._turn = FileLock(self._folder / "postgres.turn.lock")
        self._use = FileLock(self._folder / "postgres.users.lock")
        self._alive = FileLock(self._folder / "postgres.alive.lock")

    def start(self) -> str:
        """Ensure that PostgreSQL runs and has our database, register this process as a user, and return the address.

        Calling it again is allowed, and restarts a PostgreSQL that died. After an error this process is not a user.
        """
        if sys.platform != "linux":
            raise EmbeddedPostgresError(
                "The embedded PostgreSQL runs on Linux only. Name another PostgreSQL with GATEHOUSE_DATABASE_URL."
            )
        with raising_data_folder_errors(self._folder):
            make_data_folder(self._folder)
            with self._starting_or_stopping():
                return self._join()

    @property
    def log(self) -> Path:
        """The file to which PostgreSQL writes."""
        return self._cluster.log

    def superuser_address(self) -> str:
        """Return the address for a superuser of a PostgreSQL that was started, for throw-away databases alone."""
        socket_folder = self._answering_socket_folder()
        assert socket_folder is not None, "PostgreSQL has not been started"
        return self._address(socket_folder, role=SUPERUSER)

    def has_died(self) -> bool:
        """Return whether PostgreSQL has ended; some of its processes may still be ending."""
        # One that another container started is not visible, but answers.
        return not self._cluster.has_postmaster() and self._answering_socket_folder() is None

    def start_again(self) -> None:
        """Start a PostgreSQL that has died; raise `DataFolderError` when that fails, and when its files are gone."""
        with raising_data_folder_errors(self._folder):
            if not self._cluster.folder.exists():
                # Creating another cluster here would look as if all data were lost.
                raise EmbeddedPostgresError(f"{self._cluster.folder} is gone. Mount it, or restore it from the backup.")
            with self._starting_or_stopping():
                # Without their main process the others end by themselves, unless one of them is stuck.
                if self.has_died() and not poll_until(self._is_dead, LEFT_OVER_SECONDS_MAX):
                    self._cluster.kill_processes()
        self.start()

    def release(self) -> None:
        """Stop using PostgreSQL, and stop it unless another process uses it."""
        if self._use.is_held:
            with raising_data_folder_errors(self._folder), self._starting_or_stopping():
                self._leave()

    def __enter__(self) -> str:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.release()

    @contextmanager
    def _starting_or_stopping(self) -> Generator[None]:
        if not self._turn.acquire(seconds_max=TURN_SECONDS_MAX):
            raise EmbeddedPostgresError(
                f"Another process has been starting or stopping PostgreSQL in {self._folder} for more than "
                f"{TURN_SECONDS_MAX:.0f} s. Check in {self._cluster.log} what it waits for, or end it."
            )
        with self._turn:
            yield

    def _join(self) -> str:
        if not self._use.is_held:
            self._use.acquire(shared=True)
        try:
            socket_folder = self._bring_up()
            self._ensure_database(socket_folder)
            return self._address(socket_folder)
        except BaseException:
            # Also on Ctrl-C: a process that never got the address must not count as a user.
            self._leave()
            raise

    def _bring_up(self) -> str:
        """Wait until PostgreSQL accepts connections, start it if no process did, and return the socket folder."""
        deadline = time.monotonic() + START_SECONDS_MAX
        is_launched = False
        while (socket_folder := self._answering_socket_folder()) is None:
            if self._claim():
                with self._alive:
                    if is_launched:
                        raise failure("PostgreSQL ended immediately after its start.", self._cluster.log)
                    self._launch()
                    is_launched = True
                    # The first start creates the cluster, which has a time limit of its own.
                    deadline = time.monotonic() + START_SECONDS_MAX
            elif time.monotonic() > deadline:
                raise failure(f"PostgreSQL was not ready within {START_SECONDS_MAX:.0f} s.", self._cluster.log)
            else:
                time.sleep(POLL_SECONDS)
        return socket_folder

    def _launch(self) -> None:
        """Create the cluster if there is none, and start PostgreSQL without waiting for it."""
        cluster = self._cluster
        rotate(cluster.log)
        account = account_for(cluster.folder)
        if not cluster.folder.exists():
            cluster.create(account, inherited=[self._alive.descriptor])
        socket_folder = cluster.prepare_launch(account)
        programs = programs_for(account, cluster.folder, socket_folder, log=cluster.log)
        # pg_ctl makes the server independent: it outlives this process, and no signal of our terminal reaches it.
        arguments = ("--silent", "--no-wait", f"--pgdata={cluster.folder}")
        if not programs.run("pg_ctl", "start", *arguments, inherited=[self._alive.descriptor]):
            raise failure("PostgreSQL could not be started.", cluster.log)

    def _leave(self) -> None:
        """Stop using PostgreSQL, and stop it when no process uses it any more."""
        self._use.release()
        if self._use.acquire():
            with self._use:
                self._stop()

    def _stop(self) -> None:
        cluster = self._cluster
        give_up_at = time.monotonic() + STOP_SECONDS_MAX
        while not self._is_dead():
            if time.monotonic() > give_up_at:
                raise failure(f"PostgreSQL did not stop within {STOP_SECONDS_MAX:.0f} s.", cluster.log)
            # An unfinished cluster has no server: the running process is initdb, which was interrupted and is ending.
            if cluster.folder.exists():
                programs = programs_for(account_for(cluster.folder), cluster.folder, log=cluster.log)
                # Its result does not matter: a server that has just died is stopped as well, and one that has only just
                # started cannot be stopped yet, so this is repeated.
                programs.run("pg_ctl", "stop", "--mode=fast", "--silent", "--no-wait", f"--pgdata={cluster.folder}")
            poll_until(self._is_dead, STOP_AGAIN_SECONDS)
        cluster.remove_socket_folder()

    def _claim(self) -> bool:
        """Take the alive lock if it is free: then no process of PostgreSQL exists, and this one may start it."""
        if not self._alive.acquire():
            return False
        if self._cluster.has_postmaster():
            # It was started by hand, without the lock.
            self._alive.release()
            return False
        return True

    def _is_dead(self) -> bool:
        with self._alive:
            return self._claim()

    def _answering_socket_folder(self) -> str | None:
        socket_folder = self._cluster.socket_folder_in_use()
        if socket_folder is None:
            return None
        target = make_conninfo(host=socket_folder, port=PORT, user=ROLE, connect_timeout=PING_SECONDS_MAX)
        return socket_folder if PGconn.ping(target.encode()) == Ping.OK else None

    def _ensure_database(self, socket_folder: str) -> None:
        """Create Gatehouse's role and database if they are missing."""
        try:
            connection = psycopg.connect(
                host=socket_folder,
                port=PORT,
                user=SUPERUSER,
                password=self._cluster.password(),
                dbname="postgres",
                connect_timeout=CONNECT_SECONDS_MAX,
                autocommit=True,
            )
        except psycopg.OperationalError as error:
            raise EmbeddedPostgresError(
                f"PostgreSQL in {self._folder} runs, but refused the connection: {error}. "
                f"{self._cluster.password_file} must be the one that was created together with it."
            ) from error
        try:
            with connection:
                self._create_missing(connection)
        except psycopg.Error as error:
            raise failure(f"PostgreSQL in {self._folder} ended, or refused: {error}.", self._cluster.log) from error

    def _create_missing(self, connection: psycopg.Connection) -> None:
        if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,)).fetchone() is None:
            # Not a superuser, so that no statement can read files or run programs. It may create databases, because
            # tests do.
            create = sql.SQL("CREATE ROLE {} LOGIN CREATEDB PASSWORD {}")
            connection.execute(create.format(sql.Identifier(ROLE), sql.Literal(self._cluster.password())))
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)).fetchone() is None:
            create = sql.SQL("CREATE DATABASE {} OWNER {}")
            connection.execute(create.format(sql.Identifier(DATABASE), sql.Identifier(ROLE)))

    def _address(self, socket_folder: str, *, role: str = ROLE) -> str:
        host = quote(socket_folder, safe="")
        return f"postgresql://{role}:{self._cluster.password()}@/{DATABASE}?host={host}&port={PORT}"

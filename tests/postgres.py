"""A PostgreSQL for the tests: one cluster for the whole run, one fresh database for each test that asks."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from adapters.postgres import migrations
from adapters.postgres.embedded import EmbeddedPostgres
from adapters.postgres.embedded_cluster import SUPERUSER

if TYPE_CHECKING:
    from collections.abc import Generator


# A folder in memory, where there is one with room for a cluster and some databases: a copy of a database takes 10 ms
# there, and up to ten times as long on a disk that others use as well.
MEMORY_FOLDER = Path("/dev/shm")  # noqa: S108 - a folder with a name of its own is made in it
MEMORY_BYTES_MIN = 2**30
# PostgreSQL looks ten times a second whether a database that it drops is free; we look more often, and only so long.
LEAVING_SECONDS_MAX = 0.1
LEAVING_POLL_SECONDS = 0.001


@contextmanager
def data_folder() -> Generator[Path]:
    """Lend an empty folder for a cluster."""
    has_room = MEMORY_FOLDER.is_dir() and shutil.disk_usage(MEMORY_FOLDER).free > MEMORY_BYTES_MIN
    with tempfile.TemporaryDirectory(prefix="gatehouse-tests-", dir=MEMORY_FOLDER if has_room else None) as folder:
        yield Path(folder)


@contextmanager
def running_postgres() -> Generator[str]:
    """Run an embedded PostgreSQL that would not survive a power cut, which is what makes it quick."""
    with data_folder() as folder, EmbeddedPostgres(folder) as url:
        with psycopg.connect(make_conninfo(url, user=SUPERUSER), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("ALTER SYSTEM SET synchronous_commit = off")
            connection.execute("ALTER SYSTEM SET full_page_writes = off")
            connection.execute("ALTER SYSTEM SET deadlock_timeout = '20ms'")
            connection.execute("SELECT pg_reload_conf()")
        yield url


class Databases:
    """Makes databases on a server, most of them as copies of one that was migrated once."""

    def __init__(self, server_url: str) -> None:
        self._server_url = server_url
        self._admin = psycopg.connect(server_url, autocommit=True)
        # Several test runs may share a server that was given to them.
        self._prefix = f"gatehouse_test_{os.getpid()}"
        self._template = f"{self._prefix}_template"
        self._has_template = False
        self._numbers = count(1)

    @contextmanager
    def migrated(self) -> Generator[str]:
        """Lend a fresh database with today's schema."""
        if not self._has_template:
            with migrations.connected(self._create(self._template, "template0")) as connection:
                migrations.migrate(connection, lambda _: None)
            self._has_template = True
        with self._lent(self._template) as url:
            yield url

    @contextmanager
    def empty(self) -> Generator[str]:
        """Lend a fresh database without a schema."""
        with self._lent("template0") as url:
            yield url

    def close(self) -> None:
        """Leave nothing behind."""
        if self._has_template:
            self._drop(self._template)
        self._admin.close()

    @contextmanager
    def _lent(self, template: str) -> Generator[str]:
        name = f"{self._prefix}_{next(self._numbers)}"
        url = self._create(name, template)
        try:
            yield url
        finally:
            self._drop(name)

    def _create(self, name: str, template: str) -> str:
        self._admin.execute(SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(template)))
        return make_conninfo(self._server_url, dbname=name)

    def _drop(self, name: str) -> None:
        deadline = time.monotonic() + LEAVING_SECONDS_MAX
        while self._is_in_use(name) and time.monotonic() < deadline:
            time.sleep(LEAVING_POLL_SECONDS)
        self._admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))

    def _is_in_use(self, name: str) -> bool:
        users = self._admin.execute("SELECT 1 FROM pg_stat_activity WHERE datname = %s LIMIT 1", (name,))
        return users.fetchone() is not None

"""Databases on a cluster with Citus for the tests: each is one of that name on every node.

A migrated one is a copy, as on a single server: what Citus knows of nodes and shards stands in the database, so a copy
on every node is another cluster with the same shards.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.sql import SQL, Identifier

from adapters.postgres.embedded.cluster import SUPERUSER
from adapters.postgres.embedded.server import ROLE
from adapters.postgres.schema import migrations
from tests.citus import Cluster, Node, administrator
from tests.postgres import Databases


class CitusDatabases(Databases):
    """Makes databases on a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster.coordinator.url())
        self.cluster = cluster
        self._threads = ThreadPoolExecutor(len(cluster.nodes))

    def close(self) -> None:
        super().close()
        self._threads.shutdown()

    def nodes_of(self, url: str) -> list[str]:
        """Return the addresses of a database on the coordinator and on the workers, for the superuser."""
        return [node.url(_name_of(url), role=SUPERUSER) for node in self.cluster.nodes]

    @contextmanager
    def without_workers(self) -> Generator[str]:
        """Yield the URL of a new migrated database on a coordinator that knows no workers."""
        with self.empty() as url:
            _migrate(url)
            yield url

    def connect_workers(self, url: str) -> None:
        """Make the workers known to the database of the coordinator."""
        self.cluster.connect_nodes(_name_of(url))

    def _make_template(self, name: str) -> None:
        url = self._create(name, "template0")
        self.connect_workers(url)
        _migrate(url)
        self._on_every_node(lambda node: _close_to_others(node, name))

    def _create(self, name: str, template: str) -> str:
        def create(node: Node) -> None:
            with administrator(node) as connection:
                connection.execute(
                    SQL("CREATE DATABASE {} TEMPLATE {} OWNER {} STRATEGY file_copy").format(
                        Identifier(name), Identifier(template), Identifier(ROLE)
                    )
                )

        self._on_every_node(create)
        if template == "template0":
            self.cluster.add_extension(name)
        return make_conninfo(self._server_url, dbname=name)

    def _drop(self, name: str) -> None:
        def drop(node: Node) -> None:
            # The process with which Citus looks after the database may not end at once on a busy machine.
            _close_to_others(node, name)
            with administrator(node) as connection:
                connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))

        self._on_every_node(drop)

    def _on_every_node(self, work: Callable[[Node], None]) -> None:
        for _ in self._threads.map(work, self.cluster.nodes):
            pass


def _migrate(url: str) -> None:
    with migrations.connected(url) as connection:
        migrations.migrate(connection, lambda _: None)


def _name_of(url: str) -> str:
    return str(conninfo_to_dict(url)["dbname"])


def _close_to_others(node: Node, name: str) -> None:
    """Let no process use a database any more, such as the one with which Citus looks after each; a copy needs that."""
    with administrator(node) as connection:
        connection.execute(SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(Identifier(name)))
        connection.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", (name,))

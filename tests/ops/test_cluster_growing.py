"""The page of the cluster, followed: a third worker is added, takes its part, is emptied, removed and added again."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from adapters.postgres.driver.connection import RawConnection
from adapters.postgres.schema import migrations
from tests.citus import Node, running_cluster
from tests.citus_databases import CitusDatabases
from tests.documents import MANUAL
from tests.waiting import wait_until

pytestmark = pytest.mark.long

PAGE: Final = MANUAL / "cluster.md"
ROWS: Final = 2_000
REBALANCED_SECONDS_MAX: Final = 240.0
# So often may a move be tried again; then the test fails with what the server says of it.
RETRIES: Final = 3


@pytest.fixture
def databases() -> Iterator[CitusDatabases]:
    """The maker of databases on a cluster with a worker to add, with the settings that the page names.

    The cluster drops nothing by itself that has moved away. It would do so some seconds later, and it would hang on the
    load whether the worker is removed before.
    """
    [settings] = blocks("What every node needs", "ini")
    logical = dict(re.findall(r"^(wal_level|output_plugin_libraries) = '?([^'\n]*)", settings, re.MULTILINE))
    assert len(logical) == 2
    with running_cluster(workers=3, citus__defer_shard_delete_interval="-1", **logical) as cluster:
        databases = CitusDatabases(cluster)
        yield databases
        databases.close()


def blocks(section: str, language: str) -> list[str]:
    """Return the code blocks in a language of a section."""
    [text] = re.findall(rf"^## {section}$(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return [
        textwrap.dedent(block) for block in re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


def run(connection: RawConnection, block: str, worker: Node, *, without: str | None = None) -> None:
    """Run the statements of a block, with the third worker where the page names it; not the one left out."""
    for statement in block.split(";"):
        if statement.strip() and statement.strip() != without:
            connection.execute(statement.replace("worker-3.internal", str(worker.folder)).encode())


def shards(connection: RawConnection) -> Mapping[str, int]:
    """Return how many shards of a log each node holds."""
    return dict(
        connection.execute(
            "SELECT nodename, count(*)::integer FROM citus_shards WHERE table_name = 'mails'::regclass GROUP BY 1"
        ).fetchall()
    )


def is_rebalanced(connection: RawConnection) -> bool:
    """Return whether the last rebalancing has ended; it must not have failed, nor a move again and again."""
    tried_again = connection.execute(
        "SELECT command, message FROM pg_dist_background_task WHERE retry_count >= %s", (RETRIES,)
    )
    assert tried_again.fetchall() == []
    row = connection.execute("SELECT state::text FROM citus_rebalance_status()").fetchone()
    assert row != ("failed",)
    return row == ("finished",)


def shard_on(connection: RawConnection, worker: Node) -> int:
    """Return the one shard of a log that a worker holds."""
    [[shard]] = connection.execute(
        "SELECT shardid FROM citus_shards WHERE table_name = 'mails'::regclass AND nodename = %s", (str(worker.folder),)
    ).fetchall()
    return int(shard)


def move(connection: RawConnection, shard: int, worker: Node) -> None:
    """Move a shard to a worker."""
    connection.execute(
        """
        SELECT citus_move_shard_placement(shardid, nodename, nodeport, %s, nodeport, 'block_writes')
        FROM   citus_shards
        WHERE  table_name = 'mails'::regclass AND shardid = %s
        """,
        (str(worker.folder), shard),
    )


@contextmanager
def cluster_of_two(databases: CitusDatabases) -> Generator[RawConnection]:
    """Connect to a database whose logs lie on two workers and hold rows."""
    with databases.without_workers() as url:
        databases.cluster.connect_nodes(str(conninfo_to_dict(url)["dbname"]), workers=2)
        with migrations.connected(url) as connection:
            migrations.migrate(connection, lambda _: None)
            connection.execute(
                """
                INSERT INTO mails (id, organization_id, recipient, template, state, attempts, due_at, created_at)
                SELECT gen_random_uuid(), gen_random_uuid(), 'a@example.com', 'welcome', 'sent', 1, now(), now()
                FROM   generate_series(1, %s)
                """,
                (ROWS,),
            )
        with psycopg.connect(databases.nodes_of(url)[0], autocommit=True) as connection:
            yield connection


def test_a_worker_is_added_gets_its_part_and_is_emptied_again(databases: CitusDatabases) -> None:
    third = databases.cluster.workers[2]
    [adding] = blocks("Adding a worker", "sql")
    rebalancing, emptying, _ = blocks("Rebalancing", "sql")
    [other_mode] = re.findall(r"`(citus_rebalance_start\(shard.*?\))`", PAGE.read_text())
    with cluster_of_two(databases) as connection:
        before = shards(connection)

        run(connection, adding, third)
        run(connection, rebalancing, third)
        wait_until(lambda: is_rebalanced(connection), seconds_max=REBALANCED_SECONDS_MAX)
        grown = shards(connection)
        run(connection, emptying, third)
        without = shards(connection)
        run(connection, adding, third)
        run(connection, f"SELECT {other_mode}", third)
        wait_until(lambda: is_rebalanced(connection), seconds_max=REBALANCED_SECONDS_MAX)

        assert sorted(before.values()) == [2, 2]
        assert (sorted(grown.values()), grown[str(third.folder)]) == ([1, 1, 2], 1)
        assert str(third.folder) not in without
        assert sorted(shards(connection).values()) == [1, 1, 2]
        assert connection.execute("SELECT count(*) FROM mails").fetchone() == (ROWS,)


def test_a_shard_can_go_back_to_a_worker_that_was_removed_before_its_copy_was_dropped(
    databases: CitusDatabases,
) -> None:
    third = databases.cluster.workers[2]
    [adding] = blocks("Adding a worker", "sql")
    rebalancing, emptying, forgetting = blocks("Rebalancing", "sql")
    with cluster_of_two(databases) as connection:
        run(connection, adding, third)
        run(connection, rebalancing, third)
        wait_until(lambda: is_rebalanced(connection), seconds_max=REBALANCED_SECONDS_MAX)
        shard = shard_on(connection, third)
        run(connection, emptying, third, without="CALL citus_cleanup_orphaned_resources()")
        run(connection, adding, third)
        with pytest.raises(psycopg.Error, match="could not be cleaned up"):
            move(connection, shard, third)

        run(connection, forgetting, third)
        move(connection, shard, third)

        assert shard_on(connection, third) == shard
        assert connection.execute("SELECT count(*) FROM mails").fetchone() == (ROWS,)

"""The nodes of a cluster: what each holds, and which of them are down, dead or hanging."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from adapters.postgres.driver.connection import Connection
from adapters.postgres.unit_of_work import PostgresUnitOfWork, Tools
from core.platform import system
from core.sessions.origins import BACKGROUND
from tests.citus_databases import CitusDatabases


@pytest.fixture
def of_cluster(citus_databases: CitusDatabases) -> Iterator[Connection]:
    """A connection to a database whose logs are distributed."""
    with citus_databases.migrated() as url, citus_databases.connection(url) as connection:
        yield connection


@pytest.fixture
def measured(of_cluster: Connection, tools: Tools) -> Callable[[], system.Cluster]:
    """Measures the cluster."""

    def measure() -> Any:
        with of_cluster.transaction():
            return system.measure(PostgresUnitOfWork(of_cluster, BACKGROUND, tools))

    return measure


@pytest.mark.one_server
def test_one_server_is_no_cluster(transact: Callable[..., Any]) -> None:
    assert transact(system.measure) is None


@pytest.mark.long
def test_a_node_that_is_stopped_or_hangs_is_down_and_the_others_are_asked_nevertheless(
    citus_databases: CitusDatabases, measured: Callable[[], system.Cluster]
) -> None:
    first, second = citus_databases.cluster.workers
    whole = measured()

    second.stop("immediate")
    try:
        without_second = measured()
    finally:
        second.start()
    os.kill(first.postmaster, signal.SIGSTOP)
    try:
        without_first = measured()
    finally:
        os.kill(first.postmaster, signal.SIGCONT)

    assert [(node.is_up, node.shards) for node in whole.nodes] == [(True, 2), (True, 2)]
    assert (whole.local_logs, whole.down, whole.empty) == ([], [], [])
    assert whole.skew < 1.5
    assert [node.is_up for node in without_second.nodes] == [True, False]
    assert [node.is_up for node in without_first.nodes] == [False, True]
    assert measured().down == []

"""What gives positions commits on all nodes of a cluster or on none, so that a crash gives none of them twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.audit import chain
from core.webhooks import sequencing
from tests.adapters.webhooks.queues import publish_all
from tests.audit_chains import BATCH_ENTRIES, add_entry
from tests.citus_databases import CitusDatabases
from tests.clock import SettableClock
from tests.world.builder import Builder
from tests.world.fixtures import builder

__all__ = ["builder"]

pytestmark = pytest.mark.long

Transact = Callable[..., Any]


@pytest.fixture(scope="session")
def databases(citus_databases: CitusDatabases) -> CitusDatabases:
    """The maker of databases for this module: on a cluster."""
    return citus_databases


def commits_of_all_nodes(builder: Builder) -> int:
    """Return of how many commits the coordinator has noted that the nodes are to follow it."""
    [(number,)] = builder.rows("SELECT count(*) FROM pg_dist_transaction")
    return int(number)


def assign_positions(transact: Transact) -> None:
    transact(sequencing.assign_positions, 10)


def seal(transact: Transact) -> None:
    transact(chain.seal_next, BATCH_ENTRIES)


@pytest.mark.parametrize("step", [assign_positions, seal])
def test_what_gives_positions_commits_on_all_nodes_or_on_none(
    builder: Builder, clock: SettableClock, transact: Transact, step: Callable[[Transact], None]
) -> None:
    acme = builder.organization()
    transact(publish_all, acme, "without a webhook")
    add_entry(builder.connection, acme, clock)
    before = commits_of_all_nodes(builder)

    step(transact)

    assert commits_of_all_nodes(builder) == before + 1

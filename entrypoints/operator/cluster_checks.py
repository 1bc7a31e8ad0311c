"""The checks of `gatehouse doctor` on the cluster that stores the logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from core.platform.system import Cluster
from entrypoints.shared.platform.checks import Finding

SUBJECT: Final = "cluster"
PAGE: Final = "ops/docs/cluster.md"
# With less, the catalogs are most of it; with more, a fuller node has more to do than the others.
BYTES_MIN: Final = 10 * 2**30
SKEW_MAX: Final = 1.5
MIB: Final = 2**20


def findings(cluster: Cluster) -> Iterator[Finding]:
    """Yield a finding for all nodes, or one for each thing that is not as it should be."""
    if not cluster.nodes:
        what = "the database has citus and no worker, so every log lies on the coordinator"
        yield Finding(SUBJECT, True, what, f"{PAGE} says how to add one.")
        return
    wrong = list(_wrong(cluster))
    yield from wrong
    if not wrong:
        nodes = ", ".join(
            f"{node.name} ({node.shards} shards of each log, {node.bytes / MIB:,.0f} MiB)" for node in cluster.nodes
        )
        yield Finding(SUBJECT, True, f"every node answers, and holds its part of the logs: {nodes}")


def _wrong(cluster: Cluster) -> Iterator[Finding]:
    if cluster.down:
        what = f"nodes that do not answer: {', '.join(cluster.down)}"
        yield Finding(SUBJECT, False, what, f"Start them, or replace them: {PAGE}, 'When a worker is lost'.")
    if cluster.local_logs:
        what = f"logs that lie on the coordinator: {', '.join(cluster.local_logs)}"
        yield Finding(SUBJECT, False, what, "Run `gatehouse migrate`, which distributes them.")
    elif cluster.empty or (cluster.bytes >= BYTES_MIN and cluster.skew > SKEW_MAX):
        what = f"nodes that hold nothing yet: {', '.join(cluster.empty)}" if cluster.empty else _skewed(cluster)
        yield Finding(SUBJECT, False, what, f"Move shards to them: {PAGE}, 'Rebalancing'.")


def _skewed(cluster: Cluster) -> str:
    return f"the fullest node holds {cluster.skew:.1f} times an even share"

"""The cluster that holds the logs, where the database is the coordinator of one: its nodes, and their sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNode:
    """A node that may hold parts of the logs; its bytes count its whole database, 0 while it is down."""

    name: str
    is_up: bool
    shards: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The nodes beside the coordinator, and the logs on the coordinator itself."""

    nodes: Sequence[ClusterNode]
    local_logs: Sequence[str]

    @property
    def down(self) -> Sequence[str]:
        """The names of nodes that do not answer."""
        return [node.name for node in self.nodes if not node.is_up]

    @property
    def empty(self) -> Sequence[str]:
        """The names of the nodes that hold nothing yet, although others do."""
        has_shards = any(node.shards for node in self.nodes)
        return [node.name for node in self.nodes if has_shards and not node.shards]

    @property
    def bytes(self) -> int:
        """The sum of the nodes' bytes."""
        return sum(node.bytes for node in self.nodes)

    @property
    def skew(self) -> float:
        """The size of the fullest node as a multiple of an even share; 1 for an empty cluster."""
        up = [node.bytes for node in self.nodes if node.is_up]
        return max(up) * len(up) / sum(up) if sum(up) else 1.0


def measure(uow: UnitOfWork) -> Cluster | None:
    """Return the state of the cluster; None where the database is one server."""
    return uow.clusters.measure()

"""The cluster on which the logs lie, where the database is the coordinator of one: its nodes, and what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNode:
    """A node that may hold parts of the logs; the bytes are those of its whole database, 0 while it is down."""

    name: str
    is_up: bool
    shards: int
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The nodes beside the coordinator, and the logs that lie on the coordinator itself."""

    nodes: Sequence[ClusterNode]
    local_logs: Sequence[str]

    @property
    def down(self) -> Sequence[str]:
        """The names of the nodes that do not answer."""
        return [node.name for node in self.nodes if not node.is_up]

    @property
    def empty(self) -> Sequence[str]:
        """The names of the nodes that hold nothing yet, although others do."""
        has_shards = any(node.shards for node in self.nodes)
        return [node.name for node in self.nodes if has_shards and not node.shards]

    @property
    def bytes(self) -> int:
        """What the nodes hold together."""
        return sum(node.bytes for node in self.nodes)

    @property
    def skew(self) -> float:
        """How many times an even share the fullest node holds; 1 where nothing is held."""
        up = [node.bytes for node in self.nodes if node.is_up]
        return max(up) * len(up) / sum(up) if sum(up) else 1.0


def measure(uow: UnitOfWork) -> Cluster | None:
    """Return what the cluster holds; None where the database is one server."""
    return uow.clusters.measure()

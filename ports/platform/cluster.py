"""The cluster of the database."""

from typing import Protocol

from core.platform.cluster import Cluster


class Clusters(Protocol):
    """The nodes that store the logs."""

    def measure(self) -> Cluster | None:
        """Ask every node; None where the database is one server. A node that does not answer in time is down."""
        ...

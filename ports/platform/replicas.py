"""Asking the primary where it is, and looking at the replicas."""

from typing import Protocol

from core.platform.replicas import PrimaryPlace


class Primary(Protocol):
    """The server that takes the writes."""

    def place(self) -> PrimaryPlace:
        """Return which server it is, and its position in the write-ahead log."""
        ...


class ReplicaSet(Protocol):
    """The replicas that the settings name."""

    async def look(self, primary: PrimaryPlace) -> None:
        """Check each replica against the primary's place: stop using those that lag, use again those that do not.

        It takes a few seconds at most, and never raises because of a replica.
        """
        ...

"""Asking the primary where it is, and looking at the replicas."""

from typing import Protocol

from core.platform.replicas import PrimaryPlace


class Primary(Protocol):
    """The server that takes the writes."""

    def place(self) -> PrimaryPlace:
        """Return which server it is, and where it is in its log of changes."""
        ...


class ReplicaSet(Protocol):
    """The replicas that the settings name."""

    async def look(self, primary: PrimaryPlace) -> None:
        """Look at each replica, given where the primary is: leave those that do not follow, take back those that do.

        It takes a few seconds at most, and fails for no replica.
        """
        ...

"""Readers who wait for the next entries of an audit log."""

from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from typing import Protocol
from uuid import UUID


class AuditTails(Protocol):
    """The readers of this process, by the log that they follow."""

    def place(self, log: UUID) -> AbstractContextManager[None]:
        """Occupy one of the places of a log while the context is open; raise `TailsTaken` when none is free."""
        ...

    async def wait(self, log: UUID, seen: int, seconds: float) -> None:
        """Return when the position of the log is no longer the one that the reader has seen, or after these seconds."""
        ...


class FollowedLogs(Protocol):
    """The same readers, for the actor that looks for new entries."""

    def followed(self) -> Collection[UUID]:
        """Return the logs that readers wait for."""
        ...

    def tell(self, positions: Mapping[UUID, int]) -> None:
        """Wake the readers of these logs who have not seen these positions."""
        ...

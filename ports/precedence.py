"""Precedence: requests come first, and background work takes its turns between them."""

from contextlib import AbstractContextManager
from typing import Protocol


class Precedence(Protocol):
    """Knows which requests this process serves at the moment."""

    def request(self) -> AbstractContextManager[None]:
        """Count a request as long as the context is open."""
        ...

    async def turn(self, work: str) -> None:
        """Return when no request is being served, and after some milliseconds at the latest.

        Callers who do the same work have their turns one after the other.
        """
        ...

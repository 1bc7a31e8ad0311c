"""Precedence of requests over background work, which takes its turns between them."""

from contextlib import AbstractContextManager
from typing import Protocol


class Precedence(Protocol):
    """Knows whether this process serves requests at the moment."""

    def request(self) -> AbstractContextManager[None]:
        """Count a request while the context is open."""
        ...

    async def turn(self, work: str) -> None:
        """Return when no request is being served, and after some milliseconds at the latest.

        Callers who do the same work have their turns one after the other.
        """
        ...

"""Port for the domain name system."""

from collections.abc import Sequence
from typing import Protocol


class Resolver(Protocol):
    """Asks name servers."""

    async def txt_records(self, name: str) -> Sequence[str] | None:
        """Return the TXT records of a name; empty when it has none, None when no name server answered in time."""
        ...

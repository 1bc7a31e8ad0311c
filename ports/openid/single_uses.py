"""Ids that are good once."""

from datetime import datetime
from typing import Protocol


class SingleUses(Protocol):
    """Ids of proofs and assertions, each good for one use."""

    def claim(self, id_hash: bytes, *, until: datetime) -> bool:
        """Use an id up, and remember it until that time; of several concurrent calls one returns True."""
        ...

    def has(self, id_hash: bytes) -> bool:
        """Return whether an id was used up."""
        ...

"""Ids that are good once."""

from datetime import datetime
from typing import Protocol

from core.deferred import Deferred


class SingleUses(Protocol):
    """Ids of proofs and assertions, each good for one use."""

    def claim(self, id_hash: bytes, *, until: datetime) -> bool:
        """Use an id up, and remember it until that time; of several concurrent calls one returns True."""
        ...

    def defer_has(self, id_hash: bytes) -> Deferred[bool]:
        """Defer reading whether an id was used up."""
        ...

"""Storage of ids that may be used once.

What may be used once is claimed by a conditional write that one of two racers wins, and its test races them. Ids that
other parties choose, such as the `jti` of an assertion or a proof, are claimed here.
"""

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

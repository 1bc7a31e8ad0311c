"""How many workers were replaced, and why: counted by their parent, read by each of them for the metrics."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

COUNT_BYTES: Final = 8


class ReplacementReason(StrEnum):
    """Why a worker was replaced: it has ended, or it was silent and was ended."""

    DIED = "died"
    HUNG = "hung"


class ReplacedWorkers:
    """The counts, in memory that forked processes share; only the parent writes."""

    def __init__(self) -> None:
        self._counts = {reason: mmap.mmap(-1, COUNT_BYTES) for reason in ReplacementReason}

    def add(self, reason: ReplacementReason) -> None:
        """Count a replacement."""
        self._counts[reason][:] = (self.by_reason()[reason] + 1).to_bytes(COUNT_BYTES)

    def by_reason(self) -> Mapping[str, int]:
        """Return the counts so far."""
        return {reason.value: int.from_bytes(count[:]) for reason, count in self._counts.items()}

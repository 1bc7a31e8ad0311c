"""Doorbells that wake no actor and record which ones were rung."""

from __future__ import annotations

from ports.doorbells import Bell


class RecordedDoorbells:
    """The port `Doorbells` for tests."""

    def __init__(self) -> None:
        self.rung: list[Bell] = []

    def ring(self, bell: Bell) -> None:
        """Record the ring."""
        self.rung.append(bell)

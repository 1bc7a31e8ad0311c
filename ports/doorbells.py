"""Doorbells: hints that a table has work for an actor. A hint may be lost; the table is authoritative."""

from enum import StrEnum
from typing import Protocol


class Bell(StrEnum):
    """The actor to wake, by its work."""

    MAIL = "mail"
    ROUTED_MAIL = "routed_mail"
    EVENTS = "events"
    BILLING = "billing"
    SANDBOX = "sandbox"
    DELIVERIES = "deliveries"
    LOGOUTS = "logouts"


class Doorbells(Protocol):
    """Wakes actors of this process after a commit; actors of other replicas find the work at their next period."""

    def ring(self, bell: Bell) -> None:
        """Wake the actor that waits for this bell; if none waits, the next `wait` returns at once.

        Several pending rings count as one.
        """
        ...


class AwaitableDoorbells(Doorbells, Protocol):
    """The doorbells as the actors use them."""

    async def wait(self, bell: Bell, period_seconds: float) -> None:
        """Return at a ring, also at one that is pending, and after the period at the latest."""
        ...

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
    STREAMS = "streams"
    SEALING = "sealing"
    SERVICE_USERS = "service_users"
    CUSTOMER_SESSIONS = "customer_sessions"
    BULK_JOBS = "bulk_jobs"


class Doorbells(Protocol):
    """Wakes actors of this process; those of other processes are woken by the process that polls."""

    def ring(self, bell: Bell) -> None:
        """Wake the actor that waits for this bell; if none waits, the next `wait` returns at once.

        Several pending rings count as one.
        """
        ...


class AwaitableDoorbells(Doorbells, Protocol):
    """The doorbells as the actors use them."""

    async def wait(self, bell: Bell, period_seconds: float) -> None:
        """Return at a ring, also at one that is pending, and after the period at the latest.

        While the bells are answered for, nothing is missed without the period, so that it becomes much longer.
        """
        ...


class AnsweredDoorbells(Doorbells, Protocol):
    """The doorbells as the poller uses them, which rings all that is due."""

    def answer_for(self, *, is_answered: bool) -> None:
        """Say whether every bell is rung from now on when something is due for it; else actors look for themselves."""
        ...

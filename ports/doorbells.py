"""A ring that says: there is work in the table. It may be lost; the table is the truth."""

from enum import StrEnum
from typing import Protocol


class Bell(StrEnum):
    """Whom to wake."""

    MAIL = "mail"
    EVENTS = "events"


class Doorbells(Protocol):
    """Wakes actors of this process after a commit; those of other replicas find the work at their next period."""

    def ring(self, bell: Bell) -> None:
        """Wake whoever waits at this bell; a ring that is already pending absorbs this one."""
        ...


class AnsweredDoorbells(Doorbells, Protocol):
    """The same bells from inside the house, where the actors wait."""

    async def wait(self, bell: Bell, period_seconds: float) -> None:
        """Return at a ring, one that came before included, and after the period at the latest."""
        ...

"""Storage of the state of each customer's people that their vendor was last told by an event."""

from typing import Protocol
from uuid import UUID

from core.customers.people_events import PersonEventBatch


class PeopleEvents(Protocol):
    """The people whose changes vendors may have to learn of; triggers record them."""

    def check(self, people_max: int, *, last_turn: UUID | None) -> PersonEventBatch | None:
        """Compare recorded people with what their vendors were last told; return the differences, stored as told.

        The organizations after `last_turn` come first, in the order of their ids. A change that concerns more than
        `people_max` is continued in a later turn. None when nothing waits, and while another transaction does the same.
        """
        ...

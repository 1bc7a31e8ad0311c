"""Storage of what vendors were told of the people of their customers."""

from typing import Protocol
from uuid import UUID

from core.customers.people_news import NewsBatch


class PeopleNews(Protocol):
    """The changes of which vendors may have to be told, which triggers note."""

    def check(self, people_max: int, *, last_turn: UUID | None) -> NewsBatch | None:
        """Compare people of noted changes with what was told, and note what is told now.

        The organizations after that one take their turns first, in the order of their ids. Of what concerns more people
        the next ones wait for another turn. None when nothing waits, and while another transaction does the same.
        """
        ...

"""What the core asks when a platform owner looks for people."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.platform.users import FoundUser


class PlatformUsers(Protocol):
    """Everybody, with the organizations that each of them is a member of; one statement for each question."""

    def with_email(self, part: str, *, limit: int, organizations_max: int) -> Sequence[FoundUser]:
        """List who has that part in their address: those that begin with it, then the newest of the others.

        A part of one or two letters is only looked for at the beginning.
        """
        ...

    def with_id(self, user_id: UUID, *, email_part: str, organizations_max: int) -> Sequence[FoundUser]:
        """Give the person of that id, if their address has that part."""
        ...

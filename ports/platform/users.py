"""Searching for users of the whole platform."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from core.platform.users import PlatformUser


class PlatformUsers(Protocol):
    """All users, with the organizations of which each is a member; every method is one statement.

    With `hides_owners` they find no platform owner.
    """

    def with_email(
        self, part: str, *, limit: int, organizations_max: int, hides_owners: bool
    ) -> Sequence[PlatformUser]:
        """List users whose address contains the part: those that begin with it, then the newest of the others.

        A part of one or two characters is only searched at the beginning.
        """
        ...

    def with_id(
        self, user_id: UUID, *, email_part: str, organizations_max: int, hides_owners: bool
    ) -> Sequence[PlatformUser]:
        """Return the user of that id if the address contains that part, else an empty list."""
        ...

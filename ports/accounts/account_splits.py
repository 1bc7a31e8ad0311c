"""Storage for moving what an account has to another one."""

from datetime import datetime
from typing import Protocol
from uuid import UUID


class AccountSplits(Protocol):
    """Accounts of which a part goes to another account. The account, and its organization, are locked."""

    def make(self, organization_id: UUID, user_id: UUID, new_id: UUID, email: str, *, at: datetime) -> bool:
        """Store an own account of an organization, for what moves from this one; False when another has the address.

        The address is not proved, and nothing signs in. The account that was there is the organization's own no more.
        """
        ...

    def move_person(self, organization_id: UUID, user_id: UUID, new_id: UUID, *, at: datetime) -> None:
        """Move the proof of the address, all that signs in, the sessions and the history; what remains has none of it.

        What this organization has decided about the account moves with it.
        """
        ...

    def move_access(self, organization_id: UUID, user_id: UUID, new_id: UUID, *, stays_confirmed: bool) -> None:
        """Move what the account has of an organization, which goes on to know it by the same id."""
        ...

    def move_all_access(self, user_id: UUID, new_id: UUID) -> None:
        """Move what organizations gave to an account to one that exists, as far as that does not have the like.

        Each organization to which the other account is new goes on to know the user by the same id. Both are locked.
        """
        ...

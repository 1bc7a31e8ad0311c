"""Storage for moving a part of an account to another account."""

from datetime import datetime
from typing import Protocol
from uuid import UUID


class AccountSplits(Protocol):
    """Moves parts of accounts to other accounts. The caller has locked the account and its organization."""

    def make(self, organization_id: UUID, user_id: UUID, new_id: UUID, email: str, *, at: datetime) -> bool:
        """Store a new account for what moves, as the organization's own; False when another account has the address.

        Its address is not proved, and it has no way to sign in. The old account is the organization's own no longer.
        """
        ...

    def move_person(self, organization_id: UUID, user_id: UUID, new_id: UUID, *, at: datetime) -> None:
        """Move the proof of the address, every way to sign in, the sessions and the history to the new account.

        The decisions of this organization about the account (deactivated, disowned) move too.
        """
        ...

    def move_access(self, organization_id: UUID, user_id: UUID, new_id: UUID, *, stays_confirmed: bool) -> None:
        """Move what one organization gave to the account; the organization knows the new account by the old id."""
        ...

    def move_all_access(self, user_id: UUID, new_id: UUID) -> None:
        """Move what organizations gave to an account to an existing one, except what that account has already.

        An organization to which the other account is new knows it by the old id. The caller has locked both accounts.
        """
        ...

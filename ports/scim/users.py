"""Storage of the members of organizations as SCIM users, with the data from their directories."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred
from core.scim.user_filters import Condition
from core.scim.users import DirectoryProfile, StoredUser, StoredUsersPage


class ScimUsers(Protocol):
    """The members of organizations as SCIM users. A transaction that changes them has locked the organization."""

    def defer_page_of_token(self, *, limit: int, offset: int) -> Deferred[StoredUsersPage]:
        """Defer reading members of the organization whose token the request presents, and their number.

        The oldest membership comes first. The members are not counted.
        """
        ...

    def matching(self, organization_id: UUID, condition: Condition, *, limit: int, offset: int) -> StoredUsersPage:
        """Return the members that meet a condition, in the same order, and their number, in one statement."""
        ...

    def find(self, organization_id: UUID, known_id: UUID) -> StoredUser | None:
        """Return the member that an organization knows by this id, else the one whose account has it; else None."""
        ...

    def find_account(self, organization_id: UUID, user_id: UUID) -> StoredUser | None:
        """Return a member of an organization; None when the account is no member."""
        ...

    def is_name_taken(self, organization_id: UUID, user_name: str, *, except_user_id: UUID | None) -> bool:
        """Return whether another member has this userName, which is no mail address, ignoring case."""
        ...

    def save(self, organization_id: UUID, user_id: UUID, profile: DirectoryProfile) -> None:
        """Store the directory's present data of a member."""
        ...

    def set_suspended(self, organization_id: UUID, user_id: UUID, *, at: datetime | None) -> None:
        """Suspend a membership, or, with None, end its suspension."""
        ...

    def delete_sign_ins(self, organization_id: UUID, user_id: UUID) -> None:
        """Delete the login events of a user in an organization, except those of its services."""
        ...

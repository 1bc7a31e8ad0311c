"""Port for what people are called."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.names import PersonNames
from core.deferred import Deferred


class StoredNames(Protocol):
    """The names of accounts, and those that directories say."""

    def defer_of(self, user_id: UUID, organization_id: UUID | None) -> Deferred[PersonNames]:
        """Defer reading the names of an account; those of a directory are the organization's, none without one."""
        ...

    def with_requested_email(
        self, user_id: UUID, organization_id: UUID | None, *, at: datetime
    ) -> tuple[PersonNames, str | None]:
        """Return the names of an account, and the address to which its user has asked to change; None without one.

        It is the address of their valid token to change it.
        """
        ...

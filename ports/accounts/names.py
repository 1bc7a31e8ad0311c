"""Port for what people are called."""

from typing import Protocol
from uuid import UUID

from core.accounts.names import PersonNames
from core.accounts.profile import NamedCaller
from core.deferred import Deferred


class StoredNames(Protocol):
    """The names of accounts, and those that directories say."""

    def defer_of(self, user_id: UUID, organization_id: UUID | None) -> Deferred[PersonNames]:
        """Defer reading the names of an account; those of a directory are the organization's, none without one."""
        ...

    def of_session(self, session_id: UUID, *, is_limited: bool = False) -> NamedCaller | None:
        """Return the caller with their names; None when `Callers.of_session` would return None."""
        ...

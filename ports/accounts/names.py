"""Port for the names of people."""

from typing import Protocol
from uuid import UUID

from core.accounts.names import PersonNames
from core.accounts.profile import NamedCaller
from core.deferred import Deferred


class StoredNames(Protocol):
    """The names that people set for themselves, and the names from directories."""

    def defer_of(self, user_id: UUID, organization_id: UUID | None) -> Deferred[PersonNames]:
        """Defer reading the names of an account, with those from the organization's directory if one is given."""
        ...

    def of_session(self, session_id: UUID, *, is_limited: bool = False) -> NamedCaller | None:
        """Return the caller with their names; None when `Callers.of_session` would return None."""
        ...

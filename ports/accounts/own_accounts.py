"""Storage of the accounts that organizations made."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.own_accounts import Belonging, FoundAccount
from core.accounts.users import User


class OwnAccounts(Protocol):
    """Accounts that organizations made, by SCIM or with an API key."""

    def find_or_create(self, user: User, organization_id: UUID, service_id: UUID | None = None) -> FoundAccount:
        """Return the account of an address, created by this organization if there was none, in one statement.

        Of two concurrent calls for an address, one creates the account and the other returns it. `service_id` is the
        service that the account will be linked to.
        """
        ...

    def lock(self, organization_id: UUID, user_id: UUID) -> Belonging | None:
        """Lock an account, so that no new row refers to it, and return what `belonging` does."""
        ...

    def belonging(self, organization_id: UUID, user_id: UUID) -> Belonging | None:
        """Return what decides whether a locked account is the organization's own; None when it does not exist."""
        ...

    def deactivate(self, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Deactivate an active account on behalf of an organization."""
        ...

    def disown(self, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Take the address away from an account, on behalf of the organization that has proved its mail domain."""
        ...

    def activate(self, organization_id: UUID, user_ids: Sequence[UUID], *, at: datetime) -> None:
        """Activate those of the accounts that this organization has deactivated, unless they are anonymized."""
        ...

    def give_back(self, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Undo this organization's `disown`: the address is the account's again."""
        ...

    def conflicts_since(self, organization_id: UUID, since: datetime) -> int:
        """Count how often since then the organization has asked for the address of another account."""
        ...

    def add_conflict(self, organization_id: UUID, *, at: datetime) -> None:
        """Record that the organization has asked for the address of another account."""
        ...

    def delete(self, organization_id: UUID, user_id: UUID) -> None:
        """Delete an account with all that refers to it and the mails to its address, except other organizations'."""
        ...

"""Storage of the ids by which organizations know accounts, where they differ from the ids of the accounts."""

from collections.abc import Collection, Mapping
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred


class KnownIds(Protocol):
    """The ids by which SCIM and the service interface name accounts to an organization.

    They differ from the account's own after a part of the account has moved to another one (`account_splits.py`).
    """

    def defer_accounts(self, organization_id: UUID, ids: Collection[UUID]) -> Deferred[Mapping[UUID, UUID]]:
        """Defer reading which account each of these ids means to an organization: by default the one with that id."""
        ...

    def accounts(self, organization_id: UUID, ids: Collection[UUID]) -> frozenset[UUID]:
        """Return the accounts that these ids mean to an organization."""
        ...

    def defer_shown(self, organization_id: UUID, user_id: UUID) -> Deferred[UUID]:
        """Defer reading the id by which an organization knows an account."""
        ...

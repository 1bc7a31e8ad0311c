"""Storage of the ids by which organizations know accounts, where those are not the ids of the accounts."""

from collections.abc import Collection, Mapping
from typing import Protocol
from uuid import UUID

from core.deferred import Deferred


class KnownIds(Protocol):
    """The ids by which SCIM and the interface of services name accounts to an organization (decisions 5.7)."""

    def defer_accounts(self, organization_id: UUID, ids: Collection[UUID]) -> Deferred[Mapping[UUID, UUID]]:
        """Defer reading which account each of these ids means to an organization: else the one that has the id."""
        ...

    def accounts(self, organization_id: UUID, ids: Collection[UUID]) -> frozenset[UUID]:
        """Return the accounts that these ids mean to an organization."""
        ...

    def defer_shown(self, organization_id: UUID, user_id: UUID) -> Deferred[UUID]:
        """Defer reading by which id an organization knows an account."""
        ...

"""Storage of the keys of organizations."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.organizations.key_callers import KeyCaller, TokenOfKey
from core.organizations.keys import MadeOrganizationKey, OrganizationKey
from core.prefixed_tokens import PrefixedToken


class OrganizationKeys(Protocol):
    """The keys of organizations, and the callers behind them; only hashes of keys are stored."""

    def callers(self, key: PrefixedToken) -> Sequence[KeyCaller]:
        """Return the callers whose keys have this prefix, in one statement; a deactivated maker's keys are left out."""
        ...

    def callers_by_token(self, token: TokenOfKey) -> Sequence[KeyCaller]:
        """Return the caller of the key that a token stands for, while the workload that got the token exists."""
        ...

    def record_use(self, caller: KeyCaller, *, at: datetime) -> None:
        """Record that the key was used, unless a concurrent transaction does so; never wait for one."""
        ...

    def add(
        self,
        organization_id: UUID,
        key: OrganizationKey,
        *,
        key_hash: bytes | None,
        created_by: UUID,
        has_second_factor: bool,
        is_phishing_resistant: bool,
    ) -> None:
        """Store a new key of a member, and which kind of second factor the member's session had, if any."""
        ...

    def of_organization(self, organization_id: UUID) -> Sequence[OrganizationKey]:
        """List the keys of an organization, the newest first."""
        ...

    def with_makers(self, organization_id: UUID) -> Sequence[MadeOrganizationKey]:
        """List the same keys with their makers, in the same order."""
        ...

    def remove(self, organization_id: UUID, key_id: UUID) -> OrganizationKey | None:
        """Delete a key and return it; None when there is none. Of concurrent calls one gets it."""
        ...

    def remove_of_makers(
        self, user_ids: Sequence[UUID], organization_id: UUID | None
    ) -> Sequence[tuple[UUID, OrganizationKey]]:
        """Delete the keys that these users have made, in one organization or all.

        Return them with the ids of their organizations.
        """
        ...

"""The platform owners, in the table `users`; the platform's audit log says since when they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from adapters.postgres.transaction import Aggregate
from core.events.actions import PlatformAction
from core.platform.owners import ListedPlatformOwner

# When the account `u` was last given a role of the platform, by the action that records it.
APPOINTED_AT: Final = """
    (SELECT   e.created_at
     FROM     platform_audit_entries e
     WHERE    e.target_type = 'user' AND e.target_id = u.id::text AND e.action = %s
     ORDER BY e.id DESC
     LIMIT    1)
"""


class PostgresPlatformOwners(Aggregate):
    """The port `PlatformOwners`."""

    def all(self) -> Sequence[ListedPlatformOwner]:
        return self._all(
            ListedPlatformOwner,
            f"""
            SELECT   u.id, u.email, u.name, u.email_verified_at IS NOT NULL AND u.disowned_at IS NULL AS email_verified,
                     u.mfa_enabled_at IS NOT NULL AS mfa_enabled,
                     u.deactivated_at IS NULL AND u.closed_at IS NULL AS is_active, u.created_at,
                     {APPOINTED_AT} AS appointed_at
            FROM     users u
            WHERE    u.is_platform_owner
            ORDER BY u.email
            """,
            (PlatformAction.OWNER_PROMOTED.value,),
        )

    def ids(self) -> Sequence[UUID]:
        return self._values("SELECT id FROM users WHERE is_platform_owner")

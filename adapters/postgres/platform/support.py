"""The people of the platform's support, in the table `users`."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from adapters.postgres.platform.owners import APPOINTED_AT
from adapters.postgres.transaction import Aggregate
from core.events.actions import PlatformAction
from core.platform.support import PlatformSupport


class PostgresPlatformSupport(Aggregate):
    """The port `PlatformSupportStaff`."""

    def all(self) -> Sequence[PlatformSupport]:
        return self._all(
            PlatformSupport,
            f"""
            SELECT   u.id, u.email, u.name, u.email_verified_at IS NOT NULL AND u.disowned_at IS NULL AS email_verified,
                     u.mfa_enabled_at IS NOT NULL AS mfa_enabled, u.created_at, {APPOINTED_AT} AS appointed_at
            FROM     users u
            WHERE    u.is_platform_support
            ORDER BY u.email
            """,
            (PlatformAction.SUPPORT_APPOINTED.value,),
        )

    def has(self, user_id: UUID) -> bool:
        return self._finds_any("SELECT FROM users WHERE id = %s AND is_platform_support", (user_id,))

    def add(self, user_id: UUID) -> bool:
        return self._changes_one(
            "UPDATE users SET is_platform_support = true WHERE id = %s AND NOT is_platform_support", (user_id,)
        )

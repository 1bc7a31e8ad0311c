"""The people of the platform's support, in the table `users`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.postgres.transaction import Aggregate
from core.platform.support import PlatformSupport

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID


class PostgresPlatformSupport(Aggregate):
    """The port `PlatformSupportStaff`."""

    def all(self) -> Sequence[PlatformSupport]:
        return self._all(
            PlatformSupport,
            """
            SELECT   id, email, name, email_verified_at IS NOT NULL AND disowned_at IS NULL AS email_verified,
                     mfa_enabled_at IS NOT NULL AS mfa_enabled, created_at
            FROM     users
            WHERE    is_platform_support
            ORDER BY email
            """,
        )

    def has(self, user_id: UUID) -> bool:
        return self._finds_any("SELECT FROM users WHERE id = %s AND is_platform_support", (user_id,))

    def add(self, user_id: UUID) -> bool:
        return self._changes_one(
            "UPDATE users SET is_platform_support = true WHERE id = %s AND NOT is_platform_support", (user_id,)
        )

"""The second factors of all users, for platform owners."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.platform.mfa import MfaAlert, MfaCounts, UserMfaStatus


class PlatformMfa(Protocol):
    """Second factors and their log, across all organizations; every method is one statement."""

    def status(self, user_id: UUID) -> UserMfaStatus | None:
        """Return the status of a user's second factor, or None when there is no such user."""
        ...

    def counts(self, *, since: datetime) -> MfaCounts:
        """Count accounts, those with a second factor, and the used backup codes and failures since then."""
        ...

    def alerts(self, *, since: datetime, limit: int, hides_owners: bool) -> Sequence[MfaAlert]:
        """List the possible attacks since then, the newest first; many failures of one user are one alert.

        With `hides_owners` none is of a platform owner.
        """
        ...

"""What the core asks of everybody's second factors, for platform owners."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.platform.mfa import Alert, MfaCounts, PersonMfaStatus


class PlatformMfa(Protocol):
    """Second factors and the log about them, across all organizations; one statement for each question."""

    def status(self, user_id: UUID) -> PersonMfaStatus | None:
        """Say how a person's second factor stands."""
        ...

    def counts(self, *, since: datetime) -> MfaCounts:
        """Count accounts, those with a second factor, and what was used and failed since then."""
        ...

    def alerts(self, *, since: datetime, limit: int) -> Sequence[Alert]:
        """List what looks like an attack since then, the newest first; of many failures one alert for each person."""
        ...

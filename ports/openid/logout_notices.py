"""Storage of notices about ended sessions, and the queue of the services that get logout tokens for them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.attempts import Attempt
from core.openid.logout_notices import LeasedService


class LogoutNotices(Protocol):
    """Notices for services; the database itself adds them when a session ends."""

    def postpone_inactive(self, *, services_max: int, until: datetime) -> None:
        """Postpone the services that are due first and whose organization is inactive until that time."""
        ...

    def lease(
        self, *, services_max: int, of_organization_max: int, notices_max: int, leased_until: datetime
    ) -> Sequence[LeasedService]:
        """Lease services whose queue is due, each with its due notices.

        Services of the organization with the fewest leased services come first, then those that have waited longest.
        At most `of_organization_max` services of an organization are leased at once. No other process leases a service
        before `release` or the end of its lease.
        """
        ...

    def remove(self, organization_id: UUID, service_id: UUID, notice_id: UUID) -> None:
        """Delete a notice."""
        ...

    def postpone(
        self, organization_id: UUID, service_id: UUID, notice_id: UUID, *, attempts: int, until: datetime
    ) -> None:
        """Record how often a notice was tried, and when it is due again; do nothing if it was recorded already."""
        ...

    def release(self, organization_id: UUID, service_id: UUID, *, leased_until: datetime) -> None:
        """End this lease, unless a later one has begun, and record when the service's next notice is due."""
        ...


class LogoutSender(Protocol):
    """Posts logout tokens; a failure of the receiver is returned, not raised."""

    async def send(self, organization_id: UUID, uri: str, logout_token: str) -> Attempt:
        """Post a token of an organization, and return the outcome, within 15 seconds."""
        ...

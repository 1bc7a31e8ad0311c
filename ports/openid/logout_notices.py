"""Storage of notices about ended sessions, and the queue of the services that are to be told."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.attempts import Attempt
from core.openid.logout_notices import LeasedService


class LogoutNotices(Protocol):
    """Notices for services; the database itself adds them when a session ends."""

    def postpone_inactive(self, *, services_max: int, until: datetime) -> None:
        """Make services due only then that are due first and whose organization is inactive."""
        ...

    def lease(
        self, *, services_max: int, of_organization_max: int, notices_max: int, leased_until: datetime
    ) -> Sequence[LeasedService]:
        """Lease services whose queue is due, each with its due notices.

        Those of organizations with the fewest leased ones come first, then those that have waited longest. Others lease
        the same service only after `release` or the end of the lease. An organization with more services that are due
        or leased than its share waits with the others.
        """
        ...

    def remove(self, organization_id: UUID, service_id: UUID, notice_id: UUID) -> None:
        """Delete a notice."""
        ...

    def postpone(
        self, organization_id: UUID, service_id: UUID, notice_id: UUID, *, attempts: int, until: datetime
    ) -> None:
        """Note that a notice was tried that many times, and when it is due again; nothing if it was noted already."""
        ...

    def release(self, organization_id: UUID, service_id: UUID, *, leased_until: datetime) -> None:
        """End this lease, and note when the service's next notice is due; a later lease stays."""
        ...


class LogoutSender(Protocol):
    """Posts logout tokens; nothing that a receiver does is an error of the sender."""

    async def send(self, organization_id: UUID, uri: str, logout_token: str) -> Attempt:
        """Post a token of an organization, and return what came back, within 15 seconds."""
        ...

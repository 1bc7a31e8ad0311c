"""Back-channel logout: telling services that sessions of their users have ended (OpenID Connect Back-Channel Logout).

A trigger on the table of sessions queues a notice in the transaction that ends a session of a service. A dispatcher
leases a service that has notices due, posts a logout token for each, and records the outcome, on the schedule of
webhooks. A notice is deleted when it has arrived, or when the last attempt has failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.attempts import LEASE, ORGANIZATION_TARGETS_MAX, POSTPONEMENT, Attempt, next_attempt_at
from core.lazy_dataclasses import dataclass
from core.sessions.security_profiles import SecurityProfile, signature_algorithm
from core.sessions.signature_algorithms import SignatureAlgorithm

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LOGOUT_TOKEN_LIFETIME: Final = timedelta(minutes=2)
EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutNotice:
    """A session that has ended; `host` is the custom host under which it began, None for the base URL."""

    id: UUID
    session_id: UUID
    user_id: UUID
    attempt_count: int
    host: str | None = None

    def claims(self, client_id: UUID) -> dict[str, Any]:
        """Return the claims of its logout token."""
        return {
            "sub": str(self.user_id),
            "sid": str(self.session_id),
            "aud": str(client_id),
            "events": {EVENT: {}},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedService:
    """A service that this dispatcher alone serves until the lease ends, with the notices to send.

    Without an address it gets no notices any more.
    """

    id: UUID
    organization_id: UUID
    client_id: UUID
    uri: str | None
    leased_until: datetime
    notices: Sequence[LogoutNotice]
    security_profile: SecurityProfile | None = None
    token_signing: str = SignatureAlgorithm.RS256

    @property
    def signature_algorithm(self) -> SignatureAlgorithm:
        """The algorithm that signs the tokens of the service."""
        return signature_algorithm(self.security_profile, self.token_signing)


def lease_service(uow: UnitOfWork, services_max: int, notices_max: int) -> Sequence[LeasedService]:
    """Lease services that have something due, fairly among organizations.

    The notices of an organization that is not active wait until it is active again.
    """
    uow.logout_notices.postpone_inactive(services_max=services_max, until=uow.now + POSTPONEMENT)
    return uow.logout_notices.lease(
        services_max=services_max,
        of_organization_max=ORGANIZATION_TARGETS_MAX,
        notices_max=notices_max,
        leased_until=uow.now + LEASE,
    )


def record_notice(uow: UnitOfWork, service: LeasedService, notice: LogoutNotice, attempt: Attempt) -> None:
    """Delete a notice that has arrived or was tried for the last time, or set the time of the next attempt."""
    attempts = notice.attempt_count + 1
    next_at = None if attempt.is_success else next_attempt_at(notice.id, attempts, at=uow.now)
    if next_at is None:
        uow.logout_notices.remove(service.organization_id, service.id, notice.id)
    else:
        uow.logout_notices.postpone(service.organization_id, service.id, notice.id, attempts=attempts, until=next_at)


def release_service(uow: UnitOfWork, service: LeasedService) -> None:
    """End the lease of a service; it queues behind the others when it has more due."""
    uow.logout_notices.release(service.organization_id, service.id, leased_until=service.leased_until)

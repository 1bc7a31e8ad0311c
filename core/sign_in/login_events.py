"""Login events: every attempt to sign in to an existing account, for analytics, risk assessment and the export."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from core.sign_in.risk import Risk
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginEvent:
    """One attempt to sign in; `risk_score` is 0 to 100."""

    id: UUID
    user_id: UUID
    organization_id: UUID | None
    service_id: UUID | None
    device_id: UUID | None
    provider: str
    success: bool
    ip_address: str | None
    user_agent: str | None
    risk_score: int
    risk_factors: list[str]
    geo_country: str | None
    geo_city: str | None
    created_at: datetime


def record(  # noqa: PLR0913 - a row has its columns
    uow: UnitOfWork,
    user_id: UUID,
    provider: str,
    risk: Risk,
    /,
    *,
    is_success: bool,
    organization_id: UUID | None = None,
    service_id: UUID | None = None,
    device_id: UUID | None = None,
) -> None:
    """Record an attempt to sign in, with its origin and risk."""
    uow.login_events.add(
        LoginEvent(
            id=uow.randomness.new_id(),
            user_id=user_id,
            organization_id=organization_id,
            service_id=service_id,
            device_id=device_id,
            provider=provider,
            success=is_success,
            ip_address=uow.origin.ip_address,
            user_agent=uow.origin.user_agent,
            risk_score=risk.percent,
            risk_factors=list(risk.factors),
            geo_country=risk.location.country if risk.location else None,
            geo_city=risk.location.city if risk.location else None,
            created_at=uow.now,
        )
    )

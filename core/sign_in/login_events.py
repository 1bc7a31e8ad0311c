"""Login events: every attempt to sign in to an existing account, for analytics, risk assessment and the export.

An attempt that is refused keeps its reason. One that waits for a second factor is an event as well, which becomes that
of the sign-in when it is completed. What an unauthenticated caller can cause is bounded: after as many refusals as a
reason allows in fifteen minutes, no more are stored.

The log is partitioned by month (`core/platform/log_months.py`). What is older than `SIGN_INS_KEPT_FOR` is not shown, so
that no number changes when its month is dropped. What is counted of it stays (`core/audit/sign_in_counts.py`).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import sign_in_failures
from core.lazy_dataclasses import dataclass
from core.sign_in.customer_choices import CustomerStanding, name_of
from core.sign_in.proofs import Destination, MailedProof, UsedWay
from core.sign_in.reasons import SignInReason
from core.sign_in.risk import Risk

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginEvent:
    """One attempt to sign in; `risk_score` is 0 to 100.

    `through_organization_id` is the organization whose connection or custom domain was used; only an attempt that names
    no organization belongs to it. Or it is that of the customer, by its id, for which the user came in to a service of
    another organization: such a sign-in belongs to both, and so does a refused one whose user had proved who they are.
    `mailed_proof` is None where it is not known; the event of a sign-in that has waited keeps what was known of it.
    """

    id: UUID
    user_id: UUID
    device_id: UUID | None
    connection_id: UUID | None
    through_organization_id: UUID | None
    customer_id: UUID | None
    provider: str
    mailed_proof: MailedProof | None
    success: bool
    reason: SignInReason | None
    ip_address: str | None
    user_agent: str | None
    request_id: str | None
    risk_score: int
    risk_factors: list[str]
    geo_country: str | None
    geo_city: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt to sign in, as it is assessed; `id` is that of its event."""

    id: UUID
    user_id: UUID
    way: UsedWay
    device_id: UUID | None
    risk: Risk


def record(
    uow: UnitOfWork,
    attempt: Attempt,
    *,
    organization_id: UUID | None,
    service_id: UUID | None,
    customer: CustomerStanding | None = None,
) -> None:
    """Record a sign-in with its origin; it replaces the event of one that has waited for a second factor."""
    event = _event(uow, attempt, None)
    if customer is not None:
        event = replace(event, customer_id=customer.id, through_organization_id=customer.organization_id)
    uow.login_events.add(event, organization_id=organization_id, service_id=service_id)


def record_unfinished(uow: UnitOfWork, attempt: Attempt, destination: Destination, reason: SignInReason) -> None:
    """Record an attempt that is refused or waits for a second factor, unless there were too many of its kind."""
    # Whoever knows an address can name a customer.
    customer = destination.proved_for if reason.needs_proof else None
    uow.login_events.add_unfinished(
        _event(uow, attempt, reason),
        organization_slug=destination.organization_slug,
        service_slug=destination.service_slug,
        customer=name_of(customer) if customer else None,
        affiliated_only=not reason.needs_proof,
        since=uow.now - sign_in_failures.WINDOW,
        rows_max=reason.rows_max,
    )


def _event(uow: UnitOfWork, attempt: Attempt, reason: SignInReason | None) -> LoginEvent:
    origin, risk, way = uow.origin, attempt.risk, attempt.way
    confinement = way.confinement
    confined_to = confinement.organization_id if confinement is not None else None
    return LoginEvent(
        id=attempt.id,
        user_id=attempt.user_id,
        device_id=attempt.device_id,
        connection_id=confinement.connection_id if confinement is not None else None,
        through_organization_id=confined_to or (origin.custom_host.organization_id if origin.custom_host else None),
        customer_id=None,
        provider=way.provider,
        mailed_proof=way.mailed_proof,
        success=reason is None,
        reason=reason,
        ip_address=origin.ip_address,
        user_agent=origin.user_agent,
        request_id=origin.request_id,
        risk_score=risk.percent,
        risk_factors=list(risk.factors),
        geo_country=risk.location.country if risk.location else None,
        geo_city=risk.location.city if risk.location else None,
        created_at=uow.now,
    )

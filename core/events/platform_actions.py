"""What the platform audit log records: what platform owners did, and to whom (decisions 5.8).

It stands beside the audit logs of the organizations, in the same shape, and still names organizations that are deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from core.events.actions import TargetType

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from ports.unit_of_work import UnitOfWork


class PlatformAction(Enum):
    """Something that only a platform owner does, with what it is done to."""

    ORGANIZATION_APPROVED = ("organization.approved", TargetType.ORGANIZATION)
    ORGANIZATION_REJECTED = ("organization.rejected", TargetType.ORGANIZATION)
    ORGANIZATION_SUSPENDED = ("organization.suspended", TargetType.ORGANIZATION)
    ORGANIZATION_ACTIVATED = ("organization.activated", TargetType.ORGANIZATION)
    ORGANIZATION_TIER_CHANGED = ("organization.tier_changed", TargetType.ORGANIZATION)
    ORGANIZATION_DELETED = ("organization.deleted", TargetType.ORGANIZATION)
    MFA_FORCE_DISABLED = ("mfa.force_disabled", TargetType.USER)
    OWNER_PROMOTED = ("platform_owner.promoted", TargetType.USER)
    OWNER_DEMOTED = ("platform_owner.demoted", TargetType.USER)
    IMPERSONATION_STARTED = ("impersonation.started", TargetType.USER)
    IMPERSONATION_ACTED = ("impersonation.acted", TargetType.USER)
    USER_ANONYMIZED = ("user.anonymized", TargetType.USER)

    target_type: TargetType

    def __new__(cls, value: str, target_type: TargetType) -> PlatformAction:
        """Make an action of its name and what it is done to."""
        member = object.__new__(cls)
        member._value_ = value
        member.target_type = target_type
        return member


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformAuditEntry:
    """One line of the platform audit log."""

    id: UUID
    actor_user_id: UUID | None
    action: PlatformAction
    target_id: str
    organization_id: UUID | None
    ip_address: str | None
    user_agent: str | None
    success: bool
    details: dict[str, Any]
    created_at: datetime


def record_impersonated(uow: UnitOfWork, deed: str, /, *, organization_id: UUID | None = None, **details: Any) -> None:
    """Write down what somebody did in another one's name, where no log of an organization says so (identity 4.8).

    Of people who act for themselves nothing is written.
    """
    caller = uow.caller
    if caller.is_impersonated:
        uow.audit_platform(
            PlatformAction.IMPERSONATION_ACTED,
            caller.user_id,
            organization_id=organization_id,
            deed=deed,
            impersonation_session=str(caller.session_id),
            **details,
        )

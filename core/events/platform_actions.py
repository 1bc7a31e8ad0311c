"""What the platform audit log records: the actions of platform owners and their targets (decisions 5.8).

It is separate from the audit logs of the organizations, has the same shape, and keeps entries on deleted organizations.
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
    """An action that only a platform owner can take, with the type of its target."""

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
    USER_EXPORTED = ("user.exported", TargetType.USER)

    target_type: TargetType

    def __new__(cls, value: str, target_type: TargetType) -> PlatformAction:
        """Create an action from its name and the type of its target."""
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
    """Record an action of an impersonator that no organization's audit log records (identity 4.8).

    Record nothing when the caller is not impersonated.
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

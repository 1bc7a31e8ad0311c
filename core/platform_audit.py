"""What the platform audit log records: what platform owners did, and to whom (decisions 5.8).

It stands beside the audit logs of the organizations, in the same shape, and still names organizations that are deleted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from core.audit import TargetType

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


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

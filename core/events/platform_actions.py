"""The vocabulary of the platform audit log: the actions of platform owners and support, and their targets.

It is separate from the audit logs of the organizations, has the same shape, and keeps entries on deleted organizations.

A new action is a line of `PlatformAction`, and has words in `entrypoints/pages/events/actions.py`.
"""

from __future__ import annotations

from datetime import datetime
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class PlatformTargetType(StrEnum):
    """The type of the target of a platform's action."""

    USER = "user"
    ORGANIZATION = "organization"
    # An address without an account, by its keyed hash.
    ADDRESS = "address"
    MAIL = "mail"
    # A list or search of the platform, by its name.
    LIST = "list"
    # A signing key by its `kid`, a master key by its id.
    KEY = "key"
    TIER = "tier"


class PlatformAction(Enum):
    """An action of platform owners, of support, and of operators by command, with the type of its target."""

    ORGANIZATION_APPROVED = ("organization.approved", PlatformTargetType.ORGANIZATION)
    ORGANIZATION_REJECTED = ("organization.rejected", PlatformTargetType.ORGANIZATION)
    ORGANIZATION_SUSPENDED = ("organization.suspended", PlatformTargetType.ORGANIZATION)
    ORGANIZATION_ACTIVATED = ("organization.activated", PlatformTargetType.ORGANIZATION)
    ORGANIZATION_TIER_CHANGED = ("organization.tier_changed", PlatformTargetType.ORGANIZATION)
    ORGANIZATION_DELETED = ("organization.deleted", PlatformTargetType.ORGANIZATION)
    TIER_CREATED = ("tier.created", PlatformTargetType.TIER)
    TIER_CHANGED = ("tier.changed", PlatformTargetType.TIER)
    TIER_DELETED = ("tier.deleted", PlatformTargetType.TIER)
    MFA_FORCE_DISABLED = ("mfa.force_disabled", PlatformTargetType.USER)
    OWNER_PROMOTED = ("platform_owner.promoted", PlatformTargetType.USER)
    OWNER_DEMOTED = ("platform_owner.demoted", PlatformTargetType.USER)
    IMPERSONATION_STARTED = ("impersonation.started", PlatformTargetType.USER)
    IMPERSONATION_STOPPED = ("impersonation.stopped", PlatformTargetType.USER)
    IMPERSONATION_ACTED = ("impersonation.acted", PlatformTargetType.USER)
    USER_ANONYMIZED = ("user.anonymized", PlatformTargetType.USER)
    # Every anonymization, as in the security log; one by a platform owner also has an entry of its own action.
    PERSON_ANONYMIZED = ("user_anonymized", PlatformTargetType.USER)
    USER_EXPORTED = ("user.exported", PlatformTargetType.USER)
    SUPPORT_APPOINTED = ("platform_support.appointed", PlatformTargetType.USER)
    SUPPORT_DEMOTED = ("platform_support.demoted", PlatformTargetType.USER)
    USER_OPENED = ("user.opened", PlatformTargetType.USER)
    LIST_NARROWED = ("list.narrowed", PlatformTargetType.LIST)
    USER_SESSIONS_ENDED = ("user.sessions_ended", PlatformTargetType.USER)
    USER_LOCKED = ("user.locked", PlatformTargetType.USER)
    USER_UNLOCKED = ("user.unlocked", PlatformTargetType.USER)
    USER_LIMITS_LIFTED = ("user.limits_lifted", PlatformTargetType.USER)
    ADDRESS_LIMITS_LIFTED = ("address.limits_lifted", PlatformTargetType.ADDRESS)
    USER_VERIFICATION_SENT = ("user.verification_sent", PlatformTargetType.USER)
    MAIL_RETRIED = ("mail.retried", PlatformTargetType.MAIL)
    SIGNING_KEY_ROTATED = ("signing_key.rotated", PlatformTargetType.KEY)
    SECRETS_REWRAPPED = ("secrets.rewrapped", PlatformTargetType.KEY)

    target_type: PlatformTargetType

    def __new__(cls, value: str, target_type: PlatformTargetType) -> PlatformAction:
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
    """Record an action of an impersonator that no organization's audit log records; nothing for any other caller."""
    caller = uow.caller
    if caller.limits.is_impersonated:
        uow.audit_platform(
            PlatformAction.IMPERSONATION_ACTED,
            caller.account.id,
            organization_id=organization_id,
            deed=deed,
            **details,
        )

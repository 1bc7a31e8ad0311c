"""What the audit logs record: the actions of operations 6.3, what each is about, and the shape of an entry.

Entries are written in the transaction of the change by `uow.audit`, so neither exists without the other. Reading them
back is a capability of its own; multi-factor events have a separate log beside theirs.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any
from uuid import UUID

from core.secrets import Secret


class TargetType(StrEnum):
    """What an action is done to."""

    USER = "user"
    SERVICE = "service"
    ORGANIZATION = "organization"
    PLAN = "plan"
    SUBSCRIPTION = "subscription"
    INVITATION = "invitation"
    API_KEY = "api_key"
    DOMAIN = "domain"
    BRANDING = "branding"


class AuditAction(Enum):
    """An action that an organization's audit log records, with its target (operations 6.3)."""

    USER_INVITED = ("user.invited", TargetType.USER)
    USER_JOINED = ("user.joined", TargetType.USER)
    USER_REMOVED = ("user.removed", TargetType.USER)
    USER_ROLE_UPDATED = ("user.role_updated", TargetType.USER)
    USER_ANONYMIZED = ("user.anonymized", TargetType.USER)
    SERVICE_CREATED = ("service.created", TargetType.SERVICE)
    SERVICE_UPDATED = ("service.updated", TargetType.SERVICE)
    SERVICE_DELETED = ("service.deleted", TargetType.SERVICE)
    SERVICE_OAUTH_CREDENTIALS_UPDATED = ("service.oauth_credentials.updated", TargetType.SERVICE)
    ORGANIZATION_UPDATED = ("organization.updated", TargetType.ORGANIZATION)
    ORGANIZATION_SMTP_CONFIGURED = ("organization.smtp.configured", TargetType.ORGANIZATION)
    ORGANIZATION_SMTP_REMOVED = ("organization.smtp.removed", TargetType.ORGANIZATION)
    PLAN_CREATED = ("plan.created", TargetType.PLAN)
    PLAN_UPDATED = ("plan.updated", TargetType.PLAN)
    PLAN_DELETED = ("plan.deleted", TargetType.PLAN)
    SUBSCRIPTION_CREATED = ("subscription.created", TargetType.SUBSCRIPTION)
    SUBSCRIPTION_UPDATED = ("subscription.updated", TargetType.SUBSCRIPTION)
    SUBSCRIPTION_CANCELED = ("subscription.canceled", TargetType.SUBSCRIPTION)
    INVITATION_ACCEPTED = ("invitation.accepted", TargetType.INVITATION)
    INVITATION_DECLINED = ("invitation.declined", TargetType.INVITATION)
    INVITATION_EXPIRED = ("invitation.expired", TargetType.INVITATION)
    INVITATION_REVOKED = ("invitation.revoked", TargetType.INVITATION)
    SECURITY_MFA_ENABLED = ("security.mfa.enabled", TargetType.USER)
    SECURITY_MFA_DISABLED = ("security.mfa.disabled", TargetType.USER)
    SECURITY_PASSWORD_CHANGED = ("security.password.changed", TargetType.USER)
    API_KEY_CREATED = ("api_key.created", TargetType.API_KEY)
    API_KEY_DELETED = ("api_key.deleted", TargetType.API_KEY)
    DOMAIN_SET = ("domain.set", TargetType.ORGANIZATION)
    DOMAIN_VERIFIED = ("domain.verified", TargetType.ORGANIZATION)
    DOMAIN_DELETED = ("domain.deleted", TargetType.ORGANIZATION)
    BRANDING_UPDATED = ("branding.updated", TargetType.ORGANIZATION)

    target_type: TargetType

    def __new__(cls, value: str, target_type: TargetType) -> "AuditAction":
        member = object.__new__(cls)
        member._value_ = value
        member.target_type = target_type
        return member


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One line of an organization's audit log."""

    id: UUID
    organization_id: UUID
    actor_user_id: UUID | None
    action: AuditAction
    target_id: str
    ip_address: str | None
    user_agent: str | None
    success: bool
    details: dict[str, Any]
    created_at: datetime

    def __post_init__(self) -> None:
        assert not any(isinstance(value, Secret) for value in self.details.values()), "an audit entry has no secret"

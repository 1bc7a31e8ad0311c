"""The vocabulary of the audit logs of organizations and of the platform: the actions, and the target of each.

`uow.record` writes an entry and publishes the event of the same name, in the transaction of the change, so none of the
three exists without the others. Reading entries is in `core/audit/`; multi-factor events have a separate log.

`uow.audit` and `uow.publish` do one of the two, and `uow.audit_platform` writes to the log of the platform, which is
separate, has the same shape, and keeps entries on deleted organizations. All of them name the impersonator, if there is
one.

A new action is an `EventType` with its label and sentence, an `AuditAction` here with its target, its words on pages
(`entrypoints/pages/events/actions.py`) with their translations, what causes it in
`tests/http/webhooks/test_event_types.py`, and its name in `tests/core/events/test_actions.py`. One of the platform
is a line of `PlatformAction` with words in the same file of pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.secrets import Secret

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class TargetType(StrEnum):
    """The type of the target of an action."""

    USER = "user"
    SERVICE = "service"
    ORGANIZATION = "organization"
    PLAN = "plan"
    SUBSCRIPTION = "subscription"
    INVITATION = "invitation"
    API_KEY = "api_key"
    WORKLOAD = "workload"
    DOMAIN = "domain"
    BRANDING = "branding"
    GROUP = "group"
    CUSTOMER = "customer"


class AuditAction(Enum):
    """An action that an organization's audit log records, with the event of the same name."""

    USER_INVITED = (EventType.USER_INVITED, TargetType.USER)
    USER_JOINED = (EventType.USER_JOINED, TargetType.USER)
    USER_REMOVED = (EventType.USER_REMOVED, TargetType.USER)
    USER_ROLE_UPDATED = (EventType.USER_ROLE_UPDATED, TargetType.USER)
    USER_UPDATED = (EventType.USER_UPDATED, TargetType.USER)
    USER_DEACTIVATED = (EventType.USER_DEACTIVATED, TargetType.USER)
    USER_REACTIVATED = (EventType.USER_REACTIVATED, TargetType.USER)
    USER_ANONYMIZED = (EventType.USER_ANONYMIZED, TargetType.USER)
    USER_IMPERSONATED = (EventType.USER_IMPERSONATED, TargetType.USER)
    USER_EXPORTED = (EventType.USER_EXPORTED, TargetType.USER)
    ACCOUNT_LOCKED = (EventType.ACCOUNT_LOCKED, TargetType.USER)
    SESSION_REVOKED = (EventType.SESSION_REVOKED, TargetType.USER)
    GROUP_CREATED = (EventType.GROUP_CREATED, TargetType.GROUP)
    GROUP_CHANGED = (EventType.GROUP_CHANGED, TargetType.GROUP)
    GROUP_DELETED = (EventType.GROUP_DELETED, TargetType.GROUP)
    CUSTOMER_OFFERED = (EventType.CUSTOMER_OFFERED, TargetType.CUSTOMER)
    CUSTOMER_ACCEPTED = (EventType.CUSTOMER_ACCEPTED, TargetType.CUSTOMER)
    CUSTOMER_DECLINED = (EventType.CUSTOMER_DECLINED, TargetType.CUSTOMER)
    CUSTOMER_PAUSED = (EventType.CUSTOMER_PAUSED, TargetType.CUSTOMER)
    CUSTOMER_RESUMED = (EventType.CUSTOMER_RESUMED, TargetType.CUSTOMER)
    CUSTOMER_ENDED = (EventType.CUSTOMER_ENDED, TargetType.CUSTOMER)
    CUSTOMER_OWNER_NAMED = (EventType.CUSTOMER_OWNER_NAMED, TargetType.CUSTOMER)
    CUSTOMER_CLAIMED = (EventType.CUSTOMER_CLAIMED, TargetType.CUSTOMER)
    CUSTOMER_CHANGED = (EventType.CUSTOMER_CHANGED, TargetType.CUSTOMER)
    CUSTOMER_USER_ADDED = (EventType.CUSTOMER_USER_ADDED, TargetType.USER)
    CUSTOMER_USER_CHANGED = (EventType.CUSTOMER_USER_CHANGED, TargetType.USER)
    CUSTOMER_USER_REMOVED = (EventType.CUSTOMER_USER_REMOVED, TargetType.USER)
    PRODUCT_ACCESS_ACCEPTED = (EventType.PRODUCT_ACCESS_ACCEPTED, TargetType.CUSTOMER)
    PRODUCT_ACCESS_DECLINED = (EventType.PRODUCT_ACCESS_DECLINED, TargetType.CUSTOMER)
    PRODUCT_ACCESS_PAUSED = (EventType.PRODUCT_ACCESS_PAUSED, TargetType.CUSTOMER)
    PRODUCT_ACCESS_RESUMED = (EventType.PRODUCT_ACCESS_RESUMED, TargetType.CUSTOMER)
    PRODUCT_ACCESS_ENDED = (EventType.PRODUCT_ACCESS_ENDED, TargetType.CUSTOMER)
    PRODUCT_ACCESS_UPDATED = (EventType.PRODUCT_ACCESS_UPDATED, TargetType.CUSTOMER)
    SERVICE_CREATED = (EventType.SERVICE_CREATED, TargetType.SERVICE)
    SERVICE_UPDATED = (EventType.SERVICE_UPDATED, TargetType.SERVICE)
    SERVICE_ACCESS_CHANGED = (EventType.SERVICE_ACCESS_CHANGED, TargetType.SERVICE)
    SERVICE_DELETED = (EventType.SERVICE_DELETED, TargetType.SERVICE)
    SERVICE_OAUTH_CREDENTIALS_UPDATED = (EventType.SERVICE_OAUTH_CREDENTIALS_UPDATED, TargetType.SERVICE)
    ORGANIZATION_UPDATED = (EventType.ORGANIZATION_UPDATED, TargetType.ORGANIZATION)
    ORGANIZATION_DELETED = (EventType.ORGANIZATION_DELETED, TargetType.ORGANIZATION)
    ORGANIZATION_RESTORED = (EventType.ORGANIZATION_RESTORED, TargetType.ORGANIZATION)
    ORGANIZATION_CLAIMED = (EventType.ORGANIZATION_CLAIMED, TargetType.ORGANIZATION)
    ORGANIZATION_SMTP_CONFIGURED = (EventType.ORGANIZATION_SMTP_CONFIGURED, TargetType.ORGANIZATION)
    ORGANIZATION_SMTP_REMOVED = (EventType.ORGANIZATION_SMTP_REMOVED, TargetType.ORGANIZATION)
    ORGANIZATION_SMTP_TESTED = (EventType.ORGANIZATION_SMTP_TESTED, TargetType.ORGANIZATION)
    PLAN_CREATED = (EventType.PLAN_CREATED, TargetType.PLAN)
    PLAN_UPDATED = (EventType.PLAN_UPDATED, TargetType.PLAN)
    PLAN_DELETED = (EventType.PLAN_DELETED, TargetType.PLAN)
    SUBSCRIPTION_CREATED = (EventType.SUBSCRIPTION_CREATED, TargetType.SUBSCRIPTION)
    SUBSCRIPTION_UPDATED = (EventType.SUBSCRIPTION_UPDATED, TargetType.SUBSCRIPTION)
    SUBSCRIPTION_CANCELED = (EventType.SUBSCRIPTION_CANCELED, TargetType.SUBSCRIPTION)
    INVITATION_ACCEPTED = (EventType.INVITATION_ACCEPTED, TargetType.INVITATION)
    INVITATION_DECLINED = (EventType.INVITATION_DECLINED, TargetType.INVITATION)
    INVITATION_EXPIRED = (EventType.INVITATION_EXPIRED, TargetType.INVITATION)
    INVITATION_REVOKED = (EventType.INVITATION_REVOKED, TargetType.INVITATION)
    SECURITY_MFA_ENABLED = (EventType.SECURITY_MFA_ENABLED, TargetType.USER)
    SECURITY_MFA_DISABLED = (EventType.SECURITY_MFA_DISABLED, TargetType.USER)
    SECURITY_PASSWORD_CHANGED = (EventType.SECURITY_PASSWORD_CHANGED, TargetType.USER)
    API_KEY_CREATED = (EventType.API_KEY_CREATED, TargetType.API_KEY)
    API_KEY_DELETED = (EventType.API_KEY_DELETED, TargetType.API_KEY)
    WORKLOAD_CREATED = (EventType.WORKLOAD_CREATED, TargetType.WORKLOAD)
    WORKLOAD_DELETED = (EventType.WORKLOAD_DELETED, TargetType.WORKLOAD)
    ORGANIZATION_KEY_CREATED = (EventType.ORGANIZATION_KEY_CREATED, TargetType.API_KEY)
    ORGANIZATION_KEY_DELETED = (EventType.ORGANIZATION_KEY_DELETED, TargetType.API_KEY)
    DOMAIN_SET = (EventType.DOMAIN_SET, TargetType.ORGANIZATION)
    DOMAIN_VERIFIED = (EventType.DOMAIN_VERIFIED, TargetType.ORGANIZATION)
    DOMAIN_DELETED = (EventType.DOMAIN_DELETED, TargetType.ORGANIZATION)
    BRANDING_UPDATED = (EventType.BRANDING_UPDATED, TargetType.ORGANIZATION)
    SAML_CONFIGURATION_UPDATED = (EventType.SAML_CONFIGURATION_UPDATED, TargetType.SERVICE)
    SAML_CERTIFICATE_CREATED = (EventType.SAML_CERTIFICATE_CREATED, TargetType.SERVICE)
    SCIM_TOKEN_CREATED = (EventType.SCIM_TOKEN_CREATED, TargetType.ORGANIZATION)
    SCIM_TOKEN_REVOKED = (EventType.SCIM_TOKEN_REVOKED, TargetType.ORGANIZATION)
    SCIM_KEPT = (EventType.SCIM_KEPT, TargetType.ORGANIZATION)
    SIEM_CONFIGURED = (EventType.SIEM_CONFIGURED, TargetType.ORGANIZATION)
    SIEM_REMOVED = (EventType.SIEM_REMOVED, TargetType.ORGANIZATION)
    SIEM_TESTED = (EventType.SIEM_TESTED, TargetType.ORGANIZATION)
    AUDIT_LOG_EXPORTED = (EventType.AUDIT_LOG_EXPORTED, TargetType.ORGANIZATION)
    BILLING_PORTAL_OPENED = (EventType.BILLING_PORTAL_OPENED, TargetType.ORGANIZATION)
    WEBHOOK_TESTED = (EventType.WEBHOOK_TESTED, TargetType.ORGANIZATION)
    WEBHOOK_REDELIVERED = (EventType.WEBHOOK_REDELIVERED, TargetType.ORGANIZATION)
    UPSTREAM_CONNECTION_CREATED = (EventType.UPSTREAM_CONNECTION_CREATED, TargetType.ORGANIZATION)
    UPSTREAM_CONNECTION_UPDATED = (EventType.UPSTREAM_CONNECTION_UPDATED, TargetType.ORGANIZATION)
    UPSTREAM_CONNECTION_DELETED = (EventType.UPSTREAM_CONNECTION_DELETED, TargetType.ORGANIZATION)
    CONNECTION_CERTIFICATES_REPLACED = (EventType.CONNECTION_CERTIFICATES_REPLACED, TargetType.ORGANIZATION)
    DOMAIN_ROUTE_CREATED = (EventType.DOMAIN_ROUTE_CREATED, TargetType.ORGANIZATION)
    DOMAIN_ROUTE_UPDATED = (EventType.DOMAIN_ROUTE_UPDATED, TargetType.ORGANIZATION)
    DOMAIN_ROUTE_VERIFIED = (EventType.DOMAIN_ROUTE_VERIFIED, TargetType.ORGANIZATION)
    DOMAIN_ROUTE_DELETED = (EventType.DOMAIN_ROUTE_DELETED, TargetType.ORGANIZATION)

    event: EventType
    target_type: TargetType

    def __new__(cls, event: EventType, target_type: TargetType) -> AuditAction:
        member = object.__new__(cls)
        member._value_ = event.value
        member.event = event
        member.target_type = target_type
        return member


@dataclass(frozen=True, slots=True, kw_only=True)
class AlikeTargets:
    """Pairs of organization and target id for one action on all of them."""

    targets: Sequence[tuple[UUID, UUID]]
    details: Mapping[str, Any]


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
        assert not any(isinstance(value, Secret) for value in self.details.values()), (
            "a detail of an audit entry is a secret"
        )


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

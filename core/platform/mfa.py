"""Second factors for platform owners: the status of one user, metrics of all, possible attacks, and forced disabling.

A platform owner disables the second factor of users who have lost it and all backup codes. Their sessions stay, because
these were authenticated with it; their devices are no longer remembered, and they get a mail.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.accounts import support_access
from core.accounts.support_access import RecordPart
from core.accounts.users import UserUnknown
from core.credentials import factors, mfa
from core.credentials.mfa import MfaEvent
from core.errors import BadRequest, Conflict
from core.events.actions import AuditAction, PlatformAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations.authorization import authorize_platform, authorize_support
from core.text import checked_reason

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

METRICS_WINDOW: Final = timedelta(days=7)
ALERTS_WINDOW: Final = timedelta(days=7)
ALERTS_MAX: Final = 100
MANY_FAILURES: Final = 5
FAILURES_WITHIN: Final = timedelta(minutes=15)
# Only the newest are read, because during an attack there may be any number.
FAILURES_READ_MAX: Final = 10_000
RISKY_SIGN_IN_PERCENT: Final = 70
DISABLED_WITHIN: Final = timedelta(hours=1)
_PERCENT: Final = 100
_DECIMALS: Final = 2


class UserMfaNotEnabled(BadRequest):
    """The user has no second factor to disable."""

    default_message = "This user has not enabled multi-factor authentication."


class UserMfaChanged(Conflict):
    """The user has set up another second factor since the page was shown."""

    default_message = (
        "This user has set up another second factor since this page was opened. Ask them whether they can sign in now,"
        " before you turn it off."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMfaStatus:
    """A user's second factor; `last_mfa_challenge` is when the user last tried a code."""

    user_id: UUID
    email: str
    mfa_enabled: bool
    mfa_enabled_at: datetime | None
    backup_codes_remaining: int
    last_mfa_challenge: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MfaCounts:
    """Counts of the second factors of all users."""

    total_users: int
    mfa_enabled_users: int
    backup_codes_used: int
    mfa_failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MfaMetrics:
    """Metrics of the second factors of all users; the rate is in percent of all accounts."""

    total_users: int
    mfa_enabled_users: int
    mfa_adoption_rate: float
    backup_codes_used_7d: int
    mfa_failures_7d: int


class MfaAlertType(StrEnum):
    """The reason of an alert."""

    MANY_MFA_FAILURES = "many_mfa_failures"
    BACKUP_CODE_FROM_NEW_DEVICE = "backup_code_from_new_device"
    MFA_DISABLED_AFTER_RISKY_SIGN_IN = "mfa_disabled_after_risky_sign_in"


@dataclass(frozen=True, slots=True, kw_only=True)
class MfaAlert:
    """A possible attack on a user's second factor."""

    user_id: UUID
    email: str
    alert_type: MfaAlertType
    details: dict[str, Any]
    detected_at: datetime


def status(uow: UnitOfWork, user_id: UUID) -> UserMfaStatus:
    """Return the status of a user's second factor."""
    support_access.open_record(uow, user_id, RecordPart.SECOND_FACTOR)
    found = uow.platform_mfa.status(user_id)
    assert found is not None, "an account that was found has no status"
    return found


def status_to_disable(uow: UnitOfWork, user_id: UUID) -> UserMfaStatus:
    """Return the status of a second factor that the caller, a platform owner, is about to disable."""
    authorize_platform(uow)
    return status(uow, user_id)


def force_disable(uow: UnitOfWork, user_id: UUID, reason: str, *, seen: str | None = None) -> None:
    """Disable a user's second factor, record it everywhere, and notify the user by mail.

    `seen` is the time, as ISO 8601, since when it was on as the page has shown; raise `UserMfaChanged` if that differs.
    """
    caller = authorize_platform(uow)
    # Else a platform owner could turn off their own second factor with the first factor alone.
    factors.require_proved(uow, caller)
    reason = checked_reason(reason)
    user = uow.users.lock(user_id)
    if user is None:
        raise UserUnknown
    if seen is not None and user.mfa_enabled_at is not None and user.mfa_enabled_at.isoformat() != seen:
        raise UserMfaChanged
    if not mfa.remove(uow, user.id):
        raise UserMfaNotEnabled
    mfa.record_event(uow, MfaEvent.FORCE_DISABLED_BY_ADMIN, user.id, disabled_by=str(caller.account.id))
    organizations = uow.members.organizations_of(user.id)
    for event in (EventType.USER_MFA_DISABLED, EventType.SECURITY_MFA_DISABLED):
        uow.publish_to_each(
            event,
            organizations or (None,),
            actor_user_id=caller.account.id,
            actor_email=caller.account.email,
            user_id=str(user.id),
        )
    for organization_id in organizations:
        uow.audit(AuditAction.SECURITY_MFA_DISABLED, user.id, organization_id=organization_id, by_platform_owner=True)
    # Only platform owners may read the reason, because it may contain personal data of others.
    uow.audit_platform(PlatformAction.MFA_FORCE_DISABLED, user.id, reason=reason)
    mail.send(uow, user.email, MailTemplate.MFA_FORCE_DISABLED, at=uow.now.strftime("%Y-%m-%d %H:%M UTC"))


def metrics(uow: UnitOfWork) -> MfaMetrics:
    """Return the metrics of all users' second factors, with the events of the last seven days."""
    authorize_support(uow)
    counts = uow.elsewhere.platform_mfa.counts(since=uow.now - METRICS_WINDOW)
    return MfaMetrics(
        total_users=counts.total_users,
        mfa_enabled_users=counts.mfa_enabled_users,
        # The caller has an account, so the total is never zero.
        mfa_adoption_rate=round(_PERCENT * counts.mfa_enabled_users / counts.total_users, _DECIMALS),
        backup_codes_used_7d=counts.backup_codes_used,
        mfa_failures_7d=counts.mfa_failures,
    )


def suspicious(uow: UnitOfWork) -> Sequence[MfaAlert]:
    """List the possible attacks on second factors in the last seven days, the newest first."""
    hides_owners = not authorize_support(uow).acts_as_platform_owner
    return uow.elsewhere.platform_mfa.alerts(since=uow.now - ALERTS_WINDOW, limit=ALERTS_MAX, hides_owners=hides_owners)

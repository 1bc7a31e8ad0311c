"""Multi-factor authentication for its owner: set up an app, confirm it with a code, turn it off, renew backup codes.

Codes at sign-in are in `core/sign_in/second_factor.py`, backup codes in `backup_codes.py`. An impersonator may do none
of this: the new secret or codes would give lasting access to the account. Nor may a session with one factor where two
are asked for (`factors.py`). The account is locked, so that a change and a concurrent lockout of the account come one
after the other.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.credentials import backup_codes, factors, mfa_events
from core.credentials.mfa_events import MfaEvent
from core.errors import BadRequest, Refusal
from core.events import person_events
from core.events.actions import AuditAction
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import platform_support
from core.secrets import Secret
from core.sessions import callers
from core.sessions.callers import Caller
from core.sessions.sessions import MFA, OTP

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

_TOTP_CODE: Final = re.compile(r"[0-9]{6}")


class MfaNotSetUp(BadRequest):
    """The user has no secret, pending or enabled."""

    default_message = "Multi-factor authentication is not set up yet. Begin with POST /api/user/mfa/setup."


class MfaAlreadyEnabled(BadRequest):
    """A working secret is not replaced by accident."""

    default_message = "Multi-factor authentication is already on. To set it up again, turn it off first."


class MfaNotEnabled(BadRequest):
    """Backup codes replace a second factor, and the user has none."""

    default_message = "Multi-factor authentication is off. Turn it on first."


class SetupCodeWrong(BadRequest):
    """The app shows a different code: it has another secret, or its clock is wrong."""

    default_message = (
        "This code is wrong. Wait for the next one and try again. If that fails too, check that the clock of your"
        " device is set automatically, or start again with POST /api/user/mfa/setup."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MfaStatus:
    """Whether sign-ins require a second factor, and whether the user has unused backup codes."""

    enabled: bool
    has_backup_codes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TotpSecret:
    """The secret shared with an authenticator app; it is pending until a code proves that the app has it."""

    secret: Secret
    enabled_at: datetime | None
    # Whether it was made in a session that another party could have begun, which then knows it (decisions 2.8).
    is_of_limited_session: bool

    @property
    def is_enabled(self) -> bool:
        """Whether sign-ins require a code of this secret."""
        return self.enabled_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TotpSetup:
    """A pending secret, and the URI that an authenticator app reads from a QR code; shown once."""

    secret: Secret
    uri: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Enabled:
    """Multi-factor authentication is on; the backup codes are shown once."""

    codes: tuple[Secret, ...]


def status(uow: UnitOfWork) -> MfaStatus:
    """Return the status of the caller's multi-factor authentication."""
    return uow.totp_secrets.status(uow.caller.user_id)


def set_up(uow: UnitOfWork) -> TotpSetup:
    """Make a secret for the caller's app, in place of a pending one."""
    caller = _owner(uow)
    secret = uow.totp.new_secret()
    if not uow.totp_secrets.put_pending(caller.user_id, secret, at=uow.now, is_of_limited_session=caller.is_limited):
        raise MfaAlreadyEnabled
    mfa_events.record(uow, MfaEvent.SETUP_INITIATED, caller.user_id)
    return TotpSetup(secret=secret, uri=uow.totp.uri(secret, caller.email))


def pending_setup(uow: UnitOfWork) -> TotpSetup:
    """Return the secret that waits for its first code, to show it once more; raise `MfaNotSetUp` without one."""
    caller = _owner(uow)
    pending = uow.totp_secrets.lock(caller.user_id)
    if pending is None or pending.is_enabled:
        raise MfaNotSetUp
    return TotpSetup(secret=pending.secret, uri=uow.totp.uri(pending.secret, caller.email))


def enable(uow: UnitOfWork, code: str) -> Enabled | Refusal:
    """Turn MFA on with a code of the app. The code's time step stays unused: the same code may sign in right away.

    The code counts as the second factor of this session, so that an organization that asks for two admits it.
    """
    caller = _owner(uow)
    digits = totp_code(code)
    if digits is None:
        raise BadRequest.of_field("code", "This must be the six digits that your authenticator app shows.")
    pending = uow.totp_secrets.lock(caller.user_id)
    if pending is None:
        raise MfaNotSetUp
    if pending.is_enabled:
        raise MfaAlreadyEnabled
    if uow.totp.step_of(pending.secret, digits, at=uow.now) is None:
        mfa_events.record(uow, MfaEvent.SETUP_FAILED, caller.user_id)
        return SetupCodeWrong()

    uow.totp_secrets.enable(caller.user_id, at=uow.now)
    callers.record_whole_account_changed(uow, caller, is_limited=pending.is_of_limited_session)
    uow.sessions.add_methods(caller.session_id, (OTP, MFA))
    mfa_events.record(uow, MfaEvent.SETUP_COMPLETED, caller.user_id)
    mfa_events.record(uow, MfaEvent.ENABLED, caller.user_id)
    codes = backup_codes.issue(uow, caller.user_id)
    person_events.publish(uow, EventType.USER_MFA_ENABLED, caller.user_id, caller.email)
    person_events.record(uow, AuditAction.SECURITY_MFA_ENABLED, caller.user_id, caller.email)
    _send_mail(uow, caller.email, MailTemplate.MFA_ENABLED)
    return Enabled(codes=codes)


def disable(uow: UnitOfWork) -> None:
    """Turn MFA off and delete a pending setup; without either nothing happens."""
    caller = _owner(uow)
    if remove(uow, caller.user_id):
        callers.record_whole_account_changed(uow, caller)
        _record_disabled(uow, caller.user_id, caller.email)


def renew_backup_codes(uow: UnitOfWork) -> tuple[Secret, ...]:
    """Replace the caller's backup codes by ten new ones, and return these."""
    caller = _owner(uow)
    # Locked, so that two concurrent renewals do not leave twenty codes.
    found = uow.totp_secrets.lock(caller.user_id)
    if found is None or not found.is_enabled:
        raise MfaNotEnabled
    callers.record_whole_account_changed(uow, caller)
    return backup_codes.issue(uow, caller.user_id)


def remove(uow: UnitOfWork, user_id: UUID) -> bool:
    """Delete a user's secret, backup codes and device trust; return whether MFA was on.

    An appointment to the platform's support, which requires it, ends for good (decisions 5.12).
    """
    # The secret first: a concurrent renewal of the codes holds its row.
    was_enabled = uow.totp_secrets.remove(user_id)
    uow.backup_codes.remove(user_id)
    # A device that is trusted in place of this factor must not replace the next one.
    uow.devices.revoke_trust(user_id)
    platform_support.end_appointment(uow, user_id, reason="second_factor_removed")
    return was_enabled


def remove_added_since(uow: UnitOfWork, user_id: UUID, email: str, *, since: datetime) -> None:
    """Remove an app that was set up since a moment, or backup codes added since to an older app.

    The caller has locked the account.
    """
    found = uow.totp_secrets.lock(user_id)
    if found is not None and (found.enabled_at is None or found.enabled_at >= since):
        if remove(uow, user_id):
            _record_disabled(uow, user_id, email)
    else:
        uow.backup_codes.remove(user_id, made_since=since)


def totp_code(typed: str) -> str | None:
    """Return the six digits of an app's code, without the spaces of groups; None when the input is no such code."""
    code = "".join(typed.split())
    return code if _TOTP_CODE.fullmatch(code) else None


def _owner(uow: UnitOfWork) -> Caller:
    caller = callers.lock_whole_account(uow)
    factors.require_proved(uow, caller)
    return caller


def _record_disabled(uow: UnitOfWork, user_id: UUID, email: str) -> None:
    mfa_events.record(uow, MfaEvent.DISABLED, user_id)
    person_events.publish(uow, EventType.USER_MFA_DISABLED, user_id, email)
    person_events.record(uow, AuditAction.SECURITY_MFA_DISABLED, user_id, email)
    _send_mail(uow, email, MailTemplate.MFA_DISABLED)


def _send_mail(uow: UnitOfWork, email: str, template: MailTemplate) -> None:
    mail.send(
        uow,
        email,
        template,
        ip_address=uow.origin.ip_address or "unknown",
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
    )

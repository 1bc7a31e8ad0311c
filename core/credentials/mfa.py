"""Multi-factor authentication as its owner sees it: set up an app, prove it with a code, turn it off, renew the codes.

Codes at sign-in are in `mfa_login.py`, what a backup code is in `backup_codes.py`. Nothing here may be done by an
impersonator: the new secret, or the new codes, would open the account for good. And of whoever changes something and
whoever shuts them out at the same moment, one comes first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from core.credentials import backup_codes, mfa_events
from core.credentials.mfa_events import MfaEvent
from core.errors import BadRequest, Refusal
from core.events import person_events
from core.events.actions import AuditAction
from core.events.events import EventType
from core.mail import mail
from core.mail.mail import MailTemplate
from core.sessions import callers

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from core.secrets import Secret
    from core.sessions.callers import Caller
    from ports.unit_of_work import UnitOfWork

_TOTP_CODE: Final = re.compile(r"[0-9]{6}")


class MfaNotSetUp(BadRequest):
    """There is no secret that a code could belong to."""

    default_message = "Multi-factor authentication is not set up yet. Begin with POST /api/user/mfa/setup."


class MfaAlreadyEnabled(BadRequest):
    """It works already, and what works is not replaced by accident."""

    default_message = "Multi-factor authentication is on already. To set it up anew, turn it off first."


class MfaNotEnabled(BadRequest):
    """There is nothing that backup codes could stand in for."""

    default_message = "Multi-factor authentication is off. Turn it on first."


class SetupCodeWrong(BadRequest):
    """The app shows another code: it read another secret, or its clock is wrong."""

    default_message = (
        "This code is not right. Wait for the next one and try again. If none is, check that the clock of your device"
        " is set automatically, or begin anew with POST /api/user/mfa/setup."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MfaStatus:
    """Whether a second factor is asked for, and whether there is a way in without the app."""

    enabled: bool
    has_backup_codes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TotpSecret:
    """What an authenticator app shares with us; until a code has proved that it does, the secret is pending."""

    secret: Secret
    enabled_at: datetime | None

    @property
    def is_enabled(self) -> bool:
        """Whether codes of this secret are asked for at sign-in."""
        return self.enabled_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A pending secret, and what an authenticator app reads from a QR code; shown once."""

    secret: Secret
    uri: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Enabled:
    """It is on; the backup codes are shown once."""

    codes: tuple[Secret, ...]


def status(uow: UnitOfWork) -> MfaStatus:
    """Say how it stands."""
    return uow.totp_secrets.status(uow.caller.user_id)


def set_up(uow: UnitOfWork) -> Setup:
    """Make a secret for the caller's app; one that is still pending is replaced."""
    caller = _owner(uow)
    secret = uow.totp.new_secret()
    if not uow.totp_secrets.put_pending(caller.user_id, secret, at=uow.now):
        raise MfaAlreadyEnabled
    mfa_events.record(uow, MfaEvent.SETUP_INITIATED, caller.user_id)
    return Setup(secret=secret, uri=uow.totp.uri(secret, caller.email))


def enable(uow: UnitOfWork, code: str) -> Enabled | Refusal:
    """Turn it on with a code of the app. The code's step stays unused, so that the same code may sign in at once."""
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
    mfa_events.record(uow, MfaEvent.SETUP_COMPLETED, caller.user_id)
    mfa_events.record(uow, MfaEvent.ENABLED, caller.user_id)
    codes = backup_codes.issue(uow, caller.user_id)
    person_events.publish(uow, EventType.USER_MFA_ENABLED, caller.user_id, caller.email)
    person_events.record(uow, AuditAction.SECURITY_MFA_ENABLED, caller.user_id, caller.email)
    _write_to(uow, caller.email, MailTemplate.MFA_ENABLED)
    return Enabled(codes=codes)


def disable(uow: UnitOfWork) -> None:
    """Turn it off and forget a pending setup; where there is neither, nothing happens."""
    caller = _owner(uow)
    if remove(uow, caller.user_id):
        _tell_disabled(uow, caller.user_id, caller.email)


def renew_backup_codes(uow: UnitOfWork) -> tuple[Secret, ...]:
    """Make ten new backup codes; every earlier one, used or not, is worth nothing from now on."""
    caller = _owner(uow)
    # Locked, so that two who renew at once do not end with twenty codes.
    found = uow.totp_secrets.lock(caller.user_id)
    if found is None or not found.is_enabled:
        raise MfaNotEnabled
    return backup_codes.issue(uow, caller.user_id)


def remove(uow: UnitOfWork, user_id: UUID) -> bool:
    """Delete a person's secret and codes, and what devices remember of them; say whether it was on."""
    # The secret first: whoever renews the codes at this moment holds its row.
    was_enabled = uow.totp_secrets.remove(user_id)
    uow.backup_codes.remove(user_id)
    # A device that remembers this factor must not stand in for the next one.
    uow.devices.forget_trust(user_id)
    return was_enabled


def take_back(uow: UnitOfWork, user_id: UUID, email: str, *, since: datetime) -> None:
    """Remove what was set up since a moment in an account that is locked: the app, or new codes to an older one."""
    found = uow.totp_secrets.lock(user_id)
    if found is not None and (found.enabled_at is None or found.enabled_at >= since):
        if remove(uow, user_id):
            _tell_disabled(uow, user_id, email)
    else:
        uow.backup_codes.remove(user_id, made_since=since)


def totp_code(typed: str) -> str | None:
    """Give the six digits of an app's code, which many apps show in groups; None when this is none."""
    code = "".join(typed.split())
    return code if _TOTP_CODE.fullmatch(code) else None


def _owner(uow: UnitOfWork) -> Caller:
    uow.caller.forbid_impersonated()
    return callers.lock(uow)


def _tell_disabled(uow: UnitOfWork, user_id: UUID, email: str) -> None:
    mfa_events.record(uow, MfaEvent.DISABLED, user_id)
    person_events.publish(uow, EventType.USER_MFA_DISABLED, user_id, email)
    person_events.record(uow, AuditAction.SECURITY_MFA_DISABLED, user_id, email)
    _write_to(uow, email, MailTemplate.MFA_DISABLED)


def _write_to(uow: UnitOfWork, email: str, template: MailTemplate) -> None:
    mail.send(
        uow,
        email,
        template,
        ip_address=uow.origin.ip_address or "unknown",
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
    )

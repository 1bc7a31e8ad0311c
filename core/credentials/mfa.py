"""Multi-factor authentication for its owner: an app, what turns it on and off, backup codes, and the log of both.

A second factor is an authenticator app, or a passkey that its owner has made one (`passkey_factors.py`); an account may
have one app and any of its passkeys. The first factor turns multi-factor authentication on and brings the backup codes;
removing the last one turns it off. Both happen in `settle_added` and `settle_removed` alone, and everything else asks
`User.has_mfa`.

Backup codes are stored as keyed hashes: an attacker with a copy of the database could guess forty bits, but not without
the installation's key. Sign-ins take codes in `core/sign_in/second_factor.py`. An impersonator may do none of this: the
new secret or codes would give lasting access to the account. Nor may a session with one factor where two are asked for
(`factors.py`). The account is locked, so that a change and a concurrent lockout of the account come one after the
other.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core.credentials import factors
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

# The event of the separate log that an app was removed; another factor may remain.
APP_REMOVED: Final = "mfa_app_removed"
_TOTP_CODE: Final = re.compile(r"[0-9]{6}")


class MfaNotSetUp(BadRequest):
    """The user has no secret, pending or enabled."""

    default_message = "Multi-factor authentication is not set up yet. Begin with POST /api/user/mfa/setup."


class MfaAlreadyEnabled(BadRequest):
    """A working secret is not replaced by accident."""

    default_message = "An authenticator app is set up already. To set it up again, turn it off first."


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
class OwnFactors:
    """The status, and whether an app is one of the factors; the list of passkeys says which of them are."""

    status: MfaStatus
    has_app: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Whether sign-ins required a second factor before a factor came or went, and whether they do now."""

    was_on: bool
    is_on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TotpSecret:
    """The secret shared with an authenticator app; it is pending until a code proves that the app has it."""

    secret: Secret
    enabled_at: datetime | None
    # Whether it was made in a session that another party could have begun, which then knows it.
    is_of_limited_session: bool

    @property
    def is_enabled(self) -> bool:
        """Whether sign-ins accept a code of this secret."""
        return self.enabled_at is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TotpSetup:
    """A pending secret, and the URI that an authenticator app reads from a QR code; shown once."""

    secret: Secret
    uri: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Enabled:
    """Multi-factor authentication is on; the backup codes are shown once, and there are none beside another factor."""

    codes: tuple[Secret, ...]


def status(uow: UnitOfWork) -> MfaStatus:
    """Return the status of the caller's multi-factor authentication."""
    return uow.second_factors.status(uow.caller.account.id)


def list_own(uow: UnitOfWork) -> OwnFactors:
    """Return what the page of the caller's second factors shows beside their passkeys."""
    user_id = uow.caller.account.id
    return OwnFactors(status=uow.second_factors.status(user_id), has_app=uow.second_factors.has_app(user_id))


def set_up(uow: UnitOfWork) -> TotpSetup:
    """Make a secret for the caller's app, in place of a pending one."""
    caller = _owner(uow)
    secret = uow.totp.new_secret()
    if not uow.totp_secrets.put_pending(caller.account.id, secret, at=uow.now, is_of_limited_session=caller.is_limited):
        raise MfaAlreadyEnabled
    record_event(uow, MfaEvent.SETUP_INITIATED, caller.account.id)
    return TotpSetup(secret=secret, uri=uow.totp.uri(secret, caller.account.email))


def pending_setup(uow: UnitOfWork) -> TotpSetup:
    """Return the secret that waits for its first code, to show it once more; raise `MfaNotSetUp` without one."""
    caller = _owner(uow)
    pending = uow.totp_secrets.lock(caller.account.id)
    if pending is None or pending.is_enabled:
        raise MfaNotSetUp
    return TotpSetup(secret=pending.secret, uri=uow.totp.uri(pending.secret, caller.account.email))


def enable(uow: UnitOfWork, code: str) -> Enabled | Refusal:
    """Make the app a second factor with a code of it. The code's time step stays unused: it may sign in right away.

    The code counts as the second factor of this session, so that an organization that asks for two admits it.
    """
    caller = _owner(uow)
    digits = totp_code(code)
    if digits is None:
        raise BadRequest.of_field("code", "This must be the six digits that your authenticator app shows.")
    pending = uow.totp_secrets.lock(caller.account.id)
    if pending is None:
        raise MfaNotSetUp
    if pending.is_enabled:
        raise MfaAlreadyEnabled
    if uow.totp.step_of(pending.secret, digits, at=uow.now) is None:
        record_event(uow, MfaEvent.SETUP_FAILED, caller.account.id)
        return SetupCodeWrong()

    uow.totp_secrets.enable(caller.account.id, at=uow.now)
    callers.record_whole_account_changed(uow, caller, is_limited=pending.is_of_limited_session)
    uow.sessions.add_methods(caller.session.id, (OTP, MFA))
    record_event(uow, MfaEvent.SETUP_COMPLETED, caller.account.id)
    return Enabled(codes=settle_added(uow, caller.account.id, caller.account.email))


def disable(uow: UnitOfWork) -> None:
    """Turn MFA off, with every second factor, and delete a pending setup; without any nothing happens."""
    caller = _owner(uow)
    if remove(uow, caller.account.id):
        callers.record_whole_account_changed(uow, caller)
        _record_disabled(uow, caller.account.id, caller.account.email)


def remove_app(uow: UnitOfWork) -> None:
    """Remove the app alone, or a pending setup; without either nothing happens."""
    caller = _owner(uow)
    if uow.totp_secrets.remove(caller.account.id):
        callers.record_whole_account_changed(uow, caller)
        uow.mfa_events.add(caller.account.id, APP_REMOVED, is_success=True, details={})
        settle_removed(uow, caller.account.id, caller.account.email)


def renew_backup_codes(uow: UnitOfWork) -> tuple[Secret, ...]:
    """Replace the caller's backup codes by ten new ones, and return these."""
    caller = _owner(uow)
    # The account is locked, so that two concurrent renewals do not leave twenty codes.
    if not uow.second_factors.status(caller.account.id).enabled:
        raise MfaNotEnabled
    callers.record_whole_account_changed(uow, caller)
    return issue_backup_codes(uow, caller.account.id)


def settle_added(uow: UnitOfWork, user_id: UUID, email: str, *, name: str = "") -> tuple[Secret, ...]:
    """Turn MFA on if the factor that was just added is the first one, and return the backup codes; else return none.

    `name` is a passkey's, empty for an app. The caller has locked the account.
    """
    if uow.second_factors.settle(user_id, at=uow.now).was_on:
        _send_mail_about(uow, email, MailTemplate.MFA_FACTOR_ADDED, name)
        return ()
    record_event(uow, MfaEvent.ENABLED, user_id)
    codes = issue_backup_codes(uow, user_id)
    person_events.publish(uow, EventType.USER_MFA_ENABLED, user_id, email)
    person_events.record(uow, AuditAction.SECURITY_MFA_ENABLED, user_id, email)
    _send_mail(uow, email, MailTemplate.MFA_ENABLED)
    return codes


def settle_removed(uow: UnitOfWork, user_id: UUID, email: str, *, name: str = "") -> None:
    """Turn MFA off if the factor that was just removed was the last one; as `settle_added`."""
    if uow.second_factors.settle(user_id, at=uow.now).is_on:
        _send_mail_about(uow, email, MailTemplate.MFA_FACTOR_REMOVED, name)
        return
    _remove_what_hangs_on_it(uow, user_id)
    _record_disabled(uow, user_id, email)


def remove(uow: UnitOfWork, user_id: UUID) -> bool:
    """Remove a user's second factors of every kind, backup codes and device trust; return whether MFA was on.

    Passkeys still sign in. An appointment to the platform's support, which requires a factor, ends for good.
    """
    uow.totp_secrets.remove(user_id)
    uow.passkeys.remove_from_factors(user_id)
    was_on = uow.second_factors.settle(user_id, at=uow.now).was_on
    _remove_what_hangs_on_it(uow, user_id)
    return was_on


def remove_added_since(uow: UnitOfWork, user_id: UUID, email: str, *, since: datetime) -> None:
    """Remove an app that was set up since a moment, and backup codes added since to an older factor.

    The caller has locked the account, and removed the passkeys that were made a factor since.
    """
    found = uow.totp_secrets.lock(user_id)
    if found is not None and (found.enabled_at is None or found.enabled_at >= since):
        uow.totp_secrets.remove(user_id)
    settled = uow.second_factors.settle(user_id, at=uow.now)
    if settled.is_on:
        uow.backup_codes.remove(user_id, made_since=since)
        return
    _remove_what_hangs_on_it(uow, user_id)
    if settled.was_on:
        _record_disabled(uow, user_id, email)


def totp_code(typed: str) -> str | None:
    """Return the six digits of an app's code, without the spaces of groups; None when the input is no such code."""
    code = "".join(typed.split())
    return code if _TOTP_CODE.fullmatch(code) else None


def _owner(uow: UnitOfWork) -> Caller:
    caller = callers.lock_whole_account(uow)
    factors.require_proved(uow, caller)
    return caller


def _record_disabled(uow: UnitOfWork, user_id: UUID, email: str) -> None:
    record_event(uow, MfaEvent.DISABLED, user_id)
    person_events.publish(uow, EventType.USER_MFA_DISABLED, user_id, email)
    person_events.record(uow, AuditAction.SECURITY_MFA_DISABLED, user_id, email)
    _send_mail(uow, email, MailTemplate.MFA_DISABLED)


def _remove_what_hangs_on_it(uow: UnitOfWork, user_id: UUID) -> None:
    uow.backup_codes.remove(user_id)
    # A device that is trusted in place of this factor must not replace the next one.
    uow.devices.revoke_trust(user_id)
    platform_support.end_appointment(uow, user_id, reason="second_factor_removed")


def _send_mail(uow: UnitOfWork, email: str, template: MailTemplate) -> None:
    mail.send(uow, email, template, ip_address=_ip_address(uow), at=_moment(uow))


def _send_mail_about(uow: UnitOfWork, email: str, template: MailTemplate, name: str) -> None:
    mail.send(uow, email, template, name=name, ip_address=_ip_address(uow), at=_moment(uow))


def _ip_address(uow: UnitOfWork) -> str:
    return uow.origin.ip_address or "unknown"


def _moment(uow: UnitOfWork) -> str:
    return uow.now.strftime("%Y-%m-%d %H:%M UTC")


class MfaEvent(StrEnum):
    """A change of a second factor, or an attempt with one."""

    SETUP_INITIATED = "mfa_setup_initiated"
    SETUP_COMPLETED = "mfa_setup_completed"
    SETUP_FAILED = "mfa_setup_failed"
    ENABLED = "mfa_enabled"
    DISABLED = "mfa_disabled"
    FORCE_DISABLED_BY_ADMIN = "mfa_force_disabled_by_admin"
    VERIFY_ATTEMPT = "mfa_verify_attempt"
    VERIFY_SUCCESS = "mfa_verify_success"
    VERIFY_FAILED = "mfa_verify_failed"
    BACKUP_CODES_GENERATED = "backup_codes_generated"
    BACKUP_CODE_USED = "backup_code_used"

    @property
    def is_success(self) -> bool:
        """Whether the attempt succeeded."""
        return self not in {MfaEvent.SETUP_FAILED, MfaEvent.VERIFY_FAILED}


def record_event(uow: UnitOfWork, event: MfaEvent, user_id: UUID, /, **details: Any) -> None:
    """Record an event about a user's second factor."""
    uow.mfa_events.add(user_id, event, is_success=event.is_success, details=details)


CODES_PER_SET: Final = 10
# Without 0 and O, 1, I and L, which are easily confused, and without U, so that no code spells an offensive word.
ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
GROUP_CHARACTERS: Final = 4
CODE_CHARACTERS: Final = 2 * GROUP_CHARACTERS
# Accepts characters outside the alphabet too: a misread code is a wrong code, not malformed input.
_TYPED: Final = re.compile(rf"[0-9A-Z]{{{GROUP_CHARACTERS}}}-?[0-9A-Z]{{{GROUP_CHARACTERS}}}")


def normalized_backup_code(typed: str) -> str | None:
    """Return a typed code in its stored form, ignoring case, spaces and dash; None when it is malformed."""
    code = "".join(typed.split()).upper()
    return code.replace("-", "") if _TYPED.fullmatch(code) else None


def issue_backup_codes(uow: UnitOfWork, user_id: UUID) -> tuple[Secret, ...]:
    """Replace the user's backup codes by ten new ones and return these, to be shown once."""
    codes: set[str] = set()
    while len(codes) < CODES_PER_SET:
        codes.add(uow.randomness.choice(ALPHABET, CODE_CHARACTERS))
    uow.backup_codes.replace(user_id, [_keyed_hash(uow, user_id, code) for code in codes], at=uow.now)
    record_event(uow, MfaEvent.BACKUP_CODES_GENERATED, user_id, count=len(codes))
    return tuple(Secret(f"{code[:GROUP_CHARACTERS]}-{code[GROUP_CHARACTERS:]}") for code in codes)


def use_backup_code(uow: UnitOfWork, user_id: UUID, code: str, *, is_new_device: bool) -> bool:
    """Use up a normalized code; False when the user has no such code or has used it before."""
    if not uow.backup_codes.use(user_id, _keyed_hash(uow, user_id, code), at=uow.now):
        return False
    record_event(
        uow,
        MfaEvent.BACKUP_CODE_USED,
        user_id,
        remaining=uow.backup_codes.count_unused(user_id),
        is_new_device=is_new_device,
    )
    return True


def _keyed_hash(uow: UnitOfWork, user_id: UUID, code: str) -> bytes:
    return uow.pepper.mark("backup code", user_id.bytes, code.encode())

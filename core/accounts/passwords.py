"""Passwords: which ones are taken, and how a signed-in person sets their first one or changes it.

Hashing and comparing happen between transactions, on the hasher's own threads. Who has forgotten a password is helped
in `password_reset.py`; what a sign-in compares is in `login.py`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from core.accounts import sign_in_failures
from core.accounts.one_time_tokens import TokenPurpose
from core.errors import BadRequest, Unauthorized
from core.events import person_events
from core.events.actions import AuditAction
from core.limits import PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN
from core.mail import mail
from core.mail.mail import MailTemplate
from core.sessions import callers, sessions

if TYPE_CHECKING:
    from uuid import UUID

    from core.accounts.users import User
    from ports.unit_of_work import UnitOfWork

# What is no text: it could be typed nowhere else, and some systems end a password at a NUL.
_UNUSABLE: Final = re.compile("[\x00\ud800-\udfff]")


class PasswordAlreadySet(BadRequest):
    """The account has a password, which only whoever knows it may change."""

    default_message = "Your account has a password already. Change it with POST /api/user/change-password."


class NoPasswordSet(BadRequest):
    """There is nothing to change."""

    default_message = "Your account has no password yet. Set one with POST /api/user/set-password."


class CurrentPasswordWrong(Unauthorized):
    """The session is good, but whoever has it does not know the password."""

    default_message = "Your current password is wrong. Try again, or reset it."


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassword:
    """An account, and the hash of its password if it has one."""

    user: User
    password_hash: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change that waits for the comparison with the present password."""

    attempt_id: UUID
    password_hash: str = field(repr=False)


def problem(password: str) -> str | None:
    """Say what is wrong with a new password, or nothing; its characters are counted as Unicode counts them."""
    if len(password) < PASSWORD_CHARACTERS_MIN:
        return f"A password has at least {PASSWORD_CHARACTERS_MIN} characters."
    if len(password) > PASSWORD_CHARACTERS_MAX:
        return f"A password has at most {PASSWORD_CHARACTERS_MAX} characters."
    if _UNUSABLE.search(password):
        return "This password has a character that cannot be used."
    return None


def check(password: str, named: str) -> None:
    """Refuse a new password that is not taken, in the name of its field."""
    found = problem(password)
    if found is not None:
        raise BadRequest.of_field(named, found)


def check_first(uow: UnitOfWork, new_password: str) -> None:
    """Refuse before the slow part whoever has a password, or is somebody else, and a password that is not taken."""
    caller = uow.caller
    caller.forbid_impersonated()
    check(new_password, "new_password")
    if uow.credentials.has_password(caller.user_id):
        raise PasswordAlreadySet


def set_first(uow: UnitOfWork, password_hash: str) -> None:
    """Give the caller's account its first password; of two at once one is the first."""
    caller = callers.lock(uow)
    caller.forbid_impersonated()
    if not uow.credentials.set_first_password_hash(caller.user_id, password_hash):
        raise PasswordAlreadySet
    record_changed(uow, caller.user_id, caller.email, MailTemplate.PASSWORD_SET)


def find_current(uow: UnitOfWork, new_password: str, network: str | None) -> Change:
    """Find what to compare the present password with.

    A wrong one counts as a failed sign-in, so that a stolen token is no way around their limit.
    """
    caller = uow.caller
    caller.forbid_impersonated()
    check(new_password, "new_password")
    stored = uow.credentials.lock(caller.user_id)
    if stored is None or stored.password_hash is None:
        raise NoPasswordSet
    # Whoever has a session here is known, and is not kept out by what others try elsewhere.
    attempt_id = sign_in_failures.attempt(uow, caller.email, network, is_known_device=True)
    return Change(attempt_id=attempt_id, password_hash=stored.password_hash)


def give_up(uow: UnitOfWork, begun: Change) -> None:
    """Take a try back that there was no time to compare: it told nobody anything."""
    uow.sign_in_failures.remove(begun.attempt_id)


def change(uow: UnitOfWork, begun: Change, password_hash: str) -> None:
    """Change the caller's password after a right comparison, and end all their sessions but this one."""
    caller = uow.caller
    caller.forbid_impersonated()
    stored = uow.credentials.lock(caller.user_id)
    if stored is None or stored.password_hash != begun.password_hash:
        # Changed or reset while we compared: what was right is so no longer.
        raise CurrentPasswordWrong
    uow.sign_in_failures.remove(begun.attempt_id)
    uow.credentials.set_password_hash(caller.user_id, password_hash)
    lock_out(uow, caller.user_id, caller.email, except_session_id=caller.session_id)
    record_changed(uow, caller.user_id, caller.email, MailTemplate.PASSWORD_CHANGED)


def lock_out(uow: UnitOfWork, user_id: UUID, email: str, *, except_session_id: UUID | None = None) -> None:
    """End what was begun with an old password: sign-ins that wait for a second factor, and sessions."""
    # In this order, so that a sign-in that is finished at this moment has its session ended too.
    uow.mfa_challenges.void_all(user_id)
    sessions.end_all(uow, user_id, email, except_session_id=except_session_id)


def record_changed(uow: UnitOfWork, user_id: UUID, email: str, template: MailTemplate) -> None:
    """Say wherever it matters that an account has a new password; links that would give it another one end."""
    uow.one_time_tokens.withdraw(user_id, TokenPurpose.RESET_PASSWORD, at=uow.now)
    person_events.record(uow, AuditAction.SECURITY_PASSWORD_CHANGED, user_id, email)
    mail.send(
        uow,
        email,
        template,
        ip_address=uow.origin.ip_address or "unknown",
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
    )

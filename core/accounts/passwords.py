"""Passwords: how a signed-in user sets a first one or changes it.

Hashing and comparing happen between transactions, on the hasher's own threads. Which passwords are accepted is in
`new_passwords.py`, forgotten ones are in `password_reset.py`, signing in with one is in `core/sign_in/login.py`.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import new_passwords, sign_in_failures
from core.accounts.new_passwords import NewPassword, PasswordRules
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.users import User
from core.errors import BadRequest, Refusal, Unauthorized
from core.events import person_events
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.mail import mail
from core.mail.mail import MailTemplate
from core.sessions import callers, sessions
from core.sessions.limits import Act

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class PasswordAlreadySet(BadRequest):
    """The account has a password, and changing it requires knowing it."""

    default_message = "Your account already has a password. Change it with POST /api/user/change-password."


class NoPasswordSet(BadRequest):
    """The account has no password to change."""

    default_message = "Your account has no password yet. Set one with POST /api/user/set-password."


class CurrentPasswordWrong(Unauthorized):
    """The session is valid, but the caller does not know the current password."""

    default_message = "Your current password is wrong. Try again, or reset it."


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPassword:
    """An account, and its password hash if it has one."""

    user: User
    password_hash: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change to a new password that waits for the comparison with the current one."""

    new: NewPassword
    attempt_id: UUID
    password_hash: str = field(repr=False)


def check_first(uow: UnitOfWork, new_password: str, rules: PasswordRules) -> NewPassword:
    """Before the slow hashing, refuse a caller who may not set a first password, or a password that is not accepted."""
    caller = uow.caller
    caller.require(Act.WHOLE_ACCOUNT)
    new = new_passwords.accepted(new_password, "new_password", rules, new_passwords.about_caller(uow))
    if uow.credentials.has_password(caller.account.id):
        raise PasswordAlreadySet
    return new


def is_set(uow: UnitOfWork) -> bool:
    """Return whether the caller's account has a password."""
    return uow.credentials.has_password(uow.caller.account.id)


def set_first(uow: UnitOfWork, password_hash: str) -> None:
    """Set the first password of the caller's account; raise `PasswordAlreadySet` when it has one."""
    caller = callers.lock_whole_account(uow)
    if not uow.credentials.set_first_password_hash(caller.account.id, password_hash):
        raise PasswordAlreadySet
    callers.record_whole_account_changed(uow, caller)
    record_changed(uow, caller.account.id, caller.account.email, MailTemplate.PASSWORD_SET)


def find_current(uow: UnitOfWork, new_password: str, rules: PasswordRules, network: str | None) -> Change:
    """Return the hash to compare the current password with, and count the attempt.

    A wrong password counts as a failed sign-in, and for the session, so that a stolen access token bypasses no limit.
    """
    caller = uow.caller
    caller.require(Act.IN_PERSON)
    new = new_passwords.accepted(new_password, "new_password", rules, new_passwords.about_caller(uow))
    stored = uow.credentials.lock(caller.account.id)
    if stored is None or stored.password_hash is None:
        raise NoPasswordSet
    # Failures from other networks do not block the change, because it is made inside a session.
    attempt_id = sign_in_failures.attempt(uow, caller.account.email, network, session_id=caller.session.id)
    return Change(new=new, attempt_id=attempt_id, password_hash=stored.password_hash)


def give_up(uow: UnitOfWork, begun: Change) -> None:
    """Remove a counted attempt that was not compared: the hasher was too busy, or the client has hung up."""
    uow.sign_in_failures.remove(begun.attempt_id)


def refuse(uow: UnitOfWork, begun: Change) -> Refusal:
    """Count a wrong current password, and return the refusal."""
    uow.sign_in_failures.fail(begun.attempt_id)
    return CurrentPasswordWrong().because("wrong_password")


def change(uow: UnitOfWork, begun: Change, password_hash: str) -> None:
    """Change the caller's password after a successful comparison, and end all their other sessions."""
    caller = uow.caller
    caller.require(Act.IN_PERSON)
    stored = uow.credentials.lock(caller.account.id)
    if stored is None or stored.password_hash != begun.password_hash:
        # The password was changed or reset during the comparison.
        raise CurrentPasswordWrong
    uow.sign_in_failures.remove(begun.attempt_id)
    uow.credentials.set_password_hash(caller.account.id, password_hash)
    lock_out(uow, caller.account.id, caller.account.email, except_session_id=caller.session.id)
    record_changed(uow, caller.account.id, caller.account.email, MailTemplate.PASSWORD_CHANGED)


def lock_out(uow: UnitOfWork, user_id: UUID, email: str, *, except_session_id: UUID | None = None) -> None:
    """End a user's sessions and unfinished sign-ins."""
    sessions.end_all(uow, user_id, email, except_session_id=except_session_id)


def record_changed(uow: UnitOfWork, user_id: UUID, email: str, template: MailTemplate) -> None:
    """Audit and mail that an account has a new password, and withdraw its links to reset it."""
    uow.one_time_tokens.withdraw(user_id, TokenPurpose.RESET_PASSWORD, at=uow.now)
    person_events.record(uow, AuditAction.SECURITY_PASSWORD_CHANGED, user_id, email)
    mail.send(
        uow,
        email,
        template,
        ip_address=uow.origin.ip_address or "unknown",
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
    )

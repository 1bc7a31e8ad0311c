"""Passwords: which ones are accepted, and how a signed-in user sets a first one or changes it.

Every path on which a password is set asks `accepted`, and hashes what it returns. A password is long enough, and not
among those that attackers try first: the commonest of leaked lists, and those that consist of the words around an
account, such as its address and the names of the platform, organization and service. The whole password is compared,
ignoring case; no other rule applies (NIST SP 800-63B-4, 3.1.1.2). Whether a password has leaked takes a request, which
the entrypoints make before they hash it (`PasswordBreached`). The field for a new password in a template is
`ui.new_password(…, password_minimum)` (ops/decisions/0065-passwords-that-attackers-try.md).

Hashing and comparing happen between transactions, on the hasher's own threads. Forgotten passwords are in
`password_reset.py`, signing in with one is in `core/sign_in/login.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import sign_in_failures
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.users import User
from core.errors import BadRequest, ErrorCode, Refusal, Unauthorized
from core.events import person_events
from core.events.actions import AuditAction
from core.lazy_dataclasses import dataclass
from core.limits import EMAIL_CHARACTERS_MAX, PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN
from core.mail import mail
from core.mail.mail import MailTemplate
from core.sessions import callers, sessions
from core.sessions.caller_limits import Act
from core.wording import Wording

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
    new = accepted(new_password, "new_password", rules, about_caller(uow))
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
    new = accepted(new_password, "new_password", rules, about_caller(uow))
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


# Shorter ones are in many words by chance.
WORD_LETTERS_MIN: Final = 3
# The digits behind a common password, such as a year.
APPENDED_DIGITS_MAX: Final = 4
# If the user is a member of more, the first ones by slug count.
ORGANIZATIONS_MAX: Final = 50
# NUL, at which some systems cut a password off, and surrogates, which cannot be encoded.
_UNUSABLE: Final = re.compile("[\x00\ud800-\udfff]")
_NO_LETTERS: Final = re.compile(r"[\W\d_]+")
_APPENDED_DIGITS: Final = re.compile(rf"[0-9]{{1,{APPENDED_DIGITS_MAX}}}\Z")
COMMON: Final = "This password is one of the commonest, which attackers try first. Choose several unrelated words."
EXPECTED: Final = (
    "This password has nothing but words of your address, or of the names of the service and your organization."
    " Choose several unrelated words."
)
BREACHED: Final = (
    "This password is known from a data breach, so attackers try it. Choose one that you use nowhere else."
)


class PasswordTooCommon(BadRequest):
    """A new password is among those that attackers try first; the details say why."""

    code = ErrorCode.PASSWORD_TOO_COMMON
    default_message = COMMON


class PasswordBreached(BadRequest):
    """A new password is known from a data breach."""

    code = ErrorCode.PASSWORD_BREACHED
    default_message = BREACHED


class BreachUnknown(Exception):
    """Whether a password has leaked is unknown now; the message is a sentence for operators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordRules:
    """What an installation asks of new passwords; `is_common` knows the commonest ones, in lower case."""

    characters_min: int = PASSWORD_CHARACTERS_MIN
    platform: str
    is_common: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPassword:
    """A new password that is accepted, and the field in which it came."""

    text: str = field(repr=False)
    named: str


def accepted(password: str, named: str, rules: PasswordRules, about: Iterable[str]) -> NewPassword:
    """Return a new password, or raise `BadRequest` for the field in which it came.

    `about` are the texts around the account, whose words make no password: its address, and names.
    """
    found = _problem(password, rules)
    if found is not None:
        raise BadRequest.of_field(named, found)
    if _is_common(password.casefold().strip(), rules):
        raise PasswordTooCommon.of_field(named, COMMON)
    if _consists_of(_letters(password), _words([rules.platform, *about])):
        raise PasswordTooCommon.of_field(named, EXPECTED)
    return NewPassword(text=password, named=named)


def breached(new: NewPassword) -> BadRequest:
    """Return the refusal of a new password that has leaked."""
    return PasswordBreached.of_field(new.named, BREACHED)


def about_account(uow: UnitOfWork, user_id: UUID, email: str, *, only: UUID | None = None) -> Sequence[str]:
    """Return the texts around an account: its address, and the names of its organizations, or of one of them alone."""
    mine = [item.organization for item in uow.organizations.of_member(user_id)]
    shown = [one for one in mine if only in {None, one.id}][:ORGANIZATIONS_MAX]
    return [email, *(text for one in shown for text in (one.name, one.slug))]


def about_caller(uow: UnitOfWork) -> Sequence[str]:
    """Return the texts around the caller's account, and the names of where their session is.

    A refusal says what a password consists of, so a session that shows one organization has no others' names here.
    """
    caller = uow.caller
    places = [slug for slug in (caller.place.organization_slug, caller.place.service_slug) if slug is not None]
    return [*about_account(uow, caller.account.id, caller.account.email, only=caller.only_organization_id), *places]


def _problem(password: str, rules: PasswordRules) -> str | None:
    """Return what is wrong with the form of a new password; its length is counted in code points."""
    if len(password) < rules.characters_min:
        return Wording("A password has at least %(minimum)s characters.", minimum=rules.characters_min)
    if len(password) > PASSWORD_CHARACTERS_MAX:
        return Wording("A password has at most %(maximum)s characters.", maximum=PASSWORD_CHARACTERS_MAX)
    if _UNUSABLE.search(password):
        return "This password contains a character that cannot be used."
    return None


def _is_common(folded: str, rules: PasswordRules) -> bool:
    return rules.is_common(folded) or rules.is_common(_APPENDED_DIGITS.sub("", folded))


def _consists_of(letters: str, words: frozenset[str]) -> bool:
    """Return whether letters are nothing but words, one after the other; without letters they are not."""
    reached = {0}
    for end in range(1, len(letters) + 1):
        if any(end - len(word) in reached and letters.endswith(word, 0, end) for word in words):
            reached.add(end)
    return len(letters) > 0 and len(letters) in reached


def _words(texts: Iterable[str]) -> frozenset[str]:
    """Return the words of texts, and both parts of an address written as one word each."""
    words: set[str] = set()
    for text in texts:
        # A text that is longer is not an address or a name, and is refused as such.
        for part in text[:EMAIL_CHARACTERS_MAX].casefold().split("@"):
            words.update((_letters(part), *_NO_LETTERS.split(part)))
    return frozenset(word for word in words if len(word) >= WORD_LETTERS_MIN)


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text.casefold())

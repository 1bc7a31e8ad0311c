"""New passwords: which ones are accepted. Every path on which one is set asks `accepted`, and hashes what it returns.

A password is long enough, and not among those that attackers try first: the commonest of leaked lists, and those that
consist of the words around an account, such as its address and the names of the platform, organization and service.
The whole password is compared, ignoring case; no other rule applies (NIST SP 800-63B-4, 3.1.1.2).

Whether a password has leaked takes a request, which the entrypoints make before they hash it (`PasswordBreached`).

The field for a new password in a template is `ui.new_password(…, password_minimum)`
(ops/decisions/0065-passwords-that-attackers-try.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest, ErrorCode
from core.lazy_dataclasses import dataclass
from core.limits import EMAIL_CHARACTERS_MAX, PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

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

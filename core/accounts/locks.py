"""Locking an account: one button for a person who reads a warning at night, an organization, and support.

A lock ends everything that the account holds, voids its password, and refuses every way in until the person has proved
the address by a mail and chosen a new password (`password_reset.py`); support may lift it too. Second factors, passkeys
and linked accounts stay, so the way back is no weaker than before. What the person's organizations rely on stays: API
keys, SCIM tokens and client secrets; `core/made_things.py` says what becomes of each kind of things. To an outsider a
lock looks like a wrong password.

The link of a warning mail locks for 30 days. In a mailbox that the account has left since, it works while the change of
the address can be undone, which it does first; where that is refused it locks all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import email_change_undo, links
from core.accounts.links import LinkTexts, LinkUnusable, ValidLink
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.users import User
from core.errors import Forbidden, NotFound
from core.events import person_events
from core.events.actions import AuditAction
from core.made_things import MadeKind, MakerEvent, Outcome
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import inviters, keys, setup_links
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.secrets import hash_token
from core.sessions import callers, sessions
from core.tables import PartialTable

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

REASON: Final = "account_locked"
TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it appears in the mail, or choose a new password: that ends"
    " every session.",
    used="This link was used already. If your account is not locked any more, you have chosen a new password since.",
    expired="This link has expired. It was valid for 30 days. Choose a new password instead: that ends every session.",
)


# What ends each kind of things that the person has made; what the organizations rely on stays.
_ENDS: Final[PartialTable[MadeKind, Callable[[UnitOfWork, UUID], None]]] = PartialTable(
    {
        MadeKind.INVITATION: inviters.withdraw_everywhere,
        MadeKind.SETUP_LINK: lambda uow, user_id: setup_links.end_of_maker(uow, user_id, reason=REASON),
        MadeKind.ORGANIZATION_KEY: lambda uow, user_id: keys.end_of_makers(uow, [user_id], reason=REASON),
    }
)
ENDED_WITH_SESSIONS: Final = frozenset({MadeKind.SIGN_IN, MadeKind.JOB})


class LockedBy(StrEnum):
    """Who has locked an account, as logs and events say it."""

    PERSON = "person"
    MAIL = "mail"
    ORGANIZATION = "organization"
    PLATFORM = "platform"


class AccountEvent(StrEnum):
    """An event about an account, in the separate log about the security of accounts."""

    LOCKED = "account_locked"
    UNLOCKED = "account_unlocked"


class NotOwnAccount(Forbidden):
    """The account is not the organization's own, so that the organization may not lock it."""

    default_message = (
        "Your organization did not make this account, or it belongs elsewhere too. End its sessions in your"
        " organization instead, or deactivate the membership."
    )


class PersonUnknown(NotFound):
    """The organization knows no such person."""

    default_message = "This organization has no such member or end user."


def lock_mine(uow: UnitOfWork) -> None:
    """Lock the caller's own account."""
    caller = callers.lock_whole_account(uow)
    user = uow.users.by_id(caller.account.id)
    assert user is not None, "a locked account is gone"
    lock(uow, user, LockedBy.PERSON)


def may_lock(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> bool:
    """Return whether an organization may lock an account: its own, in one of its verified mail domains."""
    belonging = uow.own_accounts.belonging(organization_id, user_id)
    return belonging is not None and belonging.is_in_own_domain and belonging.is_own_of(organization_id)


def show_own(uow: UnitOfWork, slug: str, user_id: UUID) -> User:
    """Return an account that the caller's organization may lock; raise `PersonUnknown` or `NotOwnAccount`."""
    organization_id = authorize(uow, slug, Operation.ACCOUNT_LOCK).organization.id
    return _own(uow, organization_id, user_id)


def lock_own(uow: UnitOfWork, slug: str, user_id: UUID) -> None:
    """Lock an account of the organization's own; raise `PersonUnknown` or `NotOwnAccount`."""
    organization_id = authorize(uow, slug, Operation.ACCOUNT_LOCK).organization.id
    uow.users.lock(user_id)
    lock(uow, _own(uow, organization_id, user_id), LockedBy.ORGANIZATION, organization_id=organization_id)


def inspect(uow: UnitOfWork, token: str) -> None:
    """Raise `LinkUnusable` unless the link locks an account; this does not use it up."""
    if not _is_undone(uow, token):
        _usable(uow, token)


def undo_first(uow: UnitOfWork, token: str) -> None:
    """Undo the change of the address by which the account has left the mailbox of a link, if there was one.

    Raise as `email_change_undo.undo` when that is refused; then `lock_by_link` locks the account as it is.
    """
    if _is_undone(uow, token):
        return
    if email_change_undo.is_undo(uow, token):
        email_change_undo.undo(uow, token)
        return
    link = _usable(uow, token)
    if link.token.email != link.user.email:
        email_change_undo.undo_of_mailbox(uow, link.user.id, link.token.email)


def lock_by_link(uow: UnitOfWork, token: str) -> None:
    """Lock the account of a link; raise `LinkUnusable`.

    Undoing a change of the address uses its link up; where the undo is refused, the link stays for a later one.
    """
    found = uow.one_time_tokens.find(hash_token(token), TokenPurpose.UNDO_EMAIL_CHANGE)
    if found is not None:
        assert found.user_id is not None, "a change of no account can be undone"
        user = uow.users.lock(found.user_id)
        # A link that was used up a moment ago, or was the only way to find its account.
        if user is None or found.expires_at <= uow.now or user.deactivated_at is not None:
            raise LinkUnusable(TEXTS.unknown).because("unknown_link")
    else:
        _usable(uow, token)
        user = links.lock_and_use(uow, TokenPurpose.LOCK_ACCOUNT, token, TEXTS).user
    lock(uow, user, LockedBy.MAIL)


def lock(uow: UnitOfWork, user: User, by: LockedBy, *, organization_id: UUID | None = None) -> None:
    """Lock an account, whose row the caller has locked: void its password, and end what it holds.

    A locked account stays locked, and what it may hold by now ends. `organization_id` is the organization that locks
    its own account; then its member is the actor in the log, else the person.
    """
    uow.users.set_locked(user.id, at=user.locked_at or uow.now)
    uow.credentials.remove_password(user.id)
    uow.one_time_tokens.withdraw(user.id, TokenPurpose.RESET_PASSWORD, at=uow.now)
    uow.devices.revoke_trust(user.id)
    sessions.end_all(uow, user.id, user.email)
    for kind in MadeKind:
        end = _ENDS.get(kind)
        if end is not None and kind.becomes(MakerEvent.LOCK) is Outcome.ENDS:
            end(uow, user.id)
    if user.locked_at is not None:
        return
    uow.mfa_events.add(user.id, AccountEvent.LOCKED, is_success=True, details={"by": by.value})
    if organization_id is not None:
        uow.record(AuditAction.ACCOUNT_LOCKED, user.id, organization_id=organization_id, by=by.value)
    else:
        person_events.record(uow, AuditAction.ACCOUNT_LOCKED, user.id, user.email, by=by.value)
    mail.send(
        uow,
        user.email,
        MailTemplate.ACCOUNT_LOCKED,
        account_language=user.language,
        by=by.value,
        ip_address=uow.origin.ip_address or "unknown",
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
    )


def lift(uow: UnitOfWork, user: User, *, by: str) -> None:
    """Open a locked account again, whose row the caller has locked; nothing happens to one that is open."""
    if user.locked_at is not None:
        uow.users.set_locked(user.id, at=None)
        uow.mfa_events.add(user.id, AccountEvent.UNLOCKED, is_success=True, details={"by": by})


def _is_undone(uow: UnitOfWork, token: str) -> bool:
    """Return whether a link has undone its change, and no password was chosen since: then it still locks.

    A process may have died between the two, or the person may press both buttons of the mail.
    """
    found = uow.one_time_tokens.find(hash_token(token), TokenPurpose.UNDO_EMAIL_CHANGE)
    if found is None or found.used_at is None or found.user_id is None or found.expires_at <= uow.now:
        return False
    user = uow.users.by_id(found.user_id)
    is_open = user is not None and user.email == found.email and user.locked_at is None
    return is_open and not uow.credentials.has_password(found.user_id)


def _own(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> User:
    user = uow.users.by_id(user_id)
    is_known = uow.members.of_user(organization_id, user_id) is not None
    if user is None or not (is_known or uow.end_users.email_of(organization_id, user_id) is not None):
        raise PersonUnknown
    if not may_lock(uow, organization_id, user_id):
        raise NotOwnAccount
    return user


def _usable(uow: UnitOfWork, token: str) -> ValidLink:
    """Return a link that locks, or that undoes a change of the address; raise `LinkUnusable`.

    The link of a mailbox that the account has left is usable while the change can be undone.
    """
    if email_change_undo.is_undo(uow, token):
        return links.inspect(uow, TokenPurpose.UNDO_EMAIL_CHANGE, token, TEXTS)
    link = links.inspect(uow, TokenPurpose.LOCK_ACCOUNT, token, TEXTS)
    is_left = link.token.email != link.user.email
    if is_left and not email_change_undo.can_be_undone(uow, link.user.id, link.token.email):
        raise LinkUnusable(TEXTS.expired, token=link.token).because("address_changed")
    return link

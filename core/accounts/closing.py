"""Closing an account: by its user, who belongs to no organization.

A closed account is not used for anything. For two weeks its user can reopen it by signing in; after that it is
anonymized (`core/privacy/anonymization.py`).
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from core.accounts.users import REOPENABLE_FOR, User
from core.errors import Forbidden
from core.mail import mail
from core.mail.mail import MailTemplate
from core.organizations import platform_support
from core.organizations.organizations import OWNER
from core.sessions import callers, sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class ClosingEvent(StrEnum):
    """An event about an account, in the separate log about the security of accounts."""

    CLOSED = "account_closed"
    REOPENED = "account_reopened"


class BelongsToOrganizations(Forbidden):
    """The caller is a member of an organization, which would lose its member, or its owner."""

    default_message = (
        "You belong to an organization. Leave your organizations first; one that you own needs another owner, or has to"
        " be deleted."
    )


class OwnsDeletedOrganization(Forbidden):
    """The caller owns an organization that they have deleted, and may still restore."""

    default_message = (
        "You own an organization that you have deleted and can still restore. You can close your account once it is"
        " deleted for good."
    )


class GovernsPlatform(Forbidden):
    """The caller is a platform owner; the platform relies on them."""

    default_message = "You are an owner of this platform. Ask another platform owner to demote you first."


def close(uow: UnitOfWork) -> datetime:
    """Close the caller's account and end all its sessions; return until when signing in reopens it."""
    caller = callers.lock_whole_account(uow)
    if caller.account.is_platform_owner:
        raise GovernsPlatform
    if uow.members.organizations_of(caller.account.id):
        raise BelongsToOrganizations
    # A deleted organization has its owner until the deletion is final.
    if any(one.role == OWNER for one in uow.members.of_account(caller.account.id)):
        raise OwnsDeletedOrganization
    reopenable_until = uow.now + REOPENABLE_FOR
    uow.users.set_closed(caller.account.id, at=uow.now)
    uow.mfa_events.add(caller.account.id, ClosingEvent.CLOSED, is_success=True, details={})
    platform_support.end_appointment(uow, caller.account.id, reason="account_closed")
    sessions.end_all(uow, caller.account.id, caller.account.email)
    mail.send(
        uow,
        caller.account.email,
        MailTemplate.ACCOUNT_CLOSED,
        ip_address=uow.origin.ip_address or "unknown",
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
        until=reopenable_until.strftime("%Y-%m-%d %H:%M UTC"),
    )
    return reopenable_until


def reopen(uow: UnitOfWork, user: User) -> None:
    """Reopen a closed account whose user is signing in; nothing happens to one that is open. The account is locked."""
    if user.closed_at is not None:
        uow.users.set_closed(user.id, at=None)
        uow.mfa_events.add(user.id, ClosingEvent.REOPENED, is_success=True, details={})

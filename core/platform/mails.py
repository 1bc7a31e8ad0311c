"""The outbox for platform owners, support and operators: the states of mails, not their contents, and retrying one.

A mail is shown by its kind, its recipient and its state; its values, which may hold links that sign in, are never read
here. Support sees no mails to platform owners.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import email_verification, support_access
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.support_access import NarrowedList, Narrowing
from core.email_addresses import canonical_email
from core.errors import Conflict, NotFound
from core.events.actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.mail.mail import MailState, MailTemplate
from core.organizations.authorization import authorize_support
from core.positions import Position
from core.tables import PartialTable

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# After that time the link or code in such a mail opens nothing any more.
_LIFETIMES: Final = PartialTable(
    {
        MailTemplate.VERIFY_EMAIL: TokenPurpose.VERIFY_EMAIL.lifetime,
        MailTemplate.VERIFY_NEW_EMAIL: TokenPurpose.CHANGE_EMAIL.lifetime,
        MailTemplate.RESET_PASSWORD: TokenPurpose.RESET_PASSWORD.lifetime,
        MailTemplate.CHOOSE_PASSWORD: TokenPurpose.RESET_PASSWORD.lifetime,
        MailTemplate.MAGIC_LINK: TokenPurpose.MAGIC_LINK.lifetime,
    }
)


class MailUnknown(NotFound):
    """No mail has this id, or it is no longer kept."""

    default_message = "There is no such mail. Mails are kept for seven days."


class MailNotWaiting(Conflict):
    """The mail was sent, or is being sent at this moment."""

    default_message = "This mail was sent, or is being sent at this moment."


class MailKept(Conflict):
    """The mail fell due while no mail server was set."""

    default_message = (
        "No mail server was set when this mail was due, so it is kept and never sent. Set a mail server if there is"
        " none yet, then ask the person to request a new mail."
    )


class MailContentGone(Conflict):
    """The content of the mail is no longer kept, or its link opens nothing any more."""

    default_message = (
        "The link in this mail has expired, or its content is no longer kept. Ask the person to request a new mail."
    )


class NothingToVerify(Conflict):
    """The account needs no verification, or cannot get one."""

    default_message = "The address of this account is verified already, or the account is deactivated or closed."


class ListedMailState(StrEnum):
    """The state of a listed mail; of discarded mails only the number is known."""

    QUEUED = MailState.QUEUED.value
    ROUTED = MailState.ROUTED.value
    SENT = MailState.SENT.value
    KEPT = MailState.KEPT.value
    FAILED = MailState.FAILED.value


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxMail:
    """A mail without its content. `due_at` is when the next attempt is due, if the mail waits."""

    id: UUID
    recipient: str
    template: MailTemplate
    state: MailState
    attempts: int
    due_at: datetime
    last_error: str | None
    organization_id: UUID | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxFilter:
    """The requested mails, by state and by address; None means any."""

    state: ListedMailState | None = None
    email: str | None = None

    @property
    def narrowing(self) -> Narrowing | None:
        """The person to which the mails are narrowed; None for all mails."""
        return Narrowing(text=self.email.strip().lower()) if self.email else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxPage:
    """A page of mails, the newest first, and their number: exact up to `COUNTED_MAX`, and one more than that beyond."""

    mails: Sequence[OutboxMail]
    total: int


def list_page(uow: UnitOfWork, wanted: OutboxFilter, *, page: int, limit: int) -> OutboxPage:
    """Return a page of mails, the newest first, as a platform owner or support."""
    caller = support_access.open_list(uow, NarrowedList.MAILS, wanted.narrowing)
    return find(uow, wanted, page=page, limit=limit, hides_owners=not caller.acts_as_platform_owner)


def find(uow: UnitOfWork, wanted: OutboxFilter, *, page: int, limit: int, hides_owners: bool = False) -> OutboxPage:
    """Return a page of mails, the newest first; the caller may see them. `hides_owners` leaves out mails to owners."""
    address = canonical_email(wanted.email, uow.domain_names.to_ascii) if wanted.email is not None else None
    return uow.elsewhere.platform_mails.page(
        state=wanted.state,
        recipient=address,
        hides_owners=hides_owners,
        limit=limit,
        offset=(page - 1) * limit,
        counted_max=COUNTED_MAX + 1,
    )


def retry(uow: UnitOfWork, mail_id: UUID) -> OutboxMail:
    """Send a failed or waiting mail at once, as a platform owner or support, and return it.

    Raise `MailUnknown`, `MailKept`, `MailContentGone` and `MailNotWaiting`.
    """
    caller = authorize_support(uow)
    support_access.lock_helper(uow)
    return send_again(uow, mail_id, hides_owners=not caller.acts_as_platform_owner)


def send_again(uow: UnitOfWork, mail_id: UUID, *, hides_owners: bool = False) -> OutboxMail:
    """Send a mail at once, as `retry` does; the caller may do it. With `hides_owners` no mail to an owner."""
    found = uow.platform_mails.lock(mail_id, hides_owners=hides_owners)
    if found is None:
        raise MailUnknown
    if found.state is MailState.KEPT:
        raise MailKept
    lifetime = _LIFETIMES.get(found.template)
    if lifetime is not None and found.created_at + lifetime <= uow.now:
        raise MailContentGone
    if found.state not in {MailState.FAILED, MailState.QUEUED, MailState.ROUTED}:
        raise MailNotWaiting
    again = uow.platform_mails.queue_again(found, at=uow.now)
    if again is None:
        # A courier is sending it, or its content was erased.
        raise MailContentGone if found.state is MailState.FAILED else MailNotWaiting
    uow.audit_platform(PlatformAction.MAIL_RETRIED, mail_id, organization_id=found.organization_id)
    return again


def try_again(uow: UnitOfWork, mail_id: UUID) -> tuple[OutboxMail, Conflict | None]:
    """Return a mail and why `retry` would not send it; None when it is sent again. Raise `MailUnknown`."""
    hides_owners = not authorize_support(uow).acts_as_platform_owner
    support_access.lock_helper(uow)
    found = uow.platform_mails.lock(mail_id, hides_owners=hides_owners)
    if found is None:
        raise MailUnknown
    try:
        return send_again(uow, mail_id, hides_owners=hides_owners), None
    except (MailKept, MailContentGone, MailNotWaiting) as refusal:
        return found, refusal


def resend_verification(uow: UnitOfWork, user_id: UUID) -> bool:
    """Send the link that verifies an account's address again; return False when a limit of mails discarded it.

    Raise `UserUnknown`, and `NothingToVerify` for an account whose address is verified, or that is deactivated.
    """
    user = support_access.lock(uow, user_id)
    if user.is_verified or not user.is_active:
        raise NothingToVerify
    is_sent = email_verification.send_for(uow, user)
    uow.audit_platform(PlatformAction.USER_VERIFICATION_SENT, user.id, sent=is_sent)
    return is_sent


# The states of unsent mails, in the order in which they need attention.
NOT_SENT: Final = (ListedMailState.FAILED, ListedMailState.QUEUED, ListedMailState.ROUTED, ListedMailState.KEPT)
# Lists of waiting mails have the oldest first, all others the newest.
WAITING: Final = frozenset({ListedMailState.QUEUED, ListedMailState.ROUTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class MailOrganization:
    """The organization that a mail belongs to."""

    id: UUID
    slug: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedMail:
    """A mail without its content, and its organization; None for the platform, and for a deleted organization."""

    mail: OutboxMail
    organization: MailOrganization | None

    @property
    def position(self) -> Position:
        """The place of the mail in the list."""
        return Position(at=self.mail.created_at, id=self.mail.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMails:
    """A part of the found mails, the number of all, and the numbers of unsent ones, by their states.

    The numbers are exact up to `COUNTED_MAX`, and one more than that beyond; the list goes on at `next`, None at its
    end.
    """

    found: Sequence[ListedMail]
    total: int
    next: Position | None
    not_sent: Mapping[ListedMailState, int]


def browse(uow: UnitOfWork, wanted: OutboxFilter, *, after: Position | None, limit: int) -> FoundMails:
    """Return a part of the outbox, as a platform owner or support; waiting mails oldest first, others newest first."""
    hides_owners = not support_access.open_list(uow, NarrowedList.MAILS, wanted.narrowing).acts_as_platform_owner
    recipient = canonical_email(wanted.email, uow.domain_names.to_ascii) if wanted.email else None
    found = uow.elsewhere.browsed_outbox.page(
        state=wanted.state,
        recipient=recipient,
        is_oldest_first=wanted.state in WAITING,
        after=after,
        limit=limit + 1,
        hides_owners=hides_owners,
    )
    listed = found[:limit]
    not_sent = uow.elsewhere.browsed_outbox.count_undelivered(counted_max=COUNTED_MAX + 1, hides_owners=hides_owners)
    return FoundMails(
        found=listed,
        total=not_sent[wanted.state]
        if wanted.state is not None and wanted.state in not_sent and recipient is None
        else uow.elsewhere.browsed_outbox.count(
            state=wanted.state, recipient=recipient, counted_max=COUNTED_MAX + 1, hides_owners=hides_owners
        ),
        next=listed[-1].position if len(found) > limit else None,
        not_sent=not_sent,
    )

"""Letters to people: queued in the transaction of their cause, sent by the courier afterwards, retried with patience.

Which letters there are and what each is about is the vocabulary here; their words are templates of the mail gateway.
A letter's values may hold links that sign people in, so they are secret, and gone once the letter is sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from ports.unit_of_work import UnitOfWork


class MailTemplate(StrEnum):
    """A letter we know how to write; the name of its template files."""

    TEST = "test"
    NEW_SIGN_IN = "new_sign_in"
    MFA_ENABLED = "mfa_enabled"
    MFA_DISABLED = "mfa_disabled"
    MFA_FORCE_DISABLED = "mfa_force_disabled"
    VERIFY_EMAIL = "verify_email"
    VERIFY_NEW_EMAIL = "verify_new_email"
    EMAIL_CHANGED = "email_changed"
    RESET_PASSWORD = "reset_password"  # noqa: S105 - the name of a letter, not a secret
    CHOOSE_PASSWORD = "choose_password"  # noqa: S105 - likewise
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 - likewise
    PASSWORD_SET = "password_set"  # noqa: S105 - likewise
    MAGIC_LINK = "magic_link"
    PASSKEY_ADDED = "passkey_added"
    PASSKEY_REMOVED = "passkey_removed"
    INVITATION = "invitation"
    INVITATION_ACCEPTED = "invitation_accepted"


class MailState(StrEnum):
    """What has become of a letter."""

    QUEUED = "queued"
    SENT = "sent"
    KEPT = "kept"  # by the embedded mailbox, which never sends
    FAILED = "failed"
    DISCARDED = "discarded"  # never meant to go out; written where a letter to somebody would have been


# How long to wait after each failed attempt; the attempt after the last entry is the last one.
RETRY_DELAYS = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=6),
)
ATTEMPTS_MAX = len(RETRY_DELAYS) + 1
# Longer than a patient mail server and an absent database take together; after it another courier may try.
LEASE = timedelta(minutes=5)
RETENTION = timedelta(days=7)
ERROR_CHARACTERS_MAX = 500


class MailRefused(Exception):
    """This letter will never get out; the text says why, for whoever runs the installation."""


class MailDeferred(Exception):
    """This letter did not get out now and may later; the text says why, for whoever runs the installation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MailMessage:
    """What is to be said, and to whom."""

    to: str
    template: MailTemplate
    values: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedMail:
    """What a person reads."""

    subject: str
    text: str = field(repr=False)
    html: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A letter in the outbox."""

    id: UUID
    message: MailMessage
    state: MailState
    attempts: int
    due_at: datetime
    created_at: datetime
    organization_id: UUID | None = None
    last_error: str | None = None

    def sent(self) -> Mail:
        """It left the house."""
        return replace(self, state=MailState.SENT, last_error=None)

    def kept(self) -> Mail:
        """There is no mail server; the embedded mailbox shows it."""
        return replace(self, state=MailState.KEPT, last_error=None)

    def deferred(self, error: str, *, at: datetime) -> Mail:
        """It did not get out this time: try later, or give up after the last attempt."""
        if self.attempts >= ATTEMPTS_MAX:
            return self.failed(error)
        return replace(self, due_at=at + RETRY_DELAYS[self.attempts - 1], last_error=error[:ERROR_CHARACTERS_MAX])

    def failed(self, error: str) -> Mail:
        """It will never get out."""
        return replace(self, state=MailState.FAILED, last_error=error[:ERROR_CHARACTERS_MAX])


def send(
    uow: UnitOfWork,
    to: str,
    template: MailTemplate,
    /,
    *,
    organization_id: UUID | None = None,
    is_discarded: bool = False,
    **values: str,
) -> None:
    """Send a letter if this transaction commits.

    A discarded letter is as much work as another one and goes nowhere, so that whoever asks for letters to strangers
    cannot tell by the time it takes which of them have an account.
    """
    uow.mail.add(
        Mail(
            id=uow.randomness.new_id(),
            message=MailMessage(to=to, template=template, values=values),
            state=MailState.DISCARDED if is_discarded else MailState.QUEUED,
            attempts=0,
            due_at=uow.now,
            created_at=uow.now,
            organization_id=organization_id,
        )
    )


def claim(uow: UnitOfWork, limit: int) -> Sequence[Mail]:
    """Take letters to send, at most so many; what came of them is to be recorded before the lease ends."""
    claimed = uow.mail.claim(limit, now=uow.now, leased_until=uow.now + LEASE)
    # A claim counts as an attempt. One too many means that every courier that tried has died of this letter.
    for mail in claimed:
        if mail.attempts > ATTEMPTS_MAX:
            uow.mail.save(mail.failed("No attempt to send it ever came to an end."))
    return [mail for mail in claimed if mail.attempts <= ATTEMPTS_MAX]


def record_sent(uow: UnitOfWork, mail: Mail) -> bool:
    """Remember that a letter left the house; like its siblings False when another courier has taken the letter over."""
    return uow.mail.save(mail.sent())


def record_kept(uow: UnitOfWork, mail: Mail) -> bool:
    """Remember that a letter stays in the embedded mailbox."""
    return uow.mail.save(mail.kept())


def record_deferred(uow: UnitOfWork, mail: Mail, error: str) -> bool:
    """Remember a failure that may pass."""
    return uow.mail.save(mail.deferred(error, at=uow.now))


def record_failed(uow: UnitOfWork, mail: Mail, error: str) -> bool:
    """Remember a failure that will not pass."""
    return uow.mail.save(mail.failed(error))


def delete_old(uow: UnitOfWork, limit: int) -> int:
    """Delete letters that were dealt with long ago, at most so many; say how many."""
    return uow.mail.forget(uow.now - RETENTION, limit)


def latest(uow: UnitOfWork, limit: int) -> Sequence[Mail]:
    """List what the embedded mailbox shows."""
    return uow.mail.latest(limit)

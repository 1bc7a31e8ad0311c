"""Operators' commands without a caller: help for users, and the rotation and re-encryption of keys.

An operator who runs a command can read the database anyway, so nothing is hidden from them. Each command leaves an
entry in the platform's audit log without an actor, whose user agent names the command and the machine's account. The
keys themselves are in `core/sessions/signing_keys.py`; secrets are re-encrypted row by row, in many transactions
(`adapters/postgres/schema/rewrap.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from core.accounts.support_access import RecordPart
from core.accounts.users import UserUnknown
from core.email_addresses import normalize_email
from core.events.actions import PlatformAction
from core.lazy_dataclasses import dataclass
from core.mail.mail import MailState
from core.platform import limits, mails, sessions, user_records
from core.platform.limits import LiftedLimits
from core.platform.mails import ListedMailState, OutboxFilter, OutboxMail, OutboxPage
from core.platform.user_records import UserRecord
from core.sessions import signing_keys
from core.sessions.signing_keys import KeyPair, SigningKey

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# In one run; the outbox counts no further either.
RETRIED_MAX: Final = mails.COUNTED_MAX
PAGE_MAILS: Final = 500
# Waiting mails come first, because many failed ones may be too old for a retry.
_RETRIED: Final = (ListedMailState.QUEUED, ListedMailState.ROUTED, ListedMailState.FAILED)
# Mails that fall due within this time are sent anyway.
_DUE_SOON: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlocked:
    """An address whose limits were lifted, and whether an account has it."""

    email: str
    has_account: bool
    lifted: LiftedLimits


def open_record(uow: UnitOfWork, email: str) -> UserRecord:
    """Return the record of the account with an address; raise `UserUnknown`."""
    record = user_records.show_of_address(uow, email)
    uow.audit_platform(PlatformAction.USER_OPENED, record.user.id, part=RecordPart.ACCOUNT.value)
    return record


def unlock(uow: UnitOfWork, email: str) -> Unlocked:
    """Lift the limits of an address; raise `UserUnknown` when no account has it and nothing was counted for it."""
    address = normalize_email(email, uow.domain_names.to_ascii)
    lifted = limits.lift_by_command(uow, address)
    has_account = uow.users.by_email(address) is not None
    if not has_account and not lifted.failed_sign_ins and not lifted.mail_counts:
        raise UserUnknown(f"No account has the address {address}, and nothing limits it. Check the spelling.")
    return Unlocked(email=address, has_account=has_account, lifted=lifted)


def end_sessions(uow: UnitOfWork, email: str) -> int:
    """End all sessions of the account with an address, and return how many; raise `UserUnknown`."""
    return sessions.end_all_of_address(uow, email)


def outbox(
    uow: UnitOfWork, states: Sequence[ListedMailState], email: str | None, limit: int
) -> Mapping[ListedMailState, OutboxPage]:
    """Return the newest mails of each of these states, to one address if it is given, and how many there are."""
    return {state: mails.find(uow, OutboxFilter(state=state, email=email), page=1, limit=limit) for state in states}


def retriable(uow: UnitOfWork) -> Sequence[OutboxMail]:
    """Return at most `RETRIED_MAX` mails that wait for a later attempt or have failed, the newest first by state."""
    soon = uow.now + _DUE_SOON
    waiting = (mail for state in _RETRIED for mail in _all(uow, state))
    retried = (mail for mail in waiting if mail.state is MailState.FAILED or mail.due_at > soon)
    return list(islice(retried, RETRIED_MAX))


def _all(uow: UnitOfWork, state: ListedMailState) -> Iterator[OutboxMail]:
    number, is_last = 1, False
    while not is_last:
        found = mails.find(uow, OutboxFilter(state=state), page=number, limit=PAGE_MAILS).mails
        yield from found
        number, is_last = number + 1, len(found) < PAGE_MAILS


def rotate(uow: UnitOfWork, fresh: Sequence[KeyPair], longest_token_lifetime: timedelta) -> Sequence[SigningKey]:
    """Rotate the signing keys of each kind, as `signing_keys.rotate_each` does, and return the active ones."""
    active = signing_keys.rotate_each(uow, fresh, longest_token_lifetime)
    for key in active:
        uow.audit_platform(PlatformAction.SIGNING_KEY_ROTATED, key.kid, algorithm=key.algorithm.value)
    return active


def record_rewrap(uow: UnitOfWork, key_id: str, secrets: int, *, left: int) -> None:
    """Record how many secrets were re-encrypted with the master key `key_id`, and how many are left."""
    details: dict[str, Any] = {"secrets": secrets, "left": left} if left else {"secrets": secrets}
    uow.audit_platform(PlatformAction.SECRETS_REWRAPPED, key_id, **details)

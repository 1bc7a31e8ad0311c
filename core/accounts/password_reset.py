"""Forgotten passwords: a link to the account's address, good for an hour and once, to choose a new one.

The link proves the address as well. So a reset lets nobody keep waiting inside: all sessions end, and on an account
whose address was never proved before, whatever somebody else may have prepared there goes with the old password.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from core.accounts import addresses, links, passwords, return_targets
from core.accounts.links import Words
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.users import lock_unless_anonymized
from core.email_addresses import canonical_email
from core.mail.mail import MailTemplate

if TYPE_CHECKING:
    from core.accounts.return_targets import ReturnRequest, ReturnTarget
    from ports.unit_of_work import UnitOfWork

WORDS: Final = Words(
    unknown="This link is not valid. Open it exactly as it stands in the letter, or ask for a new one where you wanted"
    " to sign in.",
    used="This link was used already, or is no longer needed. Sign in with your new password; if you did not choose"
    " one, ask for a new link at once.",
    expired="This link has expired. It was good for one hour; ask for a new one where you wanted to sign in.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """Whose password it is, and where its person came from."""

    email: str
    back: ReturnTarget


def request(uow: UnitOfWork, email: str, return_request: ReturnRequest) -> None:
    """Send a link to choose a password if an account has the address; nobody learns whether one does."""
    back = return_targets.find(uow, return_request)
    found = uow.credentials.defer_password_of(canonical_email(email))()
    known = lock_unless_anonymized(uow, found.user if found is not None else None)
    user = known if known is not None and known.is_active else None
    has_none = found is not None and found.password_hash is None
    template = MailTemplate.CHOOSE_PASSWORD if has_none else MailTemplate.RESET_PASSWORD
    links.send(uow, user, TokenPurpose.RESET_PASSWORD, template, back=back)


def inspect(uow: UnitOfWork, token: str) -> Reset:
    """Refuse a link that is no good; a good one stays good."""
    opened = links.inspect(uow, TokenPurpose.RESET_PASSWORD, token, WORDS)
    return Reset(email=opened.user.email, back=return_targets.recall(uow, opened.token.data))


def reset(uow: UnitOfWork, token: str, password_hash: str) -> Reset:
    """Give the account of a link a new password, and end all its sessions."""
    opened = links.use(uow, TokenPurpose.RESET_PASSWORD, token, WORDS)
    user = addresses.prove(uow, opened.user)
    uow.credentials.set_password_hash(user.id, password_hash)
    passwords.lock_out(uow, user.id, user.email)
    passwords.record_changed(uow, user.id, user.email, MailTemplate.PASSWORD_CHANGED)
    return Reset(email=user.email, back=return_targets.recall(uow, opened.token.data))

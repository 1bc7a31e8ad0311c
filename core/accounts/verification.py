"""The link that proves an address: sent at registration, again when asked for, and when an address is changed.

It is good for a day and once. A newer link leaves the older ones good, because letters overtake each other and people
press the first that they find; the one that is used ends the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from core.accounts import addresses, links, return_targets
from core.accounts.links import Words
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.users import lock_unless_anonymized
from core.email_addresses import canonical_email
from core.mail.mail import MailTemplate

if TYPE_CHECKING:
    from core.accounts.return_targets import ReturnRequest, ReturnTarget
    from core.accounts.users import User
    from ports.unit_of_work import UnitOfWork

WORDS: Final = Words(
    unknown="This link is not valid. Open it exactly as it stands in the letter, or ask for a new letter where you"
    " registered.",
    used="This link was used already, or is no longer needed. Try to sign in; if your address is still not verified,"
    " ask for a new letter.",
    expired="This link has expired. It was good for 24 hours; ask for a new letter where you registered.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedAddress:
    """The address that was proved, and where its person came from."""

    email: str
    back: ReturnTarget


def send(uow: UnitOfWork, user: User | None, back: ReturnTarget = links.NOWHERE) -> None:
    """Send the link to the address of a new account; the same work is done for nobody."""
    links.send(uow, user, TokenPurpose.VERIFY_EMAIL, MailTemplate.VERIFY_EMAIL, back=back)


def send_to_new_address(uow: UnitOfWork, user: User) -> None:
    """Send the link to an address that an account has changed to."""
    links.send(uow, user, TokenPurpose.VERIFY_EMAIL, MailTemplate.VERIFY_NEW_EMAIL)


def resend(uow: UnitOfWork, email: str, return_request: ReturnRequest) -> None:
    """Send the link once more if an account waits for it; nobody learns whether one does."""
    back = return_targets.find(uow, return_request)
    user = lock_unless_anonymized(uow, uow.users.by_email(canonical_email(email)))
    is_waiting = user is not None and user.is_active and not user.is_verified
    send(uow, user if is_waiting else None, back)


def inspect(uow: UnitOfWork, token: str) -> None:
    """Refuse a link that is no good; a good one stays good."""
    links.inspect(uow, TokenPurpose.VERIFY_EMAIL, token, WORDS)


def verify(uow: UnitOfWork, token: str) -> VerifiedAddress:
    """Mark the address as proved that a link was sent to."""
    opened = links.use(uow, TokenPurpose.VERIFY_EMAIL, token, WORDS)
    if not opened.user.is_verified:
        addresses.prove_by_own_link(uow, opened.user)
    uow.one_time_tokens.withdraw(opened.user.id, TokenPurpose.VERIFY_EMAIL, at=uow.now)
    return VerifiedAddress(email=opened.user.email, back=return_targets.recall(uow, opened.token.data))

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
from core.accounts.users import still_known
from core.email_addresses import spelled
from core.mail.mail import MailTemplate

if TYPE_CHECKING:
    from core.accounts.return_targets import WayBack, Whence
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
class Verified:
    """The address that was proved, and where its person came from."""

    email: str
    back: WayBack


def send(uow: UnitOfWork, user: User | None, back: WayBack = links.NOWHERE) -> None:
    """Send the link to the address of a new account; the same work is done for nobody."""
    links.send(uow, user, TokenPurpose.VERIFY_EMAIL, MailTemplate.VERIFY_EMAIL, back=back)


def send_to_new_address(uow: UnitOfWork, user: User) -> None:
    """Send the link to an address that an account has changed to."""
    links.send(uow, user, TokenPurpose.VERIFY_EMAIL, MailTemplate.VERIFY_NEW_EMAIL)


def resend(uow: UnitOfWork, email: str, whence: Whence) -> None:
    """Send the link once more if an account waits for it; nobody learns whether one does."""
    back = return_targets.find(uow, whence)
    user = still_known(uow, uow.users.by_email(spelled(email)))
    is_waiting = user is not None and user.is_active and not user.is_verified
    send(uow, user if is_waiting else None, back)


def look(uow: UnitOfWork, token: str) -> None:
    """Refuse a link that is no good; a good one stays good."""
    links.look(uow, TokenPurpose.VERIFY_EMAIL, token, WORDS)


def verify(uow: UnitOfWork, token: str) -> Verified:
    """Mark the address as proved that a link was sent to."""
    opened = links.use(uow, TokenPurpose.VERIFY_EMAIL, token, WORDS)
    if not opened.user.is_verified:
        addresses.prove_by_own_link(uow, opened.user)
    uow.one_time_tokens.withdraw(opened.user.id, TokenPurpose.VERIFY_EMAIL, at=uow.now)
    return Verified(email=opened.user.email, back=return_targets.recall(uow, opened.token.data))

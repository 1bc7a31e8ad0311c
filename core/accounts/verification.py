"""The link that proves the address of a new account: sent at registration and on request.

It is valid once and for a day. A newer link leaves older ones valid, because mails arrive out of order and users open
the first that they find; using one withdraws the others. A change of the address has a link of its own, which
`email_changes.py` sends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from core.accounts import addresses, links, return_targets
from core.accounts.links import LinkTexts
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.users import lock_unless_anonymized
from core.email_addresses import canonical_email
from core.mail.mail import MailTemplate

if TYPE_CHECKING:
    from core.accounts.return_targets import ReturnRequest, ReturnTarget
    from core.accounts.users import User
    from ports.unit_of_work import UnitOfWork

TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it appears in the mail, or request a new one where you"
    " registered.",
    used="This link was used already, or is no longer needed. Try to sign in; if your address is still not verified,"
    " request a new link.",
    expired="This link has expired. It was valid for 24 hours; request a new one where you registered.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedAddress:
    """The address that was proved, and where its user came from."""

    email: str
    back: ReturnTarget


def send(uow: UnitOfWork, user: User | None, back: ReturnTarget = links.NOWHERE, *, requested_for: str = "") -> None:
    """Send the link to the address of a new account; without a user the same work is done and no mail leaves."""
    links.send(uow, user, TokenPurpose.VERIFY_EMAIL, MailTemplate.VERIFY_EMAIL, back=back, requested_for=requested_for)


def resend(uow: UnitOfWork, email: str, return_request: ReturnRequest) -> None:
    """Send the link again if an account's address is unverified, without revealing whether there is one."""
    back = return_targets.find(uow, return_request)
    address = canonical_email(email, uow.domain_names.to_ascii)
    user = lock_unless_anonymized(uow, uow.users.by_email(address))
    is_unverified = user is not None and user.is_active and not user.is_verified
    send(uow, user if is_unverified else None, back, requested_for=address)


def inspect(uow: UnitOfWork, token: str) -> None:
    """Raise `LinkUnusable` for an unusable link; a valid one stays valid."""
    links.inspect(uow, TokenPurpose.VERIFY_EMAIL, token, TEXTS)


def verify(uow: UnitOfWork, token: str) -> VerifiedAddress:
    """Use up a link and mark the address as proved that it was sent to; raise `LinkUnusable`."""
    link = links.lock_and_use(uow, TokenPurpose.VERIFY_EMAIL, token, TEXTS)
    if not link.user.is_verified:
        addresses.mark_proved_by_own_link(uow, link.user)
    uow.one_time_tokens.withdraw(link.user.id, TokenPurpose.VERIFY_EMAIL, at=uow.now)
    return VerifiedAddress(email=link.user.email, back=return_targets.recall(uow, link.token.data))

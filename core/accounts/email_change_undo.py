"""Undoing a change of an account's address within a week, by the link that its old address got.

The person who made the change had access to the account, and the new address has received mail since: links that
reset the password, invitations. So undoing ends every way in, and what the account was given since the change ends too.
It may have been given to another person, the holder of the new address, and must not pass to the holder of the old
address (decisions 3.13).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from core.accounts import addresses, links, one_time_tokens, passwords
from core.accounts.links import LinkTexts
from core.accounts.one_time_tokens import TokenPurpose
from core.credentials import mfa
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.organizations import departures, keys, members, platform_support
from core.secrets import Secret, hash_token

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it appears in the mail.",
    used="This link was used already, or a later one replaced it. If your account has this address again and you cannot"
    " sign in, reset the password.",
    expired="This link has expired. It was valid for seven days; ask the operator of this service for help.",
)


class AddressGone(BadRequest):
    """Another account has proved the old address since."""

    default_message = (
        "Your old address belongs to another account now. The change cannot be undone here; ask the operator of this"
        " service for help."
    )


class GovernsSince(BadRequest):
    """The account has become a platform owner or the owner of an organization since the change."""

    default_message = (
        "This account has become the owner of an organization or of the platform since its address was changed. The"
        " change cannot be undone here; ask the operator of this service for help, who can check whose account it is."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoableChange:
    """A change that the link undoes."""

    made_at: datetime


def is_undo(uow: UnitOfWork, token: str) -> bool:
    """Return whether a token is of a link that undoes a change, also of one that is used or expired."""
    return uow.one_time_tokens.find(hash_token(token), TokenPurpose.UNDO_EMAIL_CHANGE) is not None


def inspect(uow: UnitOfWork, token: str) -> UndoableChange:
    """Return the change of a link, without using the link up; raise `LinkUnusable`."""
    link = links.inspect(uow, TokenPurpose.UNDO_EMAIL_CHANGE, token, TEXTS)
    return UndoableChange(made_at=link.token.created_at)


def undo(uow: UnitOfWork, token: str) -> Secret:
    """Restore the old address of an account, end all earlier access, and return a token to choose a new password.

    Password, passkeys, sessions, known devices and keys of organizations go. A second factor stays unless it was set up
    since the session began that requested the change: the old mailbox alone must not open an account that has one.

    Raise `LinkUnusable`, `GovernsSince` and `AddressGone`.
    """
    # The lock first: what is added concurrently is then either visible below, or refused because its session has ended.
    link = links.lock_and_use(uow, TokenPurpose.UNDO_EMAIL_CHANGE, token, TEXTS)
    user, changed_at, held = link.user, link.token.created_at, link.token.data
    old_email = link.token.email
    if user.is_platform_owner and not held["is_platform_owner"]:
        raise GovernsSince
    # The old address may have been given to a successor, whose account stays.
    if not addresses.give(uow, user, old_email, keeps_successor=True):
        raise AddressGone
    if not members.remove_everywhere(uow, user.id, kept=held["memberships"], reason="email_change_undone"):
        raise GovernsSince
    uow.service_grants.remove_given_since(user.id, changed_at)
    departures.end_links_since(uow, user.id, changed_at)
    keys.end_of_makers(uow, [user.id], reason="email_change_undone")
    platform_support.end_appointment(uow, user.id, reason="email_change_undone")

    addresses.withdraw_links(uow, user.id)
    # Links of earlier changes stay valid: the first address of a chain of changes can undo all of them.
    uow.one_time_tokens.withdraw(user.id, TokenPurpose.UNDO_EMAIL_CHANGE, issued_since=changed_at, at=uow.now)
    uow.credentials.remove_password(user.id)
    passwords.lock_out(uow, user.id, old_email)
    removed = uow.passkeys.remove_all(user.id)
    uow.identities.remove_all(user.id)
    mfa.remove_added_since(uow, user.id, old_email, since=datetime.fromisoformat(held["signed_in_at"]))
    uow.devices.delete_tokens(user.id)
    uow.mfa_events.add(user.id, "email_change_undone", is_success=True, details={"passkeys_removed": removed})
    return one_time_tokens.issue(uow, TokenPurpose.RESET_PASSWORD, user.id, old_email)

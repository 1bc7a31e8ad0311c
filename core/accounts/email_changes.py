"""Changing the address of an account, and the week in which the old address can undo that.

The new address counts at once and is not verified; sessions stay (decisions 3.10). The old address gets a link, if it
had been proved: a stranger's mailbox that was entered by mistake must not be given the account. For a week nobody else
can register the old address, or whoever took over an account could make sure that it is never given back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.accounts import addresses, links, one_time_tokens, passwords, profile, verification
from core.accounts.links import Words
from core.accounts.one_time_tokens import TokenPurpose
from core.credentials import mfa
from core.email_addresses import normalize_email
from core.errors import BadRequest
from core.mail.mail import MailTemplate
from core.organizations import members
from core.sessions import callers

if TYPE_CHECKING:
    from datetime import datetime

    from core.accounts.profile import Profile
    from core.accounts.users import User
    from core.secrets import Secret
    from ports.unit_of_work import UnitOfWork

WORDS: Final = Words(
    unknown="This link is not valid. Open it exactly as it stands in the letter.",
    used="This link was used already, or a later one took its place. Your account has this address again; if you cannot"
    " sign in, reset the password.",
    expired="This link has expired. It was good for seven days; ask whoever runs this installation for help.",
)

# Links that were mailed to the address that an account had, or that would undo what is undone already.
_TIED_TO_ADDRESS: Final = tuple(purpose for purpose in TokenPurpose if purpose is not TokenPurpose.UNDO_EMAIL_CHANGE)


class NewAddressTaken(BadRequest):
    """Another account has the address, or may still have it back."""

    default_message = "This email address belongs to another account. Choose another one."


class AddressGone(BadRequest):
    """Somebody else has proved the old address since."""

    default_message = (
        "Your old address belongs to another account now. The change cannot be undone here; ask whoever runs this"
        " installation for help."
    )


def change(uow: UnitOfWork, email: str) -> Profile:
    """Change the caller's address; the same address changes nothing."""
    mine = profile.read(uow)
    uow.caller.forbid_impersonated()
    address = normalize_email(email)
    # A change that waits for one to be undone must not come after it, and take the account away once more.
    caller = callers.lock(uow)
    if address == caller.email:
        return mine
    user = uow.users.by_id(caller.user_id)
    assert user is not None, "a caller has an account"
    changed = replace(user, email=address, email_verified_at=None)
    is_free = uow.users.set_email(user.id, address, verified_at=None, at=uow.now)
    if not is_free or addresses.is_promised(uow, changed):
        raise NewAddressTaken
    _withdraw_links(uow, user)
    verification.send_to_new_address(uow, changed)
    if user.is_verified:
        links.send(
            uow,
            user,
            TokenPurpose.UNDO_EMAIL_CHANGE,
            MailTemplate.EMAIL_CHANGED,
            ip_address=uow.origin.ip_address or "unknown",
            at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
        )
    uow.mfa_events.add(user.id, "email_changed", is_success=True, details={})
    return replace(mine, email=address, email_verified=False)


def inspect_undo(uow: UnitOfWork, token: str) -> datetime:
    """Refuse a link that is no good; of a good one, which stays good, say when the change was made."""
    return links.inspect(uow, TokenPurpose.UNDO_EMAIL_CHANGE, token, WORDS).token.created_at


def undo(uow: UnitOfWork, token: str) -> Secret:
    """Give an account its old address back, and lock out whoever changed it; give a token to choose a password with.

    Whoever changed the address was inside, and could have had the password reset at the new one. So the password goes,
    with every way in that was added since: passkeys, a second factor, new backup codes. All sessions end, and no device
    is known or trusted any longer.

    What was given to the new address since goes as well, memberships and links to services: else somebody could move an
    account to an address that will be invited, and take the place away with it (decisions 3.13).
    """
    opened = links.use(uow, TokenPurpose.UNDO_EMAIL_CHANGE, token, WORDS)
    user, changed_at = opened.user, opened.token.created_at
    # First, so that whatever is added at this moment is there when we look, or refused because its session is over.
    uow.users.lock(user.id)
    restored = replace(user, email=opened.token.email, email_verified_at=uow.now)
    if not uow.users.set_email(user.id, restored.email, verified_at=uow.now, at=uow.now):
        raise AddressGone
    _withdraw_links(uow, user)
    # Changes before this one stay in the power of the addresses before: the first of a chain can undo all of it.
    uow.one_time_tokens.withdraw(user.id, TokenPurpose.UNDO_EMAIL_CHANGE, issued_since=changed_at, at=uow.now)
    uow.credentials.remove_password(user.id)
    passwords.lock_out(uow, user.id, restored.email)
    removed = uow.passkeys.remove_all(user.id, added_since=changed_at)
    mfa.remove_added_since(uow, user.id, restored.email, since=changed_at)
    uow.devices.delete_tokens(user.id)
    members.take_back(uow, user.id, since=changed_at)
    uow.services.unlink_user(user.id, linked_since=changed_at)
    uow.mfa_events.add(user.id, "email_change_undone", is_success=True, details={"passkeys_removed": removed})
    return one_time_tokens.issue(uow, TokenPurpose.RESET_PASSWORD, user.id, restored.email)


def _withdraw_links(uow: UnitOfWork, user: User) -> None:
    for purpose in _TIED_TO_ADDRESS:
        uow.one_time_tokens.withdraw(user.id, purpose, at=uow.now)

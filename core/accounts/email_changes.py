"""Changing the address of an account, and undoing the change within a week from the old address.

The new address is effective at once and not verified; sessions stay (decisions 3.10). The old address gets a link to
undo the change, if it was verified: a stranger's mailbox that was entered by mistake must not receive the account. For
a week no other account can register the old address; otherwise an attacker who took over an account could prevent that
it is given back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from core.accounts import addresses, links, one_time_tokens, passwords, profile, verification
from core.accounts.links import LinkTexts
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

TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it appears in the mail.",
    used="This link was used already, or a later one replaced it. If your account has this address again and you cannot"
    " sign in, reset the password.",
    expired="This link has expired. It was valid for seven days; ask the operator of this service for help.",
)

# An undo link has its own rule; every other link ends when the address that it was mailed to is left.
_TIED_TO_ADDRESS: Final = tuple(purpose for purpose in TokenPurpose if purpose is not TokenPurpose.UNDO_EMAIL_CHANGE)


class NewAddressTaken(BadRequest):
    """Another account has the address, or may still get it back."""

    default_message = "This email address belongs to another account. Choose another one."


class AddressGone(BadRequest):
    """Another account has proved the old address since."""

    default_message = (
        "Your old address belongs to another account now. The change cannot be undone here; ask the operator of this"
        " service for help."
    )


def change(uow: UnitOfWork, email: str) -> Profile:
    """Change the caller's address and return the profile; the same address changes nothing."""
    mine = profile.read(uow)
    uow.caller.require_whole_account()
    address = normalize_email(email)
    # Locked: a change that is concurrent with an undo must not be committed after it and take the account over again.
    caller = callers.lock_account(uow)
    if address == caller.email:
        return mine
    user = uow.users.by_id(caller.user_id)
    assert user is not None, "the caller has no account"
    changed = replace(user, email=address, email_verified_at=None)
    is_free = uow.users.set_email(user.id, address, verified_at=None, at=uow.now)
    if not is_free or addresses.is_reserved(uow, changed):
        raise NewAddressTaken
    _withdraw_links_to_address(uow, user)
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
    """Return when the change was made, without using the link up; raise `LinkUnusable`."""
    return links.inspect(uow, TokenPurpose.UNDO_EMAIL_CHANGE, token, TEXTS).token.created_at


def undo(uow: UnitOfWork, token: str) -> Secret:
    """Restore the old address of an account, end all earlier access, and return a token to choose a new password.

    The person who changed the address had access, and could reset the password by a mail to the new address. Therefore
    the password is removed, with every credential that was added since: passkeys, a second factor, new backup codes.
    All sessions end, and no device is known or trusted any longer.

    What the new address was given since is removed too, memberships and links to services: otherwise an attacker could
    move an account to an address that is about to be invited, and keep the membership (decisions 3.13).
    """
    link = links.use(uow, TokenPurpose.UNDO_EMAIL_CHANGE, token, TEXTS)
    user, changed_at = link.user, link.token.created_at
    # First: what is added concurrently is then either visible below, or refused because its session has ended.
    uow.users.lock(user.id)
    restored = replace(user, email=link.token.email, email_verified_at=uow.now)
    if not uow.users.set_email(user.id, restored.email, verified_at=uow.now, at=uow.now):
        raise AddressGone
    _withdraw_links_to_address(uow, user)
    # Links of earlier changes stay valid: the first address of a chain of changes can undo all of them.
    uow.one_time_tokens.withdraw(user.id, TokenPurpose.UNDO_EMAIL_CHANGE, issued_since=changed_at, at=uow.now)
    uow.credentials.remove_password(user.id)
    passwords.lock_out(uow, user.id, restored.email)
    removed = uow.passkeys.remove_all(user.id, added_since=changed_at)
    mfa.remove_added_since(uow, user.id, restored.email, since=changed_at)
    uow.devices.delete_tokens(user.id)
    members.remove_added_since(uow, user.id, since=changed_at)
    uow.services.unlink_user(user.id, linked_since=changed_at)
    uow.mfa_events.add(user.id, "email_change_undone", is_success=True, details={"passkeys_removed": removed})
    return one_time_tokens.issue(uow, TokenPurpose.RESET_PASSWORD, user.id, restored.email)


def _withdraw_links_to_address(uow: UnitOfWork, user: User) -> None:
    for purpose in _TIED_TO_ADDRESS:
        uow.one_time_tokens.withdraw(user.id, purpose, at=uow.now)

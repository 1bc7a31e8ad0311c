"""Changing the address of an account: a request, until the link that is mailed to the new address proves it.

Until then everything goes on with the present address; only the profile shows the request. A request reserves nothing:
the account that proves an address first has it. Opening the mailed link shows both addresses and changes nothing; its
button makes the change. Sessions stay.

The present address, if it is verified, gets a notice of the request with a link that drops it, and after the change
another one that undoes it (`email_change_undo.py`), for which the request records what the account held. Whatever ends
the other sessions of an account also drops the request, so that a person who is locked out leaves none behind
(`core/sessions/sessions.py`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from core.accounts import addresses, email_verification, links, names, profile
from core.accounts.email_verification import UnprovedAddress, VerifiedAddress
from core.accounts.links import LinkTexts
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.profile import Profile
from core.accounts.users import User
from core.credentials import factors
from core.email_addresses import normalize_email
from core.errors import BadRequest, Refusal, all_valid
from core.lazy_dataclasses import dataclass
from core.mail.mail import MailTemplate
from core.organizations import takeovers
from core.secrets import hash_token
from core.sessions import callers
from core.sessions.caller_limits import Act

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

TEXTS: Final = LinkTexts(
    unknown=email_verification.TEXTS.unknown,
    used="This link was used already, or is no longer needed. Sign in to see the address of your account; if it is not"
    " the one that you want, change it again.",
    expired="This link has expired. It was valid for 24 hours; sign in and change your address again.",
)
# What a request records for undoing the change.
_RECORDED: Final = frozenset({"memberships", "is_platform_owner", "requested_at", "held", "signed_in_at"})
DROP_TEXTS: Final = LinkTexts(
    unknown="This link is not valid. Open it exactly as it appears in the mail.",
    used="This link was used already, or is no longer needed. If the change was made, the later mail to this address"
    " has a link that undoes it.",
    expired="This link has expired, and so has the change that it was about. There is nothing to do.",
)


class NewAddressTaken(BadRequest):
    """Another account has the address."""

    default_message = "This email address belongs to another account. Choose another one."


class AddressProvedElsewhere(BadRequest):
    """Another account has proved the address since the change was requested."""

    default_message = (
        "Another account has verified this email address in the meantime. Your account keeps its address; sign in and"
        " choose another one, or sign in to the other account."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedChange:
    """A change that waits for the button behind its link."""

    old_email: str
    new_email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedAddress:
    """The address that an account has now."""

    email: str


def request(uow: UnitOfWork, email: str, *, tells_taken: bool = True) -> Profile:
    """Request another address for the caller's account, in place of an earlier request, and return the profile.

    Requesting the present address drops an earlier request. Raise `NewAddressTaken` when an account has the address;
    pages must not reveal who has an account, so there only the link in the mail says it to its reader. Raise
    `MailedProofToChangeAddress` for a session that must not choose where mailed proofs go.
    """
    mine = profile.read(uow)
    uow.caller.require(Act.WHOLE_ACCOUNT)
    address = normalize_email(email, uow.domain_names.to_ascii)
    # Locked: a request that is concurrent with a lockout must not be committed after it.
    caller = callers.lock_whole_account(uow)
    uow.one_time_tokens.drop_email_change(caller.account.id, at=uow.now)
    if address == caller.account.email:
        return replace(mine, email=caller.account.email, email_verified=caller.account.is_verified)
    factors.require_to_change_address(uow, caller)
    if tells_taken and uow.users.by_email(address) is not None:
        raise NewAddressTaken
    user = uow.users.by_id(caller.account.id)
    assert user is not None, "the caller has no account"
    links.send(
        uow,
        replace(user, email=address),
        TokenPurpose.CHANGE_EMAIL,
        MailTemplate.VERIFY_NEW_EMAIL,
        data={"signed_in_at": caller.session.authenticated_at.isoformat(), **_held(uow, user)},
    )
    if user.is_verified and not user.is_disowned:
        # A stranger's mailbox that was entered by mistake gets no say about the account.
        _notify(uow, user, TokenPurpose.DROP_EMAIL_CHANGE, MailTemplate.EMAIL_CHANGE_REQUESTED, {})
    uow.mfa_events.add(user.id, "email_change_requested", is_success=True, details={})
    return replace(mine, email=address, email_verified=False)


def inspect(uow: UnitOfWork, token: str) -> RequestedChange | UnprovedAddress | VerifiedAddress:
    """Return what a link that verifies an address would do: change the address, or prove the account's own.

    A valid link stays valid. Raise `LinkUnusable`, and `AddressProvedElsewhere` for a change that cannot be made now.
    """
    if _is_change(uow, token):
        return _inspect(uow, token)
    return email_verification.inspect(uow, token)


def open_link(uow: UnitOfWork, token: str) -> RequestedChange | VerifiedAddress:
    """Open a link for a program: return the change that waits to be confirmed, or verify an account's address.

    Raise what `inspect` raises.
    """
    if _is_change(uow, token):
        return _inspect(uow, token)
    return email_verification.verify(uow, token)


def confirm(
    uow: UnitOfWork, token: str, *, by_program: bool
) -> ChangedAddress | UnprovedAddress | VerifiedAddress | Refusal:
    """Make a requested change, or for a program verify an account's address; raise `LinkUnusable`.

    On a page, return what the link of an account would prove: the page asks whose registration it was. The refusal of
    an address that another account has proved is returned, because it ends the request.
    """
    if not _is_change(uow, token):
        return email_verification.verify(uow, token) if by_program else email_verification.inspect(uow, token)
    link = links.lock_and_use(uow, TokenPurpose.CHANGE_EMAIL, token, TEXTS)
    user, address = link.user, link.token.email
    uow.one_time_tokens.drop_email_change(user.id, at=uow.now)
    if not addresses.give(uow, user, address):
        return AddressProvedElsewhere()
    addresses.withdraw_links(uow, user.id)
    if user.is_verified and not user.is_disowned:
        # The request of an earlier version does not say what the account held then.
        held = _held(uow, user) | {name: value for name, value in link.token.data.items() if name in _RECORDED}
        _notify(uow, user, TokenPurpose.UNDO_EMAIL_CHANGE, MailTemplate.EMAIL_CHANGED, held)
    uow.mfa_events.add(user.id, "email_changed", is_success=True, details={})
    return ChangedAddress(email=address)


def inspect_drop(uow: UnitOfWork, token: str) -> None:
    """Raise `LinkUnusable` unless the link drops a change that waits; a valid one stays valid."""
    links.inspect(uow, TokenPurpose.DROP_EMAIL_CHANGE, token, DROP_TEXTS)


def drop(uow: UnitOfWork, token: str) -> None:
    """Drop the requested change of a link; raise `LinkUnusable`."""
    link = links.lock_and_use(uow, TokenPurpose.DROP_EMAIL_CHANGE, token, DROP_TEXTS)
    uow.one_time_tokens.drop_email_change(link.user.id, at=uow.now)
    uow.mfa_events.add(link.user.id, "email_change_dropped", is_success=True, details={})


def _is_change(uow: UnitOfWork, token: str) -> bool:
    return uow.one_time_tokens.find(hash_token(token), TokenPurpose.CHANGE_EMAIL) is not None


def _inspect(uow: UnitOfWork, token: str) -> RequestedChange:
    link = links.inspect(uow, TokenPurpose.CHANGE_EMAIL, token, TEXTS)
    other = uow.users.by_email(link.token.email)
    if other is not None and other.is_verified:
        raise AddressProvedElsewhere
    return RequestedChange(old_email=link.user.email, new_email=link.token.email)


def _held(uow: UnitOfWork, user: User) -> dict[str, Any]:
    """Return what an account may do at the time of the request; an undo does not give back what it is given later."""
    memberships = uow.members.of_account(user.id)
    return {
        # For processes of an earlier version, which read nothing else of this.
        "memberships": {str(membership.id): membership.role for membership in memberships},
        "is_platform_owner": user.is_platform_owner,
        "requested_at": uow.now.isoformat(),
        "held": takeovers.held_by(uow, user.id).stored(),
    }


def _notify(uow: UnitOfWork, user: User, purpose: TokenPurpose, template: MailTemplate, data: dict[str, Any]) -> None:
    links.send(
        uow,
        user,
        purpose,
        template,
        data=data,
        ip_address=uow.origin.ip_address or "unknown",
        at=uow.now.strftime("%Y-%m-%d %H:%M UTC"),
    )


def change_profile(uow: UnitOfWork, *, email: str | None, name: str | None, names_account: bool) -> Profile:
    """Request another address for the caller's account unless it is None, and with `names_account` set the name.

    A name of None removes the name. Return the profile; raise what `names.change` and `email_changes.request` raise,
    and one `BadRequest` for both fields.
    """
    callers.require_whole_account(uow)
    all_valid(
        lambda: normalize_email(email, uow.domain_names.to_ascii) if email is not None else None,
        lambda: names.checked_or_none(name),
    )
    if names_account:
        names.change(uow, name)
    return request(uow, email) if email is not None else profile.read(uow)

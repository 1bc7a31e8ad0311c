"""Addresses of accounts: proving that a user owns one, leaving one, and giving one that was proved to an account.

The proof (a verification link, a magic link, an invitation's mail, an upstream provider) may concern an account that an
attacker prepared for the address. So everything that was set up before it is removed, and the attacker keeps no access;
the link of a registration then gives the account its password and name.

What organizations give hangs on the address until the user confirms it: it stays with an address that is first proved,
even if another account proves it, and ends when the account leaves it
(ops/decisions/0030-access-hangs-on-addresses.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import open_registrations, passwords
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.users import User
from core.credentials import mfa
from core.email_addresses import domain_of
from core.lazy_dataclasses import dataclass
from core.organizations import departures, group_roles, keys, members

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The reason given to organizations when what they gave to an address has ended with it.
ADDRESS_CHANGED: Final = "address_changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenAddress:
    """An address that an account has taken; `holder_id` is the account that had it and never proved it."""

    holder_id: UUID | None


def mark_proved(uow: UnitOfWork, user: User) -> User:
    """Mark an address as proved, and remove what was set up before."""
    return user if user.is_verified else reclaim(uow, user)


def reclaim(uow: UnitOfWork, user: User) -> User:
    """Give an account to the person who has just proved its address: remove what was set up before.

    What organizations gave to the address stays, and is unconfirmed again.
    """
    uow.credentials.remove_password(user.id)
    uow.passkeys.remove_all(user.id)
    uow.identities.remove_all(user.id)
    group_roles.follow_unlinking(uow, user.id)
    uow.passkey_challenges.remove_all(user.id)
    mfa.remove(uow, user.id)
    uow.devices.remove_all(user.id, at=uow.now)
    # An earlier address, too, must not give the account back to the person who prepared it.
    uow.one_time_tokens.withdraw(user.id, TokenPurpose.UNDO_EMAIL_CHANGE, at=uow.now)
    open_registrations.end_all(uow, user.id)
    keys.end_of_makers(uow, [user.id], reason="maker_proved_address")
    passwords.lock_out(uow, user.id, user.email)
    uow.departures.unconfirm(user.id)
    uow.users.set_changed_by_service(user.id, at=None)
    uow.users.set_name(user.id, None, at=uow.now, was_asked=False)
    uow.users.set_verified(user.id, at=uow.now)
    return user.reclaimed(at=uow.now)


def give(uow: UnitOfWork, user: User, address: str) -> bool:
    """Give an address that was just proved to a locked account; False when another account keeps it.

    What organizations gave to the address comes along, unconfirmed.
    """
    taken = take(uow, user, address)
    if taken is None:
        return False
    inherit(uow, user.id, taken)
    return True


def take(uow: UnitOfWork, user: User, address: str, *, keeps_successor: bool = False) -> TakenAddress | None:
    """Give a locked account an address that was just proved, without what was given to it; `inherit` is called after.

    An account that has the address without ever having proved it ends: any person could have registered it. Return
    None when it is kept, because it governs an organization or the platform. With `keeps_successor` it is also kept if
    the organization of the mail domain created it, because it has given the address to another person.

    Organizations to which the account belonged only by its former address no longer sign it in by their connections.
    """
    holder_id = None
    if not _set(uow, user.id, address):
        holder = uow.users.lock_by_email(address)
        # None when its account has left the address in the meantime.
        is_free = holder is None or _displace(uow, holder, keeps_successor=keeps_successor)
        if not (is_free and _set(uow, user.id, address)):
            return None
        holder_id = holder and holder.id
    leave(uow, user.id, user.email, address)
    return TakenAddress(holder_id=holder_id)


def inherit(uow: UnitOfWork, user_id: UUID, taken: TakenAddress) -> None:
    """Give an account what organizations gave to an address that it has taken, and remove the account that had it.

    What the account has already stays as it is; organizations are told that the rest has ended. Each of them goes on to
    know the user by the same id.
    """
    if taken.holder_id is None:
        return
    uow.account_splits.move_all_access(taken.holder_id, user_id)
    reason = "address_proved_by_another_account"
    told = members.remove_left(uow, taken.holder_id, reason=reason)
    departures.end_unconfirmed_links(uow, taken.holder_id, reason=reason, told=told)
    uow.users.remove(taken.holder_id)


def leave(uow: UnitOfWork, user_id: UUID, old: str, new: str) -> None:
    """End what organizations gave to an address that its account has left, unless the user has confirmed it.

    Identities of connections end if they signed in because of the mail domain of the old address.
    """
    told = members.remove_unconfirmed(uow, user_id, reason=ADDRESS_CHANGED)
    departures.end_unconfirmed_links(uow, user_id, reason=ADDRESS_CHANGED, told=told)
    departures.leave_mail_domain(uow, user_id, old_domain=domain_of(old), new_domain=domain_of(new))


def withdraw_links(uow: UnitOfWork, user_id: UUID) -> None:
    """Withdraw the links and codes that were mailed to an address that the account leaves."""
    for purpose in TokenPurpose:
        if purpose.is_tied_to_address:
            uow.one_time_tokens.withdraw(user_id, purpose, at=uow.now)


def _set(uow: UnitOfWork, user_id: UUID, address: str) -> bool:
    return uow.users.set_email(user_id, address, verified_at=uow.now, at=uow.now)


def _displace(uow: UnitOfWork, holder: User, *, keeps_successor: bool) -> bool:
    """Take the address and every way to sign in from the account that has it, unless the account has to stay."""
    is_kept = (
        holder.is_verified
        or not holder.may_sign_in
        or holder.is_platform_owner
        or (keeps_successor and _is_successor(uow, holder))
    )
    if is_kept or not members.end_powers(uow, holder.id):
        return False
    passwords.lock_out(uow, holder.id, holder.email)
    uow.departures.unconfirm(holder.id)
    # The account is removed in this transaction, so no other one sees this address, which no mail reaches.
    return uow.users.set_email(holder.id, f"{holder.id}@removed.invalid", verified_at=None, at=uow.now)


def _is_successor(uow: UnitOfWork, holder: User) -> bool:
    """Return whether the organization of the mail domain created the account."""
    organization_id = uow.departures.organization_of_mail_domain(domain_of(holder.email))
    if organization_id is None:
        return False
    belonging = uow.own_accounts.belonging(organization_id, holder.id)
    return belonging is not None and belonging.created_by_organization_id == organization_id

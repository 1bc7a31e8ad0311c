"""Addresses of accounts: proving that a user owns one, leaving one, and giving one that was proved to an account.

The proof (a verification link, a magic link, an invitation's mail, an upstream provider) may concern an account that an
attacker prepared for the address. So everything that was set up before it is removed, and the attacker keeps no access
(decisions 3.13); the link of a registration then gives the account its password and name (3.14).

What organizations give hangs on the address until the user confirms it: it stays with an address that is first proved,
and ends when the account leaves the address (decisions 5.7).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import open_registrations, passwords
from core.accounts.one_time_tokens import TokenPurpose
from core.accounts.users import User
from core.credentials import mfa
from core.email_addresses import domain_of
from core.errors import Refusal
from core.organizations import departures, keys, members
from core.sessions.callers import AddressDisowned, MailedProofRequired

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The reason that organizations are told when what they gave to an address has ended with it.
ADDRESS_CHANGED: Final = "address_changed"


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
    uow.users.set_name(user.id, None, at=uow.now)
    uow.users.set_verified(user.id, at=uow.now)
    return reclaimed(user, at=uow.now)


def reclaimed(user: User, *, at: datetime) -> User:
    """Return the account as `reclaim` leaves it."""
    return replace(user, email_verified_at=at, mfa_enabled_at=None, changed_by_service_at=None, name=None)


def refusal_to_settle(user: User, *, proves_address: bool) -> Refusal | None:
    """Refuse a user who is about to use an unconfirmed gift, where using it does not confirm it.

    None for one who proves the address: `reclaim` gives the account to its owner first.
    """
    if user.is_disowned:
        return AddressDisowned().because("address_disowned")
    return None if proves_address else MailedProofRequired().because("mailed_proof_required")


def give(uow: UnitOfWork, user: User, address: str, *, keeps_successor: bool = False) -> bool:
    """Give an address that was just proved to a locked account; False when another account keeps it.

    An account that has the address without ever having proved it is removed, with its memberships: it could have been
    registered by any person. It is kept if it governs an organization or the platform. With `keeps_successor` it is
    also kept if the organization of the mail domain created it, because it has given the address to another person.

    Organizations to which the account belongs by its former address alone sign it in by their connections no more.
    """
    is_given = _set(uow, user.id, address) or (
        _remove_unproved(uow, address, keeps_successor=keeps_successor) and _set(uow, user.id, address)
    )
    if not is_given:
        return False
    leave(uow, user.id, user.email, address)
    return True


def leave(uow: UnitOfWork, user_id: UUID, old: str, new: str) -> None:
    """End what organizations gave to an address that its account has left, unless the user has confirmed it.

    Identities of connections end that signed in because of the mail domain of the old address.
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


def _remove_unproved(uow: UnitOfWork, address: str, *, keeps_successor: bool) -> bool:
    """Remove the account of an address unless it has to stay; return whether the address is free now."""
    holder = uow.users.lock_by_email(address)
    # None when its account has left the address in the meantime.
    return holder is None or _remove(uow, holder, keeps_successor=keeps_successor)


def _remove(uow: UnitOfWork, holder: User, *, keeps_successor: bool) -> bool:
    is_kept = (
        holder.is_verified
        or not holder.may_sign_in
        or holder.is_platform_owner
        or (keeps_successor and _is_successor(uow, holder))
    )
    if is_kept or not members.remove_everywhere(uow, holder.id, reason="address_proved_by_another_account"):
        return False
    uow.users.remove(holder.id)
    return True


def _is_successor(uow: UnitOfWork, holder: User) -> bool:
    """Return whether the organization of the mail domain created the account."""
    organization_id = uow.departures.organization_of_mail_domain(domain_of(holder.email))
    if organization_id is None:
        return False
    belonging = uow.own_accounts.belonging(organization_id, holder.id)
    return belonging is not None and belonging.created_by_organization_id == organization_id

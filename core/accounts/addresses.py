"""Addresses of accounts: proving that a user owns one, and giving one that was proved to an account.

The account's own verification link is a sufficient proof. Any other proof (a magic link, an invitation's mail, an
upstream provider) may concern an account that an attacker prepared for the address. Then everything that was set up
before the proof is removed, so that the attacker keeps no access (decisions 3.13).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core.accounts import passwords
from core.accounts.one_time_tokens import TokenPurpose
from core.credentials import mfa
from core.organizations import members
from core.sessions import sessions

if TYPE_CHECKING:
    from uuid import UUID

    from core.accounts.users import User
    from ports.unit_of_work import UnitOfWork


def mark_proved(uow: UnitOfWork, user: User) -> User:
    """Mark an address as proved by other means than its own verification link, and remove what was set up before."""
    if user.is_verified:
        return user
    uow.credentials.remove_password(user.id)
    uow.passkeys.remove_all(user.id)
    uow.identities.remove_all(user.id)
    uow.passkey_challenges.remove_all(user.id)
    mfa.remove(uow, user.id)
    uow.devices.remove_all(user.id, at=uow.now)
    # An earlier address, too, must not give the account back to the person who prepared it.
    uow.one_time_tokens.withdraw(user.id, TokenPurpose.UNDO_EMAIL_CHANGE, at=uow.now)
    passwords.lock_out(uow, user.id, user.email)
    return replace(mark_proved_by_own_link(uow, user), mfa_enabled_at=None)


def mark_proved_by_own_link(uow: UnitOfWork, user: User) -> User:
    """Mark an address as proved by the account's own verification link."""
    uow.users.set_verified(user.id, at=uow.now)
    return replace(user, email_verified_at=uow.now)


def give(uow: UnitOfWork, user_id: UUID, address: str) -> bool:
    """Give an address that was just proved to a locked account; False when another account keeps it.

    An account that has the address without ever having proved it is removed, with its memberships: it could have been
    registered by any person. It is kept if it governs an organization or the platform.

    Organizations to which the account belongs by its former address alone sign it in by their connections no more.
    """
    if not (_set(uow, user_id, address) or (_remove_unproved(uow, address) and _set(uow, user_id, address))):
        return False
    sessions.end_where_not_entitled(uow, user_id, address)
    return True


def withdraw_links(uow: UnitOfWork, user_id: UUID) -> None:
    """Withdraw the links and codes that were mailed to an address that the account leaves."""
    for purpose in TokenPurpose:
        if purpose.is_tied_to_address:
            uow.one_time_tokens.withdraw(user_id, purpose, at=uow.now)


def _set(uow: UnitOfWork, user_id: UUID, address: str) -> bool:
    return uow.users.set_email(user_id, address, verified_at=uow.now, at=uow.now)


def _remove_unproved(uow: UnitOfWork, address: str) -> bool:
    """Remove the account of an address unless it has to stay; return whether the address is free now."""
    holder = uow.users.lock_by_email(address)
    # None when its account has left the address in the meantime.
    return holder is None or _remove(uow, holder)


def _remove(uow: UnitOfWork, holder: User) -> bool:
    is_kept = holder.is_verified or holder.is_platform_owner
    if is_kept or not members.remove_everywhere(uow, holder.id, reason="address_proved_by_another_account"):
        return False
    uow.users.remove(holder.id)
    return True

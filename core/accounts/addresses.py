"""Addresses of accounts: proving that a user owns one, and reserving one that an account may still get back.

The account's own verification link is a sufficient proof. Any other proof (a magic link, an invitation's mail, an
upstream provider) may concern an account that an attacker prepared for the address. Then everything that was set up
before the proof is removed, so that the attacker keeps no access (decisions 3.13).

An account can get an address back for a week after it changed to another one (`email_changes.py`). A use case that
creates an account, or changes the address of one, checks `is_reserved`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core.accounts import passwords
from core.accounts.one_time_tokens import TokenPurpose

if TYPE_CHECKING:
    from core.accounts.users import User
    from ports.unit_of_work import UnitOfWork


def mark_proved(uow: UnitOfWork, user: User) -> User:
    """Mark an address as proved by other means than its own verification link, and remove all earlier credentials."""
    if user.is_verified:
        return user
    uow.credentials.remove_password(user.id)
    uow.passkeys.remove_all(user.id)
    passwords.lock_out(uow, user.id, user.email)
    return mark_proved_by_own_link(uow, user)


def mark_proved_by_own_link(uow: UnitOfWork, user: User) -> User:
    """Mark an address as proved by the account's own verification link."""
    uow.users.set_verified(user.id, at=uow.now)
    return replace(user, email_verified_at=uow.now)


def is_reserved(uow: UnitOfWork, user: User) -> bool:
    """Return whether another account may still get the address of this account back, by the link that undoes a change.

    Call it after the account got the address, and refuse then: this order also sees a change away from the address that
    is committed concurrently.
    """
    return uow.one_time_tokens.has_valid_token_at(
        user.email, TokenPurpose.UNDO_EMAIL_CHANGE, besides_user_id=user.id, at=uow.now
    )

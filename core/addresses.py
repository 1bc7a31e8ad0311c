"""Proving that an email address belongs to the person who uses it.

The account's own verification link proves it without more ado. Any other proof (a magic link, an invitation's mail, an
upstream provider) may meet an account that somebody else prepared for the address: then what was set up before the
proof goes, so that nobody waits inside (decisions 3.13).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core import sessions

if TYPE_CHECKING:
    from core.users import User
    from ports.unit_of_work import UnitOfWork


def prove(uow: UnitOfWork, user: User) -> User:
    """Mark an address as proved in another way than by its own verification link; what signed in before is removed."""
    if user.is_verified:
        return user
    uow.credentials.remove_password(user.id)
    uow.passkeys.remove_all(user.id)
    sessions.end_all(uow, user.id, user.email)
    return prove_by_own_link(uow, user)


def prove_by_own_link(uow: UnitOfWork, user: User) -> User:
    """Mark an address as proved by the link that its account sent to it."""
    uow.users.set_verified(user.id, at=uow.now)
    return replace(user, email_verified_at=uow.now)

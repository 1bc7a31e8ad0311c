"""Email addresses: proving that one belongs to its person, and keeping one for whom it may yet go back to.

The account's own verification link proves it without more ado. Any other proof (a magic link, an invitation's mail, an
upstream provider) may meet an account that somebody else prepared for the address: then what was set up before the
proof goes, so that nobody waits inside (decisions 3.13).

An address that an account left by a change can be given back to it for a week (`email_changes.py`). Whoever makes an
account, or gives one another address, asks here whether that is so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core.accounts import passwords
from core.accounts.one_time_tokens import TokenPurpose

if TYPE_CHECKING:
    from core.accounts.users import User
    from ports.unit_of_work import UnitOfWork


def prove(uow: UnitOfWork, user: User) -> User:
    """Mark an address as proved in another way than by its own verification link; what signed in before is removed."""
    if user.is_verified:
        return user
    uow.credentials.remove_password(user.id)
    uow.passkeys.remove_all(user.id)
    passwords.lock_out(uow, user.id, user.email)
    return prove_by_own_link(uow, user)


def prove_by_own_link(uow: UnitOfWork, user: User) -> User:
    """Mark an address as proved by the link that its account sent to it."""
    uow.users.set_verified(user.id, at=uow.now)
    return replace(user, email_verified_at=uow.now)


def is_promised(uow: UnitOfWork, user: User) -> bool:
    """Say whether the address of an account may yet be given back to another one, by the link that undoes a change.

    To be asked after the account got the address, and to be refused then: so one that is left at this moment is seen as
    it is left.
    """
    return uow.one_time_tokens.is_waiting_at(
        user.email, TokenPurpose.UNDO_EMAIL_CHANGE, besides_user_id=user.id, at=uow.now
    )

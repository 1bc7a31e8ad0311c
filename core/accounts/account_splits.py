"""Splitting an account: an organization changes an address to which other organizations have given something.

What this organization gave goes to a new account of the new address. The account that was there keeps its address and
what the others gave; they learn nothing of it, because nothing of theirs has changed. The organization goes on to know
its user by the same id (ops/decisions/0049-accounts-are-split.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.one_time_tokens import TokenPurpose
from core.organizations import departures, group_roles, inviters, keys
from core.sessions import sessions

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def split(
    uow: UnitOfWork, organization_id: UUID, user_id: UUID, email: str, address: str, *, keeps_person: bool
) -> UUID | None:
    """Move what an organization gave to an account of another address; return its id, or None if the address is taken.

    The organization and the account, which has the address `email`, are locked. With `keeps_person` the proof, the
    credentials and the sessions move as well, and what remains is as if it was never used. Otherwise they stay, the
    new account has none of it, and what this organization gave the user ends as it does for members who leave.
    """
    new_id = uow.randomness.new_account_id()
    if not uow.account_splits.make(organization_id, user_id, new_id, address, at=uow.now):
        return None
    if keeps_person:
        # Their second half would sign in to the account that stays.
        uow.unfinished_sign_ins.end_all(user_id)
        uow.one_time_tokens.withdraw(user_id, TokenPurpose.DROP_EMAIL_CHANGE, at=uow.now)
        uow.account_splits.move_person(organization_id, user_id, new_id, at=uow.now)
    else:
        _depart(uow, organization_id, user_id, email)
        # Before the membership moves, which keeps the groups of the directory.
        group_roles.follow_unlinking(uow, user_id)
    uow.account_splits.move_access(organization_id, user_id, new_id, stays_confirmed=keeps_person)
    return new_id


def _depart(uow: UnitOfWork, organization_id: UUID, user_id: UUID, email: str) -> None:
    """End what an organization gave a user, except what moves to the account that it gives to from now on."""
    departures.tell_owner(uow, organization_id, [user_id])
    keys.end_of_makers(uow, [user_id], organization_id)
    inviters.withdraw(uow, organization_id, user_id)
    ended = sessions.end_in_organization(uow, organization_id, user_id)
    sessions.record_ended(uow, user_id, email, ended)
    # The organization now gives to another account, so its connection no longer links this one by itself.
    uow.departures.unlink_identities(organization_id, [user_id], remembers=False)

"""Accounts that an organization made, by SCIM or with an API key, and when such an account is its own.

An account is for the whole platform, and no organization must take one from its user or from another organization.
Only an account that the organization itself created, and on which nobody else relies, may get another address, be
deactivated or be deleted by it (decisions 5.7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.accounts import passwords
from core.accounts.one_time_tokens import TokenPurpose
from core.organizations.memberships import ADMIN, OWNER

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundAccount:
    """The account of an address, which existed or was created just now."""

    id: UUID
    email: str
    created_at: datetime
    is_new: bool
    is_anonymized: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """What decides whether an account is an organization's own.

    `belongs_elsewhere` tells of memberships and service links outside the organization that the user has confirmed.
    """

    id: UUID
    email: str
    created_at: datetime
    created_by_organization_id: UUID | None
    is_address_proved: bool
    is_platform_owner: bool
    role: str | None
    belongs_elsewhere: bool

    def is_own_of(self, organization_id: UUID) -> bool:
        """Return whether the organization may change and delete the account (decisions 5.7)."""
        return (
            self.created_by_organization_id == organization_id
            and not self.is_address_proved
            and not self.is_platform_owner
            and self.role not in {OWNER, ADMIN}
            and not self.belongs_elsewhere
        )


def change_address(uow: UnitOfWork, user_id: UUID, address: str, **details: str) -> bool:
    """Give an organization's own account another address, which its user has to prove; all sessions end.

    Return False when another account has the address. The details go into the log of the account's security.
    """
    if not uow.users.set_email(user_id, address, verified_at=None, at=uow.now):
        return False
    for purpose in TokenPurpose:
        uow.one_time_tokens.withdraw(user_id, purpose, at=uow.now)
    passwords.lock_out(uow, user_id, address)
    uow.mfa_events.add(user_id, "email_changed", is_success=True, details=details)
    return True

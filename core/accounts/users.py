"""Accounts: one for each address on the whole platform. Their credentials are elsewhere, by kind of credential."""

from __future__ import annotations

from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import Conflict, NotFound
from core.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


# After that, an account that its user has closed is anonymized.
REOPENABLE_FOR: Final = timedelta(days=14)


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user's account, without secrets.

    Others have deactivated it, or its user has closed it. It is disowned since the organization of its mail domain took
    the address back: its user still signs in, but nothing is mailed to the address or given by it any more. After the
    token of a service has changed how it signs in, what other organizations give waits for a mailed proof. `language`
    is the tag of the language that its user has chosen or registered with; None when it is not known.
    """

    id: UUID
    email: str
    email_verified_at: datetime | None
    is_platform_owner: bool
    created_at: datetime
    updated_at: datetime
    deactivated_at: datetime | None = None
    closed_at: datetime | None = None
    mfa_enabled_at: datetime | None = None
    # Whether one of the second factors is a passkey.
    has_passkey_factor: bool = False
    disowned_at: datetime | None = None
    changed_by_service_at: datetime | None = None
    name: str | None = field(default=None, repr=False)
    # When its user was asked for a name, and gave none.
    name_asked_at: datetime | None = None
    language: str | None = None
    # Whether the account is appointed to the platform's support.
    is_platform_support: bool = False
    # Wrong codes of its sign-in mails since its last sign-in.
    wrong_mailed_codes: int = 0
    # Since when it is locked (`locks.py`).
    locked_at: datetime | None = None

    @property
    def is_verified(self) -> bool:
        """Whether the user has proved to own the address."""
        return self.email_verified_at is not None

    @property
    def is_active(self) -> bool:
        """Whether the account may be used."""
        return self.deactivated_at is None and self.closed_at is None and self.locked_at is None

    @property
    def may_sign_in(self) -> bool:
        """Whether a sign-in is possible; signing in to a closed account opens it again, until it is anonymized."""
        return self.deactivated_at is None and self.locked_at is None

    @property
    def is_disowned(self) -> bool:
        """Whether the organization of the mail domain has taken the address back."""
        return self.disowned_at is not None

    @property
    def receives_links(self) -> bool:
        """Whether links that sign in are mailed to the address."""
        return self.may_sign_in and not self.is_disowned

    @property
    def receives_reset_links(self) -> bool:
        """Whether links that choose a new password are mailed to the address; they open a locked account again."""
        return self.deactivated_at is None and not self.is_disowned

    @property
    def waits_for_proof(self) -> bool:
        """Whether using what an organization gave does not confirm it."""
        return self.is_disowned or self.changed_by_service_at is not None

    @property
    def has_mfa(self) -> bool:
        """Whether sign-ins require a second factor."""
        return self.mfa_enabled_at is not None

    @property
    def can_be_asked_for_name(self) -> bool:
        """Whether the user has no name of their own, and was never asked for one."""
        return self.name is None and self.name_asked_at is None

    @property
    def acts_as_platform_support(self) -> bool:
        """Whether the appointment gives power: with a verified address and a second factor."""
        return self.is_platform_support and self.has_mfa and self.is_verified and not self.is_disowned

    def reclaimed(self, *, at: datetime) -> User:
        """Return the account as a proof of its address leaves it: without what was set up before."""
        return replace(
            self,
            email_verified_at=at,
            mfa_enabled_at=None,
            has_passkey_factor=False,
            changed_by_service_at=None,
            name=None,
            name_asked_at=None,
        )

    def appointed(self, *, at: datetime) -> User:
        """Return the account as a platform owner, with an address that the appointer has declared verified.

        Raise `Conflict` when the account is deactivated.
        """
        if not self.is_active:
            raise Conflict("This account is deactivated and cannot sign in. Choose another one.")
        return replace(self, is_platform_owner=True, email_verified_at=self.email_verified_at or at, updated_at=at)


class UserUnknown(NotFound):
    """No account has this id."""

    default_message = "There is no such user."


def fresh_account(uow: UnitOfWork, email: str) -> User:
    """Return a new account for an address that is not proved; it is not stored yet."""
    return User(
        id=uow.randomness.new_account_id(),
        email=email,
        email_verified_at=None,
        is_platform_owner=False,
        created_at=uow.now,
        updated_at=uow.now,
    )


def find_or_add(uow: UnitOfWork, fresh: User) -> tuple[User, bool]:
    """Return the account of an address, locked, or the fresh one after storing it; and whether it is the fresh one."""
    while not uow.users.add(fresh):
        found = uow.users.lock_by_email(fresh.email)
        # None when its account has left the address in the meantime.
        if found is not None:
            return found, False
    return fresh, True


def add_unproved(uow: UnitOfWork, fresh: User, password_hash: str) -> tuple[bool, User]:
    """Add an account unless its address has one; return whether it was added, and the account of the address.

    It is locked, so that what follows comes before a proof of the address or after it. Both take the same statements.
    """
    while True:
        is_added = uow.credentials.defer_add_unproved(fresh, password_hash)
        present = uow.users.lock_by_email(fresh.email)
        # None when its account has left the address or was deleted in the meantime.
        if present is not None:
            return is_added(), present


def lock_unless_anonymized(uow: UnitOfWork, user: User | None) -> User | None:
    """Return an account that an unauthenticated caller has named, or None when it is anonymized.

    It waits for a concurrent anonymization, and the account cannot be anonymized before this transaction ends, so that
    a later anonymization finds what this transaction writes. Without an account the same work is done.
    """
    is_known = uow.anonymization.hold(user.id if user is not None else uow.randomness.new_account_id())
    return user if is_known else None

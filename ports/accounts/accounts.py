"""Storage of accounts, beside `users.py`: names, own accounts, mailed tokens, registrations, imports."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.names import PersonNames
from core.accounts.one_time_tokens import OneTimeToken, TokenPurpose
from core.accounts.open_registrations import OpenRegistration
from core.accounts.own_accounts import Belonging, FoundAccount
from core.accounts.profile import NamedCaller
from core.accounts.sign_in_failures import SignInFailure
from core.accounts.user_import import ImportedAccount
from core.accounts.users import User
from core.deferred import Deferred


class OwnAccounts(Protocol):
    """Accounts that organizations made, by SCIM or with an API key."""

    def find_or_create(self, user: User, organization_id: UUID, service_id: UUID | None = None) -> FoundAccount:
        """Return the account of an address, created by this organization if there was none, in one statement.

        Of two concurrent calls for an address, one creates the account and the other returns it. `service_id` is the
        service that the account will be linked to.
        """
        ...

    def lock(self, organization_id: UUID, user_id: UUID) -> Belonging | None:
        """Lock an account, so that no new row refers to it, and return what `belonging` does."""
        ...

    def belonging(self, organization_id: UUID, user_id: UUID) -> Belonging | None:
        """Return what decides whether a locked account is the organization's own; None when it does not exist."""
        ...

    def deactivate(self, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Deactivate an active account on behalf of an organization."""
        ...

    def disown(self, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Take the address away from an account, on behalf of the organization that has proved its mail domain."""
        ...

    def activate(self, organization_id: UUID, user_ids: Sequence[UUID], *, at: datetime) -> None:
        """Activate those of the accounts that this organization has deactivated, unless they are anonymized."""
        ...

    def give_back(self, organization_id: UUID, user_id: UUID, *, at: datetime) -> None:
        """Undo this organization's `disown`: the address is the account's again."""
        ...

    def conflicts_since(self, organization_id: UUID, since: datetime) -> int:
        """Count how often since then the organization has asked for the address of another account."""
        ...

    def add_conflict(self, organization_id: UUID, *, at: datetime) -> None:
        """Record that the organization has asked for the address of another account."""
        ...

    def delete(self, organization_id: UUID, user_id: UUID) -> None:
        """Delete an account with all that refers to it and the mails to its address, except other organizations'."""
        ...


class AccountSplits(Protocol):
    """Moves parts of accounts to other accounts. The caller has locked the account and its organization."""

    def make(self, organization_id: UUID, user_id: UUID, new_id: UUID, email: str, *, at: datetime) -> bool:
        """Store a new account for what moves, as the organization's own; False when another account has the address.

        Its address is not proved, and it has no way to sign in. The old account is the organization's own no longer.
        """
        ...

    def move_person(self, organization_id: UUID, user_id: UUID, new_id: UUID, *, at: datetime) -> None:
        """Move the proof of the address, every way to sign in, the sessions and the history to the new account.

        The decisions of this organization about the account (deactivated, disowned) move too.
        """
        ...

    def move_access(self, organization_id: UUID, user_id: UUID, new_id: UUID, *, stays_confirmed: bool) -> None:
        """Move what one organization gave to the account; the organization knows the new account by the old id."""
        ...

    def move_all_access(self, user_id: UUID, new_id: UUID) -> None:
        """Move what organizations gave to an account to an existing one, except what that account has already.

        An organization to which the other account is new knows it by the old id. The caller has locked both accounts.
        """
        ...


class KnownIds(Protocol):
    """The ids by which SCIM and the service interface name accounts to an organization.

    They differ from the account's own after a part of the account has moved to another one (`account_splits.py`).
    """

    def defer_accounts(self, organization_id: UUID, ids: Collection[UUID]) -> Deferred[Mapping[UUID, UUID]]:
        """Defer reading which account each of these ids means to an organization: by default the one with that id."""
        ...

    def accounts(self, organization_id: UUID, ids: Collection[UUID]) -> frozenset[UUID]:
        """Return the accounts that these ids mean to an organization."""
        ...

    def defer_shown(self, organization_id: UUID, user_id: UUID) -> Deferred[UUID]:
        """Defer reading the id by which an organization knows an account."""
        ...


class StoredNames(Protocol):
    """The names that people set for themselves, and the names from directories."""

    def defer_of(self, user_id: UUID, organization_id: UUID | None) -> Deferred[PersonNames]:
        """Defer reading the names of an account, with those from the organization's directory if one is given."""
        ...

    def of_session(self, session_id: UUID, *, is_limited: bool = False) -> NamedCaller | None:
        """Return the caller with their names; None when `Callers.of_session` would return None."""
        ...


class OneTimeTokens(Protocol):
    """One-time tokens, stored as hashes; each is used once."""

    def add(self, token: OneTimeToken, token_hash: bytes) -> None:
        """Store a token."""
        ...

    def add_each(self, tokens: Sequence[tuple[OneTimeToken, bytes]]) -> None:
        """Store several tokens with their hashes, in one statement."""
        ...

    def find(self, token_hash: bytes, purpose: TokenPurpose) -> OneTimeToken | None:
        """Return a token of a purpose, also a used or expired one; None when there is none."""
        ...

    def by_challenge(self, challenge_id: UUID) -> OneTimeToken | None:
        """Return the token of a challenge, also a used or expired one; None when there is none."""
        ...

    def lock_challenge(self, challenge_id: UUID) -> OneTimeToken | None:
        """Return the token of a challenge as `by_challenge` does, locked until this transaction ends."""
        ...

    def count_wrong_code(self, challenge_id: UUID) -> None:
        """Count a wrong code of a challenge."""
        ...

    def use_challenge(self, challenge_id: UUID, *, at: datetime) -> OneTimeToken | None:
        """Use up the token of a challenge and return it; None when it is unknown, used or expired.

        Of concurrent calls, and of a call and a concurrent `use` of the same token, one succeeds.
        """
        ...

    def undo_of(self, user_id: UUID, email: str, *, at: datetime) -> OneTimeToken | None:
        """Return the latest token that restores this address to an account; None without a valid one."""
        ...

    def use_undo_of(self, user_id: UUID, email: str, *, at: datetime) -> OneTimeToken | None:
        """Use up the token that `undo_of` returns, and return it; one of two concurrent calls succeeds."""
        ...

    def use(self, token_hash: bytes, purpose: TokenPurpose, *, at: datetime) -> OneTimeToken | None:
        """Use up a token and return it; None when it is unknown, of another purpose, used or expired.

        One of two concurrent calls succeeds.
        """
        ...

    def withdraw(
        self, user_id: UUID, purpose: TokenPurpose, *, at: datetime, issued_since: datetime | None = None
    ) -> None:
        """Use up every token of a user and purpose, or only those issued since a moment."""
        ...

    def withdraw_of_registration(self, user_id: UUID, registration_id: UUID, *, at: datetime) -> None:
        """Use up every token of a user that verifies the address for one registration."""
        ...

    def drop_email_change(self, user_id: UUID, *, at: datetime) -> None:
        """Withdraw all tokens of the change of address that a user has requested.

        For areas that do not know the purposes of tokens.
        """
        ...


class OpenRegistrations(Protocol):
    """Open registrations with their password hashes."""

    def add(self, registration: OpenRegistration) -> None:
        """Store a registration; if its account does not exist, do the same work and store nothing."""
        ...

    def find(self, user_id: UUID, registration_id: UUID, *, at: datetime) -> OpenRegistration | None:
        """Return a registration of an account that has not expired; None when there is none."""
        ...

    def sole(self, user_id: UUID, email: str, *, at: datetime) -> OpenRegistration | None:
        """Return the registration of an account and address that has not expired; None without one, or with several."""
        ...

    def with_hash(self, user_id: UUID, email: str, password_hash: str, *, at: datetime) -> OpenRegistration | None:
        """Return the unexpired registration of an account and address with this hash; None when there is none."""
        ...

    def prolong(self, user_id: UUID, registration_id: UUID, *, until: datetime | None) -> None:
        """Keep a registration of an account until then; one that never expires stays so."""
        ...

    def remove(self, user_id: UUID, registration_id: UUID) -> None:
        """Delete a registration of an account. The account gets the password of the newest one left, or none."""
        ...

    def remove_all(self, user_id: UUID) -> None:
        """Delete every registration of an account; its password stays."""
        ...


class SignInFailures(Protocol):
    """Recent failed and undecided sign-ins, by the keyed hash of an address."""

    def add(self, attempt_id: UUID, email_hash: bytes, network: str, *, at: datetime, session_id: UUID | None) -> None:
        """Record an undecided attempt, possibly inside a session.

        Another attempt for the address waits until this transaction ends.
        """
        ...

    def since(self, email_hash: bytes, *, failed_since: datetime, undecided_since: datetime) -> Sequence[SignInFailure]:
        """Return the attempts since these moments, the newest first."""
        ...

    def fail(self, attempt_id: UUID) -> None:
        """Mark an attempt as failed."""
        ...

    def remove(self, attempt_id: UUID) -> None:
        """Delete an attempt."""
        ...

    def remove_all(self, email_hash: bytes) -> int:
        """Delete every attempt for an address, and return how many there were."""
        ...


class UserImport(Protocol):
    """Bulk creation of accounts."""

    def add_new(self, accounts: Sequence[ImportedAccount], *, at: datetime) -> int:
        """Store the accounts whose address is free, the first of each address; return how many."""
        ...

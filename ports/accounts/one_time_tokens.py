"""Port for stored one-time tokens."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.one_time_tokens import OneTimeToken, TokenPurpose


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

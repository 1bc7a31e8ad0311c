"""Stored one-time tokens."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.one_time_tokens import OneTimeToken, TokenPurpose


class OneTimeTokens(Protocol):
    """What was mailed to people, as hashes; each is used once."""

    def add(self, token: OneTimeToken, token_hash: bytes) -> None:
        """Store a token."""
        ...

    def find(self, token_hash: bytes, purpose: TokenPurpose) -> OneTimeToken | None:
        """Find a token of that purpose, used and expired ones included."""
        ...

    def use(self, token_hash: bytes, purpose: TokenPurpose, *, at: datetime) -> OneTimeToken | None:
        """Use a token up: of two racers one gets it. None when it is unknown, of another purpose, used or expired."""
        ...

    def withdraw(
        self, user_id: UUID, purpose: TokenPurpose, *, at: datetime, issued_since: datetime | None = None
    ) -> None:
        """Use up every token of a person and purpose, because a newer one took their place or they mean nothing now.

        Those that were issued before a moment can be spared.
        """
        ...

    def is_waiting_at(self, email: str, purpose: TokenPurpose, *, besides_user_id: UUID, at: datetime) -> bool:
        """Say whether an address has a token of that purpose that another account's person may yet use."""
        ...

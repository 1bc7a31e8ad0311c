"""Refused sign-ins of the last minutes, counted for each address."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.sign_in_failures import SignInFailure


class SignInFailures(Protocol):
    """Refused sign-ins of the last minutes, by the keyed hash of an address."""

    def add(self, attempt_id: UUID, email_hash: bytes, network: str, *, at: datetime) -> None:
        """Count an attempt, and let nobody else count one for the address before this transaction ends."""
        ...

    def since(self, email_hash: bytes, moment: datetime) -> Sequence[SignInFailure]:
        """List the attempts since then, the newest first."""
        ...

    def remove(self, attempt_id: UUID) -> None:
        """Take an attempt back."""
        ...

"""Port for the recent failed sign-ins of each address."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.sign_in_failures import SignInFailure


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

"""Port for stored sign-ins that wait for a second factor."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.sign_in.mfa_challenges import MfaChallenge


class MfaChallenges(Protocol):
    """Sign-ins between the first factor and the second."""

    def add(self, challenge: MfaChallenge) -> None:
        """Store a challenge."""
        ...

    def lock(self, challenge_id: UUID, *, user_id: UUID, awaits_customer: bool = False) -> MfaChallenge | None:
        """Return a user's challenge, locked until this transaction ends; None when it is used, expired or ended.

        It is one that waits for a code, or with `awaits_customer` for the choice of a customer; None for another one.
        The caller has locked the account, so that nothing ends the challenge meanwhile.
        """
        ...

    def user_of(self, challenge_id: UUID) -> UUID | None:
        """Return whose challenge it is, also one that is over; None when it is not kept."""
        ...

    def find(self, challenge_id: UUID, *, user_id: UUID) -> MfaChallenge | None:
        """Return a user's challenge, also one that is used, expired or ended; None when it is not kept any more."""
        ...

    def ask_passkey(self, challenge_id: UUID, asked: bytes, *, expires_at: datetime) -> None:
        """Store what a passkey has to sign to finish the sign-in, in place of what it had to before."""
        ...

    def end_passkey(self, challenge_id: UUID) -> None:
        """Use up what a passkey had to sign."""
        ...

    def count_wrong_code(self, challenge_id: UUID) -> None:
        """Count a wrong code."""
        ...

    def use(self, challenge_id: UUID) -> None:
        """Use up a challenge."""
        ...

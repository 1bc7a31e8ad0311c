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

        None also when it does not wait for a code, or with `awaits_customer` for the choice of a customer. The caller
        has locked the account, so that nothing ends the challenge meanwhile.
        """
        ...

    def user_of(self, challenge_id: UUID) -> UUID | None:
        """Return the user of a challenge, also of one that is over; None when it is no longer kept."""
        ...

    def find(self, challenge_id: UUID, *, user_id: UUID) -> MfaChallenge | None:
        """Return a user's challenge, also one that is used, expired or ended; None when it is no longer kept."""
        ...

    def ask_passkey(self, challenge_id: UUID, asked: bytes, *, expires_at: datetime) -> None:
        """Store the challenge that a passkey has to sign to finish the sign-in, replacing an earlier one."""
        ...

    def end_passkey(self, challenge_id: UUID) -> None:
        """Use up the challenge for a passkey."""
        ...

    def count_wrong_code(self, challenge_id: UUID) -> None:
        """Count a wrong code."""
        ...

    def use(self, challenge_id: UUID) -> None:
        """Use up a challenge."""
        ...

"""Port for stored sign-ins that wait for a second factor."""

from typing import Protocol
from uuid import UUID

from core.sign_in.mfa_challenges import MfaChallenge


class MfaChallenges(Protocol):
    """Sign-ins between the first factor and the second."""

    def add(self, challenge: MfaChallenge) -> None:
        """Store a challenge."""
        ...

    def lock(self, challenge_id: UUID) -> MfaChallenge | None:
        """Return an unused, unexpired challenge, locked until this transaction ends; None when there is none."""
        ...

    def count_wrong_code(self, challenge_id: UUID) -> None:
        """Count a wrong code."""
        ...

    def use(self, challenge_id: UUID) -> None:
        """Use up a challenge."""
        ...

    def void_all(self, user_id: UUID) -> None:
        """Use up every challenge of a user, because their first factor is no longer valid."""
        ...

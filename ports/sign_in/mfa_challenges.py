"""Stored sign-ins that wait for a second factor."""

from typing import Protocol
from uuid import UUID

from core.sign_in.mfa_challenges import MfaChallenge


class MfaChallenges(Protocol):
    """Sign-ins between the first factor and the second."""

    def add(self, challenge: MfaChallenge) -> None:
        """Store a challenge."""
        ...

    def lock(self, challenge_id: UUID) -> MfaChallenge | None:
        """Find a challenge that is neither used nor expired, and let nobody else answer it before this ends."""
        ...

    def count_wrong_code(self, challenge_id: UUID) -> None:
        """Count a wrong code."""
        ...

    def use(self, challenge_id: UUID) -> None:
        """Use a challenge up."""
        ...

    def void_all(self, user_id: UUID) -> None:
        """Use up every challenge of a person, because what was proved with it counts no longer."""
        ...

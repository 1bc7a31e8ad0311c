"""MFA challenges: sign-ins between the first factor and the second, with the proof and the number of wrong codes.

The pre-auth token that the client holds names a challenge. Five wrong codes void it, a right one uses it up.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.sign_in.proofs import Destination, IdentityProof

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

LIFETIME: Final = timedelta(seconds=600)
WRONG_CODES_MAX: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MfaChallenge:
    """A sign-in that waits for a code. Its destination has no device token and no browser: both come with the code."""

    id: UUID
    proof: IdentityProof
    destination: Destination
    attempts: int
    created_at: datetime
    expires_at: datetime


def begin(uow: UnitOfWork, proof: IdentityProof, destination: Destination) -> MfaChallenge:
    """Store a sign-in that waits for a code."""
    challenge = MfaChallenge(
        id=uow.randomness.new_id(),
        proof=proof,
        destination=replace(destination, device_token=None, browser=None),
        attempts=0,
        created_at=uow.now,
        expires_at=uow.now + LIFETIME,
    )
    uow.mfa_challenges.add(challenge)
    return challenge


def count_wrong_code(uow: UnitOfWork, challenge: MfaChallenge) -> bool:
    """Count a wrong code for a locked challenge; return whether the challenge is void now."""
    uow.mfa_challenges.count_wrong_code(challenge.id)
    is_void = challenge.attempts + 1 >= WRONG_CODES_MAX
    if is_void:
        uow.mfa_challenges.use(challenge.id)
    return is_void

"""MFA challenges: sign-ins between the first factor and the second, with the proof and the number of wrong answers.

The pre-auth token that the client holds names a challenge. Five wrong answers void it, a right one uses it up.
"""

from __future__ import annotations

from dataclasses import field, replace
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
    # What a passkey was asked to sign, and until when; None while none was, or once it was answered.
    passkey_challenge: bytes | None = field(default=None, repr=False)
    passkey_expires_at: datetime | None = None
    # Set while it waits for the choice of a customer instead of a code; and whether its device is to be trusted then.
    customer_token_hash: bytes | None = field(default=None, repr=False)
    trusts_device: bool = False
    # The organization, or else the person, to which its event belongs; None if an earlier version began it.
    event_owner_id: UUID | None = None

    def event_id_in(self, organization_id: UUID | None) -> UUID | None:
        """Return the id of its event, if that belongs to this organization, or to none; None for another one.

        The name of an organization may belong to another one by now.
        """
        return self.id if self.event_owner_id == (organization_id or self.proof.user_id) else None

    @property
    def takes_passkey(self) -> bool:
        """Whether a passkey may finish it: one that has begun it must not be proved a second time."""
        return not self.proof.is_by_passkey

    def asked_of_passkey(self, at: datetime) -> bytes | None:
        """Return what a passkey has to sign; None when none was asked for, or too long ago."""
        expires_at = self.passkey_expires_at
        return self.passkey_challenge if expires_at is not None and at < expires_at else None


def begin(
    uow: UnitOfWork,
    proof: IdentityProof,
    destination: Destination,
    *,
    organization_id: UUID | None = None,
    customer_token_hash: bytes | None = None,
    trusts_device: bool = False,
) -> MfaChallenge:
    """Store a sign-in to an organization, or to none, that waits for a code, or for the choice of a customer."""
    challenge = MfaChallenge(
        id=uow.randomness.new_id(),
        proof=proof,
        destination=replace(destination, device_token=None, browser=None),
        attempts=0,
        created_at=uow.now,
        expires_at=uow.now + LIFETIME,
        customer_token_hash=customer_token_hash,
        trusts_device=trusts_device,
        event_owner_id=organization_id or proof.user_id,
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

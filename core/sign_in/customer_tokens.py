"""Tokens of sign-ins that wait for the choice of a customer.

Such a sign-in is kept like one that waits for a code (`mfa_challenges.py`), and ends with whatever ends those. Its
token names it and proves it; it is good once, for ten minutes, and a refused choice does not use it up.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.users import User
from core.lazy_dataclasses import dataclass
from core.secrets import Secret, hash_token
from core.sign_in import mfa_challenges
from core.sign_in.mfa_challenges import MfaChallenge
from core.sign_in.proofs import Destination, IdentityProof
from core.sign_in.reasons import CountedReason
from core.sign_in.refusals import CountedRefusal

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class CustomerTokenOver(CountedRefusal):
    """The token was never issued, or is used, too old, or ended: one answer for all."""

    counted_as = CountedReason.CUSTOMER_TOKEN
    default_message = "This customer_token is not valid any more. Sign in again, and choose then."


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingSignIn:
    """A sign-in that waits, and the token with which it goes on."""

    challenge_id: UUID
    token: Secret


def keep_until_chosen(
    uow: UnitOfWork,
    proof: IdentityProof,
    destination: Destination,
    *,
    organization_id: UUID | None,
    trust_device: bool,
) -> WaitingSignIn:
    """Keep a sign-in that has passed every factor."""
    secret = uow.randomness.token().reveal()
    challenge = mfa_challenges.begin(
        uow,
        proof,
        destination,
        organization_id=organization_id,
        customer_token_hash=hash_token(secret),
        trusts_device=trust_device,
    )
    return WaitingSignIn(challenge_id=challenge.id, token=Secret(f"{challenge.id}.{secret}"))


def use_customer_token(uow: UnitOfWork, token: str) -> tuple[User, MfaChallenge]:
    """Use a token up; return the account, locked, and the waiting sign-in. Raise `CustomerTokenOver`."""
    text, _, secret = token.partition(".")
    try:
        challenge_id = UUID(text)
    except ValueError:
        raise CustomerTokenOver from None
    # The account is locked first, as for every sign-in.
    user_id = uow.mfa_challenges.user_of(challenge_id)
    user = uow.users.lock(user_id) if user_id is not None else None
    challenge = uow.mfa_challenges.lock(challenge_id, user_id=user.id, awaits_customer=True) if user else None
    if user is None or challenge is None or challenge.customer_token_hash is None:
        raise CustomerTokenOver
    if not hmac.compare_digest(challenge.customer_token_hash, hash_token(secret)):
        raise CustomerTokenOver
    uow.mfa_challenges.use(challenge.id)
    return user, challenge

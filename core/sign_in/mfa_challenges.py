"""Sign-ins that wait for a second factor or for the choice of a customer, and the outcomes of a sign-in.

The pre-auth token that the client holds names a challenge. Five wrong answers void it, a right one uses it up. What
waits for the choice of a customer ends with whatever ends those that wait for a code. Its token names it and proves it;
it is good once, for ten minutes, and a refused choice does not use it up.
"""

from __future__ import annotations

import hmac
from dataclasses import field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts.users import User
from core.errors import Refusal
from core.lazy_dataclasses import dataclass
from core.secrets import Secret, hash_token
from core.sessions.browser_sessions import BrowserCookie
from core.sessions.sessions import Session
from core.sessions.tokens import TokenGrant
from core.sign_in.proofs import Destination, IdentityProof
from core.sign_in.reasons import CountedReason, CountedRefusal

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
    challenge = begin(
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


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunSession:
    """A session has begun, without tokens: the party that `conclude_child` is for gets them later (`refresh.py`)."""

    session: Session
    device_token: Secret
    refresh_token: Secret
    cookie: BrowserCookie | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInCompleted:
    """A session has begun, or was continued. A browser gets the cookie, any other client the tokens of the grant."""

    grant: TokenGrant
    cookie: BrowserCookie | None = None
    # The page tells its user, and asks them to change it.
    has_breached_password: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorPending:
    """The first factor was right; a second one is required, which may be a passkey if `takes_passkey`."""

    challenge: MfaChallenge
    takes_passkey: bool
    has_breached_password: bool = False


Outcome = SignInCompleted | SecondFactorPending | Refusal

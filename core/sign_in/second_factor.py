"""The second step of a sign-in with multi-factor authentication: a code, sent with the pre-auth token.

`conclusion.py` ends the first step with a pre-auth token, and continues after a right code. Each code is valid once: a
conditional write uses up its time step or backup code, and a lock protects the pre-auth token.
"""

from __future__ import annotations

from dataclasses import field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import sign_in_failures
from core.accounts.providers import Provider
from core.accounts.users import User
from core.credentials import backup_codes, mfa, mfa_events
from core.credentials.mfa import TotpSecret
from core.credentials.mfa_events import MfaEvent
from core.errors import BadRequest, RateLimitExceeded, Refusal, TokenExpired, TokenInvalid, Unauthorized
from core.events import person_events
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.sessions.browser_sessions import BrowserSession
from core.sign_in import conclusion, mfa_challenges, recognition
from core.sign_in.conclusion import SignInCompleted
from core.sign_in.mfa_challenges import MfaChallenge
from core.sign_in.proofs import Destination, IdentityProof
from core.sign_in.reasons import SignInReason
from core.sign_in.refusals import CountedRefusal, Refused, note, noted, record_failure

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The access token names both kinds of code as a one-time password (RFC 8176).
_AMR: Final = "otp"


class PreAuthExpired(TokenExpired):
    """The pre-auth token is older than ten minutes."""

    default_message = "The code came too late: a sign-in waits ten minutes for it. Sign in again."


class PreAuthInvalid(TokenInvalid):
    """The token was not issued here, is of another kind, or was modified."""

    default_message = "The pre-auth token is not valid. Sign in again to get one."


class PreAuthOver(Unauthorized):
    """The token is used or void, or its account no longer requires a code."""

    default_message = "This sign-in is over. Sign in again."


class CodeWrong(CountedRefusal):
    """No current code of this user, or one that was used before."""

    counted_as = "wrong_code"

    default_message = (
        "This code is wrong or was used before. Wait for your app's next code, or use one of your backup codes."
    )


class TooManyWrongCodes(CodeWrong):
    """The wrong codes have voided the pre-auth token."""

    default_message = "This code is wrong, and there were too many wrong codes. Sign in again."


class Method(StrEnum):
    """A kind of second factor."""

    TOTP = "totp"
    BACKUP_CODE = "backup_code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A typed code, in the form that is compared."""

    method: Method
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorVerified:
    """The code was right, and the sign-in is complete."""

    completed: SignInCompleted
    method: Method


def verify(
    uow: UnitOfWork,
    user_id: UUID,
    challenge_id: UUID,
    typed: str,
    /,
    *,
    network: str | None,
    client: Destination,
    trust_device: bool,
) -> SecondFactorVerified | Refusal:
    """Complete a sign-in that waits for a code, or record a wrong code and return the refusal.

    `client` has the device and the browser that sent the code; the organization is that of the challenge.

    Raise `PreAuthOver` when the challenge is used, void, expired or ended, and `BadRequest` when the input is no code.
    """
    # The account first, as for the first factor: whatever ends its sessions comes before this sign-in, and has ended
    # the challenge, or after it, and ends the new session. It also serializes the user's attempts.
    user = uow.users.lock(user_id)
    challenge = uow.mfa_challenges.lock(challenge_id, user_id=user_id)
    if user is None or challenge is None:
        raise _over(user_id, challenge_id, client)
    factor = uow.totp_secrets.lock(user_id)
    destination = replace(
        challenge.destination, device_token=client.device_token, browser=client.browser, target=client.target
    )
    if factor is None or not factor.is_enabled:
        raise _noted(PreAuthOver().because(SignInReason.MFA_TURNED_OFF), challenge, destination)
    code = _parse(typed)
    recognized = recognition.defer_recognition(uow, user.id, client.device_token)
    try:
        attempt_id = sign_in_failures.attempt(
            uow,
            user.email,
            network,
            is_known_device=lambda: recognized().is_known,
            session_id=client.continued_session_id,
        )
    except RateLimitExceeded as refusal:
        raise _noted(refusal, challenge, destination) from None
    mfa_events.record(uow, MfaEvent.VERIFY_ATTEMPT, user.id, method=code.method)
    if not _use(uow, user.id, factor, code, is_new_device=not recognized().is_known):
        uow.sign_in_failures.fail(attempt_id)
        return _refuse(uow, challenge, user, code, destination)

    uow.sign_in_failures.remove(attempt_id)
    uow.mfa_challenges.use(challenge.id)
    mfa_events.record(uow, MfaEvent.VERIFY_SUCCESS, user.id, method=code.method)
    _publish(uow, EventType.USER_MFA_VERIFY_SUCCESS, challenge, user, code)
    outcome = conclusion.conclude_with_second_factor(
        uow,
        user,
        challenge,
        destination,
        factor=_AMR,
        trust_device=trust_device,
    )
    if isinstance(outcome, Refusal):
        return outcome
    return SecondFactorVerified(completed=outcome, method=code.method)


def verify_again(
    uow: UnitOfWork, browser: BrowserSession, typed: str, /, *, network: str | None, client: Destination
) -> SecondFactorVerified | Refusal:
    """Let the user of a browser session prove by a code that they are there; refuse as `verify` does."""
    uow.users.lock(browser.user_id)
    proof = IdentityProof(user_id=browser.user_id, provider=Provider(browser.provider), amr=())
    challenge = mfa_challenges.begin(uow, proof, Destination())
    return verify(uow, browser.user_id, challenge.id, typed, network=network, client=client, trust_device=False)


def _parse(typed: str) -> Code:
    digits = mfa.totp_code(typed)
    if digits is not None:
        return Code(method=Method.TOTP, value=digits)
    backup_code = backup_codes.normalized(typed)
    if backup_code is not None:
        return Code(method=Method.BACKUP_CODE, value=backup_code)
    raise BadRequest.of_field("code", "This must be the six digits from your app, or a backup code such as ABCD-2345.")


def _use(uow: UnitOfWork, user_id: UUID, factor: TotpSecret, code: Code, *, is_new_device: bool) -> bool:
    if code.method is Method.BACKUP_CODE:
        return backup_codes.use(uow, user_id, code.value, is_new_device=is_new_device)
    step = uow.totp.step_of(factor.secret, code.value, at=uow.now)
    return step is not None and uow.totp_secrets.use_step(user_id, step)


def _refuse(uow: UnitOfWork, challenge: MfaChallenge, user: User, code: Code, destination: Destination) -> CodeWrong:
    reason, proof = SignInReason.WRONG_CODE, challenge.proof
    mfa_events.record(
        uow, MfaEvent.VERIFY_FAILED, user.id, method=code.method, attempts=challenge.attempts + 1, reason=reason
    )
    _publish(uow, EventType.USER_MFA_VERIFY_FAILED, challenge, user, code)
    if not mfa_challenges.count_wrong_code(uow, challenge):
        note(uow, user.id, proof.provider, destination, reason, proof.confinement, challenge.id)
        return CodeWrong().because(reason)
    # The sign-in as a whole has failed.
    record_failure(
        uow,
        user,
        proof.provider,
        destination,
        reason=SignInReason.TOO_MANY_WRONG_CODES,
        confinement=proof.confinement,
        event_id=challenge.id,
    )
    return TooManyWrongCodes().because(SignInReason.TOO_MANY_WRONG_CODES)


def _over(user_id: UUID, challenge_id: UUID, client: Destination) -> PreAuthOver:
    """Return the refusal of a challenge that is over, which is noted while the challenge is kept."""

    def trace(uow: UnitOfWork) -> None:
        challenge = uow.mfa_challenges.find(challenge_id, user_id=user_id)
        if challenge is not None:
            proof, destination = challenge.proof, replace(challenge.destination, device_token=client.device_token)
            note(uow, user_id, proof.provider, destination, SignInReason.SIGN_IN_OVER, proof.confinement)

    return PreAuthOver().because(SignInReason.SIGN_IN_OVER).leaving(trace)


def _noted(refusal: Refused, challenge: MfaChallenge, destination: Destination) -> Refused:
    proof = challenge.proof
    return noted(refusal, proof.user_id, proof.provider, destination, proof.confinement)


def _publish(uow: UnitOfWork, event: EventType, challenge: MfaChallenge, user: User, code: Code) -> None:
    """Publish an event to the organization of the sign-in, or without one to all organizations of the user."""
    slug = challenge.destination.organization_slug
    organization = uow.organizations.by_slug(slug) if slug is not None else None
    person_events.publish(
        uow,
        event,
        user.id,
        user.email,
        organization_id=organization.id if organization is not None else None,
        method=code.method,
    )

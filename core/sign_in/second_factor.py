"""The second step of a sign-in with multi-factor authentication: a code or a passkey, sent with the pre-auth token.

`conclusion.py` ends the first step with a pre-auth token, and continues after a right answer. Each code is valid once:
a conditional write uses up its time step or backup code, and a lock protects the pre-auth token. The same lock protects
the challenge for a passkey, which belongs to that token: one is open at a time, and one answer uses it up, right or
wrong. Wrong passkeys and wrong codes count together.

A passkey that has begun the sign-in, without checking a PIN, a finger or a face, is not asked for a second time: that
would prove the same key twice.
"""

from __future__ import annotations

from dataclasses import field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from core.accounts import sign_in_failures
from core.accounts.sign_in_methods import Provider
from core.accounts.users import User
from core.credentials import mfa, passkey_challenges, passkeys
from core.credentials.mfa import MfaEvent
from core.credentials.webauthn import PasskeyAssertion
from core.errors import BadRequest, RateLimitExceeded, Refusal, TokenExpired, TokenInvalid, Unauthorized
from core.events import person_events
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.sessions.browser_sessions import BrowserSession
from core.sessions.sessions import OTP
from core.sign_in import conclusion, mfa_challenges, recognition
from core.sign_in.login_events import Refused, note_refusal, noted_refusal, record_failure
from core.sign_in.mfa_challenges import MfaChallenge, SignInCompleted
from core.sign_in.proofs import Destination, IdentityProof
from core.sign_in.reasons import CountedReason, CountedRefusal, SignInReason

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


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
    """The code is not a current one of this user, or was used before."""

    counted_as = CountedReason.WRONG_CODE

    default_message = (
        "This code is wrong or was used before. Wait for your app's next code, or use one of your backup codes."
    )


class PasskeyWrong(CodeWrong):
    """Not a second factor of this user, wrongly signed, too late, or for another sign-in: one answer for all."""

    counted_as = CountedReason.WRONG_PASSKEY

    default_message = (
        "This passkey was not accepted. Try again, or use a code of your authenticator app or one of your backup codes."
    )


class NoPasskeyFactor(BadRequest):
    """The user has no passkey that finishes this sign-in."""

    default_message = (
        "No passkey finishes this sign-in. Send a code of the authenticator app, or a backup code, to"
        " POST /api/auth/mfa/verify."
    )


class TooManyWrongCodes(CodeWrong):
    """The wrong codes have voided the pre-auth token."""

    default_message = "This code is wrong, and there were too many wrong codes. Sign in again."


class TooManyWrongPasskeys(TooManyWrongCodes):
    """The same, where the last answer came from a passkey."""

    counted_as = CountedReason.WRONG_PASSKEY

    default_message = "This passkey was not accepted, and there were too many wrong answers. Sign in again."


class Method(StrEnum):
    """A kind of second factor."""

    TOTP = "totp"
    BACKUP_CODE = "backup_code"
    PASSKEY = "passkey"


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """A typed code, in the form that is compared."""

    method: Method
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactorVerified:
    """The answer was right, and the sign-in is complete."""

    completed: SignInCompleted
    method: Method


def ask_passkey(uow: UnitOfWork, user_id: UUID, challenge_id: UUID, client: Destination, /) -> dict[str, Any]:
    """Return the options for the browser to ask for one of the user's passkeys, in place of any earlier ones.

    Raise `PreAuthOver` as `verify` does, and `NoPasskeyFactor`.
    """
    user = uow.users.lock(user_id)
    challenge = uow.mfa_challenges.lock(challenge_id, user_id=user_id)
    if user is None or challenge is None:
        raise _over(user_id, challenge_id, client)
    own = uow.passkeys.of_user(user_id) if challenge.takes_passkey and user.has_passkey_factor else ()
    allowed = [one.descriptor for one in own if one.is_second_factor and one.domain_id == uow.origin.domain_id]
    if not allowed:
        raise NoPasskeyFactor
    asked = passkey_challenges.nonce(uow)
    uow.mfa_challenges.ask_passkey(challenge.id, asked, expires_at=uow.now + passkey_challenges.LIFETIME)
    return uow.webauthn.request_options(asked, allowed=allowed)


def verify(
    uow: UnitOfWork,
    user_id: UUID,
    challenge_id: UUID,
    answer: str | PasskeyAssertion,
    /,
    *,
    network: str | None,
    client: Destination,
    trust_device: bool,
) -> SecondFactorVerified | Refusal:
    """Complete a sign-in that waits for a second factor, or record a wrong one and return the refusal.

    `answer` is a typed code or the assertion of a passkey. `client` has the device and the browser that sent it; the
    organization comes from the challenge.

    Raise `PreAuthOver` when the challenge is used, void, expired or ended, and `BadRequest` when the input is no code.
    """
    # The account first, as for the first factor: whatever ends its sessions comes before this sign-in, and has ended
    # the challenge, or after it, and ends the new session. It also serializes the user's attempts.
    user = uow.users.lock(user_id)
    challenge = uow.mfa_challenges.lock(challenge_id, user_id=user_id)
    if user is None or challenge is None:
        raise _over(user_id, challenge_id, client)
    destination = replace(
        challenge.destination, device_token=client.device_token, browser=client.browser, target=client.target
    ).of_proved()
    if not user.has_mfa:
        raise _noted(PreAuthOver().because(SignInReason.MFA_TURNED_OFF), challenge, destination)
    given = _parse(answer) if isinstance(answer, str) else answer
    method = given.method if isinstance(given, Code) else Method.PASSKEY
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
    mfa.record_event(uow, MfaEvent.VERIFY_ATTEMPT, user.id, method=method)
    if isinstance(given, Code):
        proved = _use(uow, user.id, given, is_new_device=not recognized().is_known)
    else:
        proved = _use_passkey(uow, user.id, challenge, given)
    if not proved:
        uow.sign_in_failures.fail(attempt_id)
        return _refuse(uow, challenge, user, method, destination)

    uow.sign_in_failures.remove(attempt_id)
    uow.mfa_challenges.use(challenge.id)
    mfa.record_event(uow, MfaEvent.VERIFY_SUCCESS, user.id, method=method)
    _publish(uow, EventType.USER_MFA_VERIFY_SUCCESS, challenge, user, method)
    outcome = conclusion.conclude_with_second_factor(
        uow,
        user,
        challenge,
        destination,
        proved=proved,
        trust_device=trust_device,
    )
    if isinstance(outcome, Refusal):
        return outcome
    return SecondFactorVerified(completed=outcome, method=method)


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
    backup_code = mfa.normalized_backup_code(typed)
    if backup_code is not None:
        return Code(method=Method.BACKUP_CODE, value=backup_code)
    raise BadRequest.of_field("code", "This must be the six digits from your app, or a backup code such as ABCD-2345.")


def _use(uow: UnitOfWork, user_id: UUID, code: Code, *, is_new_device: bool) -> tuple[str, ...]:
    """Use up a code; return what it proves (RFC 8176), for both kinds a one-time password; nothing if it is wrong."""
    if code.method is Method.BACKUP_CODE:
        return (OTP,) if mfa.use_backup_code(uow, user_id, code.value, is_new_device=is_new_device) else ()
    app = uow.totp_secrets.lock(user_id)
    if app is None or not app.is_enabled:
        return ()
    step = uow.totp.step_of(app.secret, code.value, at=uow.now)
    return (OTP,) if step is not None and uow.totp_secrets.use_step(user_id, step) else ()


def _use_passkey(
    uow: UnitOfWork, user_id: UUID, challenge: MfaChallenge, assertion: PasskeyAssertion
) -> tuple[str, ...]:
    """Use up the challenge that a passkey was to sign; return the methods that its answer proves, none if wrong."""
    uow.mfa_challenges.end_passkey(challenge.id)
    asked = challenge.asked_of_passkey(uow.now)
    passkey = uow.passkeys.by_credential_id(assertion.credential_id)
    is_factor = passkey is not None and passkey.user_id == user_id and passkey.is_second_factor
    asserted = uow.webauthn.check_assertion(
        assertion, asked or b"", passkey.public_key if passkey is not None and is_factor else None
    )
    # An authenticator may omit the user handle, because it was sent a list (WebAuthn 7.2, step 6).
    is_handle_right = assertion.user_handle in {None, b"", passkey_challenges.subject_of(user_id)}
    if asked is None or passkey is None or not is_factor or asserted is None or not is_handle_right:
        return ()
    if not uow.passkeys.record_use(
        passkey.id, sign_count=asserted.sign_count, is_user_verified=asserted.is_user_verified, at=uow.now
    ):
        passkeys.record_regression(uow, passkey, asserted)
        return ()
    return passkey.methods


def _refuse(
    uow: UnitOfWork, challenge: MfaChallenge, user: User, method: Method, destination: Destination
) -> CodeWrong:
    is_passkey, proof = method is Method.PASSKEY, challenge.proof
    reason = SignInReason.WRONG_PASSKEY if is_passkey else SignInReason.WRONG_CODE
    mfa.record_event(
        uow, MfaEvent.VERIFY_FAILED, user.id, method=method, attempts=challenge.attempts + 1, reason=reason
    )
    _publish(uow, EventType.USER_MFA_VERIFY_FAILED, challenge, user, method)
    if not mfa_challenges.count_wrong_code(uow, challenge):
        note_refusal(uow, user.id, proof.used_way, destination, reason, challenge)
        return (PasskeyWrong() if is_passkey else CodeWrong()).because(reason)
    # The sign-in as a whole has failed.
    record_failure(
        uow,
        user,
        proof.used_way,
        destination,
        reason=SignInReason.TOO_MANY_WRONG_CODES,
        waited=challenge,
    )
    over = TooManyWrongPasskeys() if is_passkey else TooManyWrongCodes()
    return over.because(SignInReason.TOO_MANY_WRONG_CODES)


def _over(user_id: UUID, challenge_id: UUID, client: Destination) -> PreAuthOver:
    """Return the refusal of a challenge that is over, which is noted while the challenge is kept."""

    def trace(uow: UnitOfWork) -> None:
        challenge = uow.mfa_challenges.find(challenge_id, user_id=user_id)
        if challenge is not None:
            proof, destination = challenge.proof, replace(challenge.destination, device_token=client.device_token)
            note_refusal(uow, user_id, proof.used_way, destination.of_proved(), SignInReason.SIGN_IN_OVER)

    return PreAuthOver().because(SignInReason.SIGN_IN_OVER).leaving(trace)


def _noted(refusal: Refused, challenge: MfaChallenge, destination: Destination) -> Refused:
    proof = challenge.proof
    return noted_refusal(refusal, proof.user_id, proof.used_way, destination)


def _publish(uow: UnitOfWork, event: EventType, challenge: MfaChallenge, user: User, method: Method) -> None:
    """Publish an event to the organization of the sign-in, or without one to all organizations of the user."""
    slug = challenge.destination.organization_slug
    organization = uow.organizations.by_slug(slug) if slug is not None else None
    person_events.publish(
        uow,
        event,
        user.id,
        user.email,
        organization_id=organization.id if organization is not None else None,
        method=method,
    )

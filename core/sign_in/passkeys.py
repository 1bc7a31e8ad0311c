"""Signing in with a passkey, with or without entering an address first.

The request does the same work, and its answer looks the same, whether or not an account has the address
(`core/credentials/passkey_challenges.py`). So does a refusal, whether or not the passkey exists. A passkey whose
authenticator checked a PIN, a finger or a face counts as two factors, otherwise as one. After a valid answer,
`conclusion.py` continues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.sign_in_methods import Provider
from core.accounts.users import User
from core.credentials import passkey_challenges
from core.credentials.passkey_challenges import ANY_ACCOUNT, PasskeyOptions, Purpose, StoredPasskeyChallenge
from core.credentials.passkeys import Passkey, record_regression
from core.credentials.webauthn import PasskeyAssertion, VerifiedAssertion
from core.email_addresses import canonical_email
from core.errors import Refusal, SsoRequired
from core.sessions.sessions import MFA
from core.sign_in import conclusion, places
from core.sign_in.customer_choices import CustomerRequired
from core.sign_in.judgement import OF_ANSWER, PasskeyFacts, judge
from core.sign_in.login_events import refuse
from core.sign_in.mfa_challenges import Outcome
from core.sign_in.proofs import Destination, IdentityProof, UsedWay
from core.sign_in.reasons import SignInRefused, reason_of_rule

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class PasskeyRefused(SignInRefused):
    """Unknown, of another account, wrongly signed, too late, of an unusable account: one answer for all."""

    default_message = (
        "This passkey was not accepted. Try again, or use another sign-in method; if your email address is not verified"
        " yet, verify it first."
    )


def start(uow: UnitOfWork, email: str | None, destination: Destination) -> PasskeyOptions:
    """Return the options to request a passkey of an address, or without an address any passkey of this service."""
    places.require_known(uow, destination.organization_slug)
    if email is None:
        challenge = passkey_challenges.begin_sign_in(uow, ANY_ACCOUNT)
        return PasskeyOptions(
            challenge_id=challenge.id, options=uow.webauthn.request_options(challenge.challenge, allowed=())
        )

    address = canonical_email(email, uow.domain_names.to_ascii)
    passkeys = uow.passkeys.of_address(address)
    # Without passkeys, a random id makes a challenge that no passkey can answer, by the same work.
    user_id = passkeys[0].user_id if passkeys else uow.randomness.new_account_id()
    challenge = passkey_challenges.begin_sign_in(uow, passkey_challenges.subject_of(user_id))
    address_decoys = passkey_challenges.decoys_of_address(uow, address)
    allowed = [passkey.descriptor for passkey in passkeys if passkey.begins_sign_ins] or address_decoys
    return PasskeyOptions(
        challenge_id=challenge.id, options=uow.webauthn.request_options(challenge.challenge, allowed=allowed)
    )


def finish(uow: UnitOfWork, challenge_id: UUID, assertion: PasskeyAssertion, destination: Destination) -> Outcome:
    """Sign in with an authenticator's assertion, or record the failed attempt and refuse."""
    passkey = uow.passkeys.by_credential_id(assertion.credential_id)
    # The account before its passkey, in the order of a removal. Without a passkey, a random id makes the same queries.
    owner_id = passkey.user_id if passkey is not None else uow.randomness.new_account_id()
    user = uow.users.lock(owner_id)
    challenge = uow.passkey_challenges.use(
        challenge_id, Purpose.AUTHENTICATE, user_id=None, answered_by=owner_id, at=uow.now
    )
    asserted = uow.webauthn.check_assertion(
        assertion,
        challenge.challenge if challenge is not None else b"",
        passkey.public_key if passkey is not None else None,
    )
    is_accepted = has_regressed = False
    if (
        challenge is not None
        and passkey is not None
        and asserted is not None
        and passkey.begins_sign_ins
        and _may_answer(uow, challenge, passkey, assertion)
    ):
        is_accepted = True
        has_regressed = not uow.passkeys.record_use(
            passkey.id, sign_count=asserted.sign_count, is_user_verified=asserted.is_user_verified, at=uow.now
        )
        if has_regressed:
            record_regression(uow, passkey, asserted)
    facts = PasskeyFacts(is_place_known=True, user=user, is_accepted=is_accepted, has_regressed=has_regressed)
    refusal = judge(OF_ANSWER, facts).refusal
    if refusal is not None or passkey is None or asserted is None:
        return _refuse(uow, user, destination, refusal)

    outcome = conclusion.conclude(uow, _proof(passkey, asserted), destination)
    if isinstance(outcome, Refusal) and not isinstance(outcome, (SsoRequired, CustomerRequired)):
        return PasskeyRefused().because(outcome.reason)
    return outcome


def _may_answer(
    uow: UnitOfWork, challenge: StoredPasskeyChallenge, passkey: Passkey, assertion: PasskeyAssertion
) -> bool:
    """Return whether the challenge and the user handle both name the passkey's owner (WebAuthn 7.2, step 6)."""
    subject = passkey_challenges.subject_of(passkey.user_id)
    if not assertion.user_handle:
        # Only an authenticator that was sent a list of credentials may omit the user handle.
        return passkey_challenges.is_for(uow, challenge, subject)
    is_subject = passkey_challenges.is_for(uow, challenge, ANY_ACCOUNT) or passkey_challenges.is_for(
        uow, challenge, subject
    )
    return is_subject and assertion.user_handle == subject


def _proof(passkey: Passkey, asserted: VerifiedAssertion) -> IdentityProof:
    proof = IdentityProof(user_id=passkey.user_id, provider=Provider.PASSKEY, amr=passkey.methods)
    return proof.with_methods(MFA) if asserted.is_user_verified else proof


def _refuse(uow: UnitOfWork, user: User | None, destination: Destination, refusal: Refusal | None) -> SignInRefused:
    way, reason = UsedWay(Provider.PASSKEY), reason_of_rule(refusal)
    return refuse(uow, user, way, destination, PasskeyRefused(), reason=reason)

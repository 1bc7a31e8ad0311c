"""Signing in with a passkey, with or without saying first who one is.

Asking is the same work and looks alike whether or not an account has the address (`passkeys_stand_ins.py`), and so is
being refused, whether or not there is such a passkey. A passkey whose authenticator checked a PIN, a finger or a face
is two factors in one; without that it is one. After a right answer everything goes on in `sign_in.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.accounts.providers import Provider
from core.credentials import decoys, passkey_challenges
from core.credentials.passkey_challenges import ANY_ACCOUNT, PasskeyOptions, Purpose
from core.credentials.passkeys import PasskeyEvent
from core.email_addresses import canonical_email
from core.errors import Refusal
from core.sign_in import arrivals, conclusion
from core.sign_in.proofs import Proof
from core.sign_in.refusals import SignInRefused, refuse

if TYPE_CHECKING:
    from uuid import UUID

    from core.accounts.users import User
    from core.credentials.passkey_challenges import StoredPasskeyChallenge
    from core.credentials.passkeys import Passkey
    from core.credentials.webauthn import Asserted, Assertion
    from core.sign_in.conclusion import Outcome
    from core.sign_in.proofs import Destination
    from ports.unit_of_work import UnitOfWork


class PasskeyRefused(SignInRefused):
    """Unknown, of somebody else, wrongly signed, too late, of an account that may not be used: one answer for all."""

    default_message = (
        "This passkey was not accepted. Try again or sign in in another way; if your email address is not verified yet,"
        " verify it first."
    )


def start(uow: UnitOfWork, email: str | None, destination: Destination) -> PasskeyOptions:
    """Ask a browser for a passkey: one of this address, or without an address any that it has for us."""
    arrivals.find_organization(uow, destination.organization_slug)
    if email is None:
        challenge = passkey_challenges.begin_sign_in(uow, ANY_ACCOUNT)
        return PasskeyOptions(
            challenge_id=challenge.id, options=uow.webauthn.request_options(challenge.challenge, allowed=())
        )

    address = canonical_email(email)
    passkeys = uow.passkeys.of_address(address)
    # A challenge that nobody can answer is made like any other.
    user_id = passkeys[0].user_id if passkeys else uow.randomness.new_id()
    challenge = passkey_challenges.begin_sign_in(uow, passkey_challenges.subject_of(user_id))
    stand_ins = decoys.of_address(uow, address)
    allowed = [passkey.descriptor for passkey in passkeys] or stand_ins
    return PasskeyOptions(
        challenge_id=challenge.id, options=uow.webauthn.request_options(challenge.challenge, allowed=allowed)
    )


def finish(uow: UnitOfWork, challenge_id: UUID, assertion: Assertion, destination: Destination) -> Outcome:
    """Let somebody in with what their authenticator signed, or remember that somebody tried."""
    challenge = uow.passkey_challenges.use(challenge_id, Purpose.AUTHENTICATE, user_id=None, at=uow.now)
    passkey = uow.passkeys.by_credential_id(assertion.credential_id)
    # The account before its passkey, as whoever removes a passkey does. Nobody's account is locked like anybody's.
    user = uow.users.lock(passkey.user_id if passkey is not None else uow.randomness.new_id())
    asserted = uow.webauthn.check_assertion(
        assertion,
        challenge.challenge if challenge is not None else b"",
        passkey.public_key if passkey is not None else None,
    )
    if challenge is None or passkey is None or asserted is None or not _may_answer(uow, challenge, passkey, assertion):
        return _refuse(uow, user, destination, reason="wrong_passkey")
    if not uow.passkeys.record_use(passkey.id, sign_count=asserted.sign_count, at=uow.now):
        _record_regress(uow, passkey, asserted)
        return _refuse(uow, user, destination, reason="sign_count_regressed")

    outcome = conclusion.conclude(uow, _proof(passkey, asserted), destination)
    return PasskeyRefused() if isinstance(outcome, Refusal) else outcome


def _may_answer(uow: UnitOfWork, challenge: StoredPasskeyChallenge, passkey: Passkey, assertion: Assertion) -> bool:
    """Say whether the passkey's owner is who was asked, and who the authenticator says it is (WebAuthn 7.2, step 6)."""
    subject = passkey_challenges.subject_of(passkey.user_id)
    if not assertion.user_handle:
        # Only an authenticator that was told which credential is meant may leave out whose it is.
        return passkey_challenges.is_for(uow, challenge, subject)
    is_asked = passkey_challenges.is_for(uow, challenge, ANY_ACCOUNT) or passkey_challenges.is_for(
        uow, challenge, subject
    )
    return is_asked and assertion.user_handle == subject


def _proof(passkey: Passkey, asserted: Asserted) -> Proof:
    # RFC 8176: a key that may be copied to other devices is one in software; and somebody was there to touch it.
    key = "swk" if passkey.backup_eligible else "hwk"
    proof = Proof(user_id=passkey.user_id, provider=Provider.PASSKEY, amr=(key, "user"))
    return proof.with_methods("mfa") if asserted.is_user_verified else proof


def _record_regress(uow: UnitOfWork, passkey: Passkey, asserted: Asserted) -> None:
    """Write down that an authenticator counted backwards: perhaps there are two of it."""
    uow.mfa_events.add(
        passkey.user_id,
        PasskeyEvent.SIGN_COUNT_REGRESSED,
        is_success=False,
        details={"passkey_id": str(passkey.id), "expected_over": passkey.sign_count, "given": asserted.sign_count},
    )


def _refuse(uow: UnitOfWork, user: User | None, destination: Destination, *, reason: str) -> SignInRefused:
    return refuse(uow, user, Provider.PASSKEY, destination, PasskeyRefused(), reason=reason)

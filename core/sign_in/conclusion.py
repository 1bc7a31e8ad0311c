"""The common conclusion of every sign-in method: password, passkey, magic link, and later ones.

After any proof of identity the same judgement follows (`rules.py`, `judgement.py`): the facts are read
(`fact_reading.py`), the rules judge them, and their answers are carried out (`effects.py`). A sign-in that waited for a
second factor is judged again as a whole, because minutes have passed. Each method makes its proof in its own module.

Another method proves who the caller is and does no more: it makes an `IdentityProof` and passes it here
(`magic_links.py` is the shortest). What another party could have proved is confined: the proof names to what
(`core/sessions/caller_limits.py`), and the session keeps it (ops/decisions/0028-confined-sessions.md). What is slow
stays outside: `entrypoints/shared/sign_in/login.py` reads the hash to compare with, compares it on threads, and
concludes in a second transaction.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.accounts.users import User
from core.errors import Refusal
from core.sessions.sessions import MFA
from core.sign_in import effects, fact_reading
from core.sign_in.customer_choices import CustomerDue
from core.sign_in.fact_reading import DeferredCircumstances
from core.sign_in.facts import SignInFacts, Stage
from core.sign_in.judgement import Judgement, judge
from core.sign_in.login_events import noted_refusal
from core.sign_in.mfa_challenges import BegunSession, MfaChallenge, Outcome, SecondFactorPending, SignInCompleted
from core.sign_in.proofs import Destination, IdentityProof
from core.sign_in.reasons import SignInInterrupted, SignInReason
from core.sign_in.rules import RULES, Amend, Asks

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def conclude(uow: UnitOfWork, proof: IdentityProof, destination: Destination) -> Outcome:
    """Begin a session for a proved identity, require a second factor, or refuse."""
    locked = uow.users.defer_lock(proof.user_id)
    circumstances = fact_reading.defer_circumstances(uow, proof.user_id, destination)
    return conclude_locked(uow, locked(), proof, destination, circumstances)


def conclude_locked(
    uow: UnitOfWork,
    user: User | None,
    proof: IdentityProof,
    destination: Destination,
    circumstances: DeferredCircumstances | None = None,
) -> Outcome:
    """Do what `conclude` does, with an account that the caller has locked.

    The lock ensures that a concurrent deactivation or new password ends the session that begins here. `circumstances`
    were deferred behind it, where the caller could do so in the same round trip.
    """
    with _noting(proof, destination):
        judged = _judged(uow, _facts(uow, user, proof, destination), circumstances)
        return _with_tokens(uow, judged, effects.apply(uow, judged))


def conclude_child(
    uow: UnitOfWork,
    user: User | None,
    proof: IdentityProof,
    destination: Destination,
    circumstances: DeferredCircumstances,
    *,
    is_admitted_by_saml: bool | None = None,
) -> BegunSession | SecondFactorPending | Refusal:
    """Do what `conclude_locked` does, for a session whose tokens are for another party; nothing is read behind it."""
    with _noting(proof, destination):
        facts = _facts(uow, user, proof, destination, is_admitted_by_saml=is_admitted_by_saml)
        judged = _judged(uow, facts, circumstances)
        if judged.answer == Asks(SignInReason.CUSTOMER_ASKED):
            raise CustomerDue().because(SignInReason.CUSTOMER_ASKED)
        return effects.apply(uow, judged)


def conclude_with_second_factor(
    uow: UnitOfWork,
    user: User,
    challenge: MfaChallenge,
    destination: Destination,
    *,
    proved: Sequence[str],
    trust_device: bool,
) -> SignInCompleted | Refusal:
    """Begin the session of a sign-in that waited for a second factor, after the right one, or refuse.

    `proved` are the methods that the factor proves (RFC 8176). The caller has locked the account.
    """
    proof = challenge.proof.with_methods(*proved, MFA)
    with _noting(proof, destination):
        judged = _judged(uow, _facts(uow, user, proof, destination, has_waited=True))
        outcome = _with_tokens(uow, judged, effects.apply(uow, judged, trust_device=trust_device, waited=challenge))
    assert not isinstance(outcome, SecondFactorPending), "a second factor was asked for behind the second factor"
    return outcome


def conclude_for_customer(
    uow: UnitOfWork, user: User, challenge: MfaChallenge, destination: Destination
) -> SignInCompleted | Refusal:
    """Begin the session of a sign-in whose user has chosen the customer that the destination names, or refuse.

    The caller has locked the account.
    """
    proof, trusts = challenge.proof, challenge.trusts_device
    with _noting(proof, destination):
        judged = _judged(uow, _facts(uow, user, proof, destination, has_waited=True))
        if judged.answer == Asks(SignInReason.SECOND_FACTOR_ASKED):
            # It was turned on in the meantime, or the customer trusts the device for a shorter time.
            raise SignInInterrupted().because(SignInReason.SECOND_FACTOR_REQUIRED)
        outcome = _with_tokens(uow, judged, effects.apply(uow, judged, trust_device=trusts, waited=challenge))
    assert not isinstance(outcome, SecondFactorPending), "a second factor was asked for behind the choice"
    return outcome


@contextmanager
def _noting(proof: IdentityProof, destination: Destination) -> Generator[None]:
    """Add to a refusal that rolls everything back the record that it leaves behind."""
    try:
        yield
    except Refusal as refusal:
        raise noted_refusal(refusal, proof.user_id, proof.used_way, destination.of_proved()) from None


def _facts(
    uow: UnitOfWork,
    user: User | None,
    proof: IdentityProof,
    destination: Destination,
    *,
    has_waited: bool = False,
    is_admitted_by_saml: bool | None = None,
) -> SignInFacts:
    return SignInFacts(
        user=user,
        proof=proof,
        destination=destination,
        now=uow.now,
        has_waited=has_waited,
        is_admitted_by_saml=is_admitted_by_saml,
    )


def _judged(
    uow: UnitOfWork, facts: SignInFacts, circumstances: DeferredCircumstances | None = None
) -> Judgement[SignInFacts]:
    """Judge by all rules: read what they need, and carry out each change before the rules behind it judge."""
    judged = judge(RULES, facts)
    while judged.stage is not None or judged.answer is Amend.RECLAIM:
        if judged.stage is Stage.UNCONFIRMED_ACCESS:
            facts = fact_reading.with_unconfirmed_access(uow, facts)
        elif judged.stage is Stage.CIRCUMSTANCES:
            facts = fact_reading.with_circumstances(uow, facts, circumstances)
        else:
            # What was deferred before is out of date.
            facts, circumstances = effects.amend(uow, facts), None
        judged = judge(RULES, facts, judged)
    return judged


def _with_tokens(
    uow: UnitOfWork, judged: Judgement[SignInFacts], applied: BegunSession | SecondFactorPending | Refusal
) -> Outcome:
    if not isinstance(applied, BegunSession):
        return applied
    return effects.with_tokens(uow, judged.facts.account, applied)

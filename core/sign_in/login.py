"""Sign-in by email address and password: the checks before the slow comparison, and the steps after it.

The comparison happens between two transactions, on the hasher's own threads. The attempt is counted before it, and
removed when the password was right or was not compared after all (`core/accounts/sign_in_failures.py`). A client that
hangs up before the comparison has not failed; one that hangs up during it has, if the password was wrong. After a right
password, `conclusion.py` continues. An unknown address executes the same statements as a wrong password, so that the
response time does not reveal which it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import sign_in_failures
from core.accounts.sign_in_methods import Provider
from core.accounts.users import User
from core.email_addresses import canonical_email
from core.errors import RateLimitExceeded
from core.lazy_dataclasses import dataclass
from core.sign_in import conclusion, fact_reading, places, recognition
from core.sign_in.judgement import BEFORE_COMPARISON, BY_COMPARISON, Failures, PasswordFacts, judge
from core.sign_in.login_events import noted_refusal, refuse
from core.sign_in.mfa_challenges import Outcome
from core.sign_in.proofs import Destination, IdentityProof, UsedWay
from core.sign_in.reasons import SignInReason, SignInRefused, reason_of_rule

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginAttempt:
    """An attempt that is admitted to the comparison.

    `decoys` are the kinds of hashes that other accounts have: a refusal does the work of all of them, because its time
    must not reveal which kind this account has, or whether there is one.
    """

    id: UUID
    facts: PasswordFacts
    password_hash: str | None = field(repr=False)
    decoys: Sequence[str]

    @property
    def user(self) -> User | None:
        """The account of the address; None without one."""
        return self.facts.user


def begin(uow: UnitOfWork, email: str, network: str | None, destination: Destination) -> LoginAttempt:
    """Count and return the attempt, with the hash to compare; refuse an unknown organization, or too many attempts."""
    is_place_known = places.defer_is_known(uow, destination.organization_slug)
    address = canonical_email(email, uow.domain_names.to_ascii)
    stored = uow.credentials.defer_password_of(address)
    owner_of_device = recognition.defer_owner(uow, destination.device_token)
    decoys = uow.credentials.defer_decoys()
    session_id = destination.continued_session_id
    recorded = sign_in_failures.record(uow, address, network, session_id=session_id)
    found, owner_id = stored(), owner_of_device()
    user = found.user if found is not None else None
    # The right password of a deactivated account is refused, and would be compared in less time than a wrong one.
    password_hash = found.password_hash if found is not None and found.user.may_sign_in else None
    failures = None
    # Without a network the limits are off.
    if network is not None:
        failures = Failures(
            attempts=recorded.attempts,
            network=network,
            now=uow.now,
            is_known_device=user is not None and user.id == owner_id,
            session_id=session_id,
        )
    facts = PasswordFacts(
        is_place_known=is_place_known(), user=user, has_password=password_hash is not None, failures=failures
    )
    refusal = judge(BEFORE_COMPARISON, facts).refusal
    if isinstance(refusal, RateLimitExceeded):
        user_id = user.id if user is not None else None
        raise noted_refusal(refusal, user_id, UsedWay(Provider.PASSWORD), destination)
    if refusal is not None:
        raise refusal
    return LoginAttempt(id=recorded.id, facts=facts, password_hash=password_hash, decoys=decoys())


def give_up(uow: UnitOfWork, attempt: LoginAttempt) -> None:
    """Remove a counted attempt that revealed nothing: the hasher was too busy, or the client has hung up."""
    uow.sign_in_failures.remove(attempt.id)


def finish(
    uow: UnitOfWork,
    attempt: LoginAttempt,
    destination: Destination,
    *,
    is_right: bool,
    upgraded_hash: str | None = None,
) -> Outcome:
    """Conclude the sign-in after the comparison. `upgraded_hash` replaces a hash of an older kind.

    An attempt with a right password that is refused because of its destination counts for another minute.
    """
    facts = attempt.facts if is_right else replace(attempt.facts, is_right=False)
    refusal, user = judge(BY_COMPARISON, facts).refusal, attempt.user
    if user is None or refusal is not None:
        return _refuse(uow, attempt, destination, reason=reason_of_rule(refusal))
    locked = uow.credentials.defer_lock(user.id)
    circumstances = fact_reading.defer_circumstances(uow, user.id, destination)
    stored = locked()
    if stored is None or stored.password_hash != attempt.password_hash:
        # The password was changed or reset during the comparison.
        return _refuse(uow, attempt, destination, reason=SignInReason.PASSWORD_CHANGED)

    if upgraded_hash is not None:
        uow.credentials.set_password_hash(user.id, upgraded_hash)
    uow.sign_in_failures.remove(attempt.id)
    proof = IdentityProof(user_id=user.id, provider=Provider.PASSWORD, amr=("pwd",))
    return conclusion.conclude_locked(uow, stored.user, proof, destination, circumstances)


def _refuse(uow: UnitOfWork, attempt: LoginAttempt, destination: Destination, *, reason: SignInReason) -> Outcome:
    uow.sign_in_failures.fail(attempt.id)
    return refuse(uow, attempt.user, UsedWay(Provider.PASSWORD), destination, SignInRefused(), reason=reason)

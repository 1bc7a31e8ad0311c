"""Sign-in by email address and password: the checks before the slow comparison, and the steps after it.

The comparison happens between two transactions, on the hasher's own threads. The attempt is counted before it, and
removed when the password was right or was not compared after all (`core/accounts/sign_in_failures.py`). A client that
hangs up before the comparison has not failed; one that hangs up during it has, if the password was wrong. After a right
password, `conclusion.py` continues. An unknown address executes the same statements as a wrong password, so that the
response time does not reveal which it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import sign_in_failures
from core.accounts.providers import Provider
from core.accounts.users import User
from core.email_addresses import canonical_email
from core.errors import RateLimitExceeded
from core.lazy_dataclasses import dataclass
from core.sign_in import arrivals, conclusion, places, recognition
from core.sign_in.conclusion import Outcome
from core.sign_in.proofs import Destination, IdentityProof, UsedWay
from core.sign_in.reasons import SignInReason, reason_of_account
from core.sign_in.refusals import SignInRefused, noted, refuse

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginAttempt:
    """An attempt that is admitted to the comparison.

    `decoys` are the kinds of hashes that other accounts have: a refusal does the work of all of them, because its time
    must not tell which kind this account has, or whether there is one.
    """

    id: UUID
    user: User | None
    password_hash: str | None = field(repr=False)
    decoys: Sequence[str]


def begin(uow: UnitOfWork, email: str, network: str | None, destination: Destination) -> LoginAttempt:
    """Count and return the attempt, with the hash to compare; refuse an unknown organization, or too many attempts."""
    require_organization = places.defer_known(uow, destination.organization_slug)
    address = canonical_email(email, uow.domain_names.to_ascii)
    stored = uow.credentials.defer_password_of(address)
    owner_of_device = recognition.defer_owner(uow, destination.device_token)
    decoys = uow.credentials.defer_decoys()

    def is_known_device() -> bool:
        owner_id = owner_of_device()
        return owner_id is not None and (found := stored()) is not None and found.user.id == owner_id

    try:
        attempt_id = sign_in_failures.attempt(
            uow, address, network, is_known_device=is_known_device, session_id=destination.continued_session_id
        )
    except RateLimitExceeded as refusal:
        require_organization()
        limited = stored()
        user_id = limited.user.id if limited is not None else None
        raise noted(refusal, user_id, UsedWay(Provider.PASSWORD), destination) from None
    require_organization()
    found = stored()
    return LoginAttempt(
        id=attempt_id,
        user=found.user if found is not None else None,
        # The right password of a deactivated account is refused, and would be compared in less time than a wrong one.
        password_hash=found.password_hash if found is not None and found.user.may_sign_in else None,
        decoys=decoys(),
    )


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
    user = attempt.user
    if user is None or not user.may_sign_in or not is_right:
        return _refuse(uow, attempt, destination, reason=_reason(attempt))
    locked = uow.credentials.defer_lock(user.id)
    circumstances = arrivals.defer_circumstances(uow, user.id, destination)
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


def _reason(attempt: LoginAttempt) -> SignInReason:
    return reason_before_comparison(attempt.user, has_password=attempt.password_hash is not None) or (
        SignInReason.WRONG_PASSWORD
    )


def reason_before_comparison(user: User | None, *, has_password: bool) -> SignInReason | None:
    """Return why no password signs in to an account; None when the right one does."""
    if user is None:
        return SignInReason.UNKNOWN_ACCOUNT
    return reason_of_account(user) or (None if has_password else SignInReason.NO_PASSWORD)

"""Confirming a registration: the link that proves its address signs in as well.

In the browser in which the registration was made on a page, the link is enough. Any other browser needs the password of
that registration: otherwise a link that an attacker requested for their own account would sign its reader in there, and
a person who did not register would verify the account of an attacker. A wrong password counts as a failed sign-in.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import email_verification, sign_in_failures
from core.accounts.links import LinkUnusable
from core.accounts.sign_in_methods import Provider
from core.accounts.users import User
from core.lazy_dataclasses import dataclass
from core.sign_in import conclusion
from core.sign_in.login_events import refuse
from core.sign_in.mfa_challenges import Outcome
from core.sign_in.proofs import Destination, IdentityProof, UsedWay
from core.sign_in.reasons import SignInReason, SignInRefused

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class RegistrationPasswordWrong(SignInRefused):
    """The password is not the one of the link's registration."""

    default_message = "This is not the password of this registration. Try again, or choose a new one."


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationAttempt:
    """A counted attempt at the password of a registration."""

    id: UUID
    user: User
    password_hash: str = field(repr=False)


def begin(uow: UnitOfWork, token: str, network: str | None) -> RegistrationAttempt:
    """Count an attempt, and return it with the hash to compare; raise `LinkUnusable` or `RateLimitExceeded`."""
    found = email_verification.inspect_unproved(uow, token)
    if found.registration is None:
        # The link has no registration, or another request is using it up at this moment.
        raise LinkUnusable(email_verification.TEXTS.used).because("no_registration")
    attempt_id = sign_in_failures.attempt(uow, found.user.email, network)
    return RegistrationAttempt(id=attempt_id, user=found.user, password_hash=found.registration.password_hash)


def give_up(uow: UnitOfWork, attempt: RegistrationAttempt) -> None:
    """Remove a counted attempt that was not compared: the hasher was too busy, or the client has hung up."""
    uow.sign_in_failures.remove(attempt.id)


def finish(
    uow: UnitOfWork, attempt: RegistrationAttempt, token: str, destination: Destination, *, is_right: bool
) -> Outcome:
    """Confirm the registration and sign in after the right password, or count and refuse a wrong one."""
    if not is_right:
        uow.sign_in_failures.fail(attempt.id)
        return refuse(
            uow,
            attempt.user,
            UsedWay(Provider.PASSWORD),
            destination,
            RegistrationPasswordWrong(),
            reason=SignInReason.WRONG_PASSWORD,
        )
    uow.sign_in_failures.remove(attempt.id)
    return _confirm(uow, token, destination, method="pwd")


def confirm(uow: UnitOfWork, token: str, destination: Destination) -> Outcome:
    """Confirm the registration and sign in, in the browser in which it was made; raise `LinkUnusable`."""
    return _confirm(uow, token, destination, method="email")


def _confirm(uow: UnitOfWork, token: str, destination: Destination, *, method: str) -> Outcome:
    user = email_verification.confirm(uow, token)
    proof = IdentityProof(user_id=user.id, provider=Provider.PASSWORD, amr=(method,))
    return conclusion.conclude_locked(uow, user, proof, destination)

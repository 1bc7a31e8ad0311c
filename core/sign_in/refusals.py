"""Refused sign-ins: their errors, and recording them.

A refusal does not reveal whether there is an account, nor its state: neither by its text nor by its time, because the
same work is done without an account.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core.accounts.users import lock_unless_anonymized
from core.errors import Forbidden, Unauthorized
from core.events import person_events
from core.events.events import EventType
from core.sign_in import login_events, recognition, risk

if TYPE_CHECKING:
    from core.accounts.providers import Provider
    from core.accounts.users import User
    from core.sign_in.proofs import Destination
    from ports.unit_of_work import UnitOfWork


class CountedRefusal(Unauthorized):
    """A failed attempt to sign in, which the metrics count.

    Unauthenticated callers may read the metrics, so `counted_as` reveals no more than the refusal does.
    """

    counted_as: ClassVar[str]


class SignInRefused(CountedRefusal):
    """Unknown account, wrong secret, no secret, deactivated account: one answer for all."""

    default_message = "Email address or password is wrong."
    counted_as = "invalid_credentials"


class EmailNotVerified(SignInRefused):
    """The password was right, but the address is not verified; only a caller who knows the password learns this."""

    default_message = "Verify your email address first: open the link that was sent to you, or request a new one."
    counted_as = "email_not_verified"


class SignInInterrupted(SignInRefused):
    """The account was deactivated during the sign-in; another attempt returns the precise refusal."""

    default_message = "This sign-in could not be completed. Sign in again."


class ClosedToProviders(SignInRefused):
    """The account is closed, and the word of another party does not reopen it (decisions 10.8)."""

    default_message = (
        "This account is closed. To open it again, sign in with its password, a passkey, or a mailed link."
    )


class SecondFactorDue(Forbidden):
    """The session in the browser has not proved the second factor that this destination requires."""

    default_message = "This requires your second factor. Sign in again with it, and repeat this."


def refuse(
    uow: UnitOfWork,
    user: User | None,
    provider: Provider,
    destination: Destination,
    refusal: SignInRefused,
    *,
    reason: str,
) -> SignInRefused:
    """Record a failed sign-in and return the refusal; the user's organizations and the log alone learn the reason."""
    record_failure(uow, user, provider, reason=reason, device_token=destination.device_token)
    return refusal.because(reason)


def record_failure(
    uow: UnitOfWork, user: User | None, provider: Provider, *, reason: str, device_token: str | None
) -> None:
    """Record a refused sign-in.

    Without an account the same statements are executed, so that it takes as long: the rows of an account are not
    stored, and the event belongs to no organization.
    """
    # The account may have been anonymized while the password was compared.
    user = lock_unless_anonymized(uow, user)
    user_id = user.id if user is not None else uow.randomness.new_id()
    recognized, habits = recognition.defer_recognition(uow, user_id, device_token), risk.defer_habits(uow, user_id)
    receivers = person_events.defer_receivers(uow, user.id if user is not None else None)
    device_match = recognized()
    login_events.record(
        uow,
        user_id,
        provider,
        risk.assess(uow, habits(), is_known_device=device_match.is_known),
        is_success=False,
        device_id=device_match.known_device_id,
    )
    uow.publish_to_each(
        EventType.USER_LOGIN_FAILED,
        receivers(),
        actor_user_id=user.id if user is not None else None,
        actor_email=user.email if user is not None else None,
        provider=provider,
        reason=reason,
    )

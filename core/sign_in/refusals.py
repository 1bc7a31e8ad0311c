"""Sign-ins that were refused: in which words, and what is remembered of them.

Nobody who is refused learns whether there is an account, and in which state: not from the words, and not from the time,
because for nobody all is done that is done for somebody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core.accounts.users import lock_unless_anonymized
from core.errors import Unauthorized
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
    """Unknown account, wrong secret, no secret, deactivated: one answer for all of them."""

    default_message = "Email address or password is wrong."
    counted_as = "invalid_credentials"


class EmailNotVerified(SignInRefused):
    """Everything was right, but the address has not been proved; only said to whoever knew the password."""

    default_message = "Verify your email address first: open the link that was sent to you, or ask for a new one."
    counted_as = "email_not_verified"


class SignInBroken(SignInRefused):
    """The account was shut while somebody came in, in whatever way; trying again tells the rest."""

    default_message = "This sign-in could not be finished. Sign in again."


def refuse(
    uow: UnitOfWork,
    user: User | None,
    provider: Provider,
    destination: Destination,
    refusal: SignInRefused,
    *,
    reason: str,
) -> SignInRefused:
    """Record a failed sign-in and return the refusal; only the person's organizations learn the reason."""
    record_failure(uow, user, provider, reason=reason, device_token=destination.device_token)
    return refusal


def record_failure(
    uow: UnitOfWork, user: User | None, provider: Provider, *, reason: str, device_token: str | None
) -> None:
    """Remember that somebody tried to sign in and was refused.

    For nobody all is done that is done for somebody, so that it takes as long: what belongs to an account comes to
    nothing, and the event belongs to no organization.
    """
    # Somebody may have been forgotten while the password was compared.
    user = lock_unless_anonymized(uow, user)
    user_id = user.id if user is not None else uow.randomness.new_id()
    asked, habits = recognition.defer_recognition(uow, user_id, device_token), risk.defer_habits(uow, user_id)
    receivers = person_events.defer_receivers(uow, user.id if user is not None else None)
    sighting = asked()
    login_events.record(
        uow,
        user_id,
        provider,
        risk.assess(uow, habits(), is_known_device=sighting.is_known),
        is_success=False,
        device_id=sighting.known_device_id,
    )
    uow.publish_to_each(
        EventType.USER_LOGIN_FAILED,
        receivers(),
        actor_user_id=user.id if user is not None else None,
        actor_email=user.email if user is not None else None,
        provider=provider,
        reason=reason,
    )

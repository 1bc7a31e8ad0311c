"""Recording refused sign-ins.

A refusal whose changes are kept records its reason in the same transaction; one that is raised leaves it behind
(`noted`), after everything else was rolled back. The same work is done without an account, so that the time of a
refusal does not reveal whether there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from core.accounts.users import User
from core.errors import Refusal
from core.events import person_events
from core.events.events import EventType
from core.sign_in import login_events, recognition, risk
from core.sign_in.login_events import Attempt
from core.sign_in.mfa_challenges import MfaChallenge
from core.sign_in.proofs import Destination, UsedWay
from core.sign_in.reasons import SignInReason, reason_of

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork


Refused = TypeVar("Refused", bound=Refusal)


def refuse(
    uow: UnitOfWork,
    user: User | None,
    way: UsedWay,
    destination: Destination,
    refusal: Refused,
    *,
    reason: SignInReason,
) -> Refused:
    """Record a failed sign-in and return the refusal; only those who help, and the log, learn the reason."""
    record_failure(uow, user, way, destination, reason=reason)
    return refusal.because(reason.published)


def record_failure(
    uow: UnitOfWork,
    user: User | None,
    way: UsedWay,
    destination: Destination,
    *,
    reason: SignInReason,
    waited: MfaChallenge | None = None,
) -> None:
    """Record a refused sign-in, and publish that it failed; `waited` is set for one that waited for a second factor.

    Without an account the same statements are executed, so that it takes as long: the rows of an account are not
    stored, and the event belongs to no organization.
    """
    user_id = user.id if user is not None else uow.randomness.new_account_id()
    add_event = _defer_event(uow, user_id, way, destination, reason, waited)
    receivers = person_events.defer_receivers(uow, user_id)
    if not add_event():
        user = None
    uow.publish_to_each(
        EventType.USER_LOGIN_FAILED,
        receivers() if user is not None else (None,),
        actor_user_id=user.id if user is not None else None,
        actor_email=user.email if user is not None else None,
        provider=way.provider,
        reason=reason.published,
    )


def note_refusal(
    uow: UnitOfWork,
    user_id: UUID | None,
    way: UsedWay,
    destination: Destination,
    reason: SignInReason,
    waited: MfaChallenge | None = None,
) -> None:
    """Record why a sign-in was refused, and nothing else; without an account, by the same statements."""
    user_id = user_id or uow.randomness.new_account_id()
    _defer_event(uow, user_id, way, destination, reason, waited)()


def noted_refusal(refusal: Refused, user_id: UUID | None, way: UsedWay, destination: Destination) -> Refused:
    """Return a refusal that, when raised, leaves its reason behind; a refusal of another kind leaves nothing."""
    reason = reason_of(refusal.reason)
    if reason is None:
        return refusal
    return refusal.leaving(lambda uow: note_refusal(uow, user_id, way, destination, reason))


def _defer_event(
    uow: UnitOfWork,
    user_id: UUID,
    way: UsedWay,
    destination: Destination,
    reason: SignInReason,
    waited: MfaChallenge | None,
) -> Deferred[bool]:
    """Defer reading what the event of a refused attempt contains.

    The result records it and returns True, or False without an account, or when it is anonymized. By then no other
    transaction can anonymize it before this one ends, so that a later anonymization finds the event.
    """
    is_held = uow.anonymization.defer_hold(user_id)
    recognized = recognition.defer_recognition(uow, user_id, destination.device_token)
    refused = login_events.defer_refused(uow, user_id, way, destination, reason, has_waited=waited is not None)

    def add() -> bool:
        # The account may have been anonymized since it was found.
        is_there = is_held()
        device_match = recognized()
        read = refused()
        event_id = waited.event_id_in(read.place.organization_id) if waited is not None else None
        attempt = Attempt(
            id=event_id or uow.randomness.new_id(),
            user_id=user_id,
            way=way,
            device_id=device_match.known_device_id,
            risk=risk.assess(uow, read.habits, is_known_device=device_match.is_known),
            has_waited=event_id is not None,
        )
        if is_there and not (read.is_one_too_many and event_id is None):
            login_events.record_refused(uow, attempt, read.place, reason)
        else:
            login_events.pass_over(uow, attempt, read.place, reason)
        return is_there

    return add

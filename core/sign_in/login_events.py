"""Login events: every attempt to sign in to an existing account, for analytics, risk assessment and the export.

An attempt that is refused keeps its reason. One that waits for a second factor is an event as well; the completed
sign-in takes it over, unless its name belongs to another organization by then. The events that an unauthenticated
caller can cause are bounded: after as many refusals as a reason allows in fifteen minutes, no more are stored.

The log is partitioned by month (`core/platform/log_months.py`). What is older than `SIGN_INS_KEPT_FOR` is not shown, so
that no number changes when its month is dropped. What is counted of it stays (`core/audit/sign_in_counts.py`).

A refusal whose changes are kept records its reason in the same transaction; one that is raised leaves it behind
(`noted_refusal`), after everything else was rolled back. The same work is done without an account, so that the time of
a refusal does not reveal whether there is one.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from core.accounts.users import User
from core.errors import Refusal
from core.events import person_events
from core.events.events import EventType
from core.lazy_dataclasses import dataclass
from core.sign_in import recognition, risk
from core.sign_in.customer_choices import CustomerStanding, name_of
from core.sign_in.mfa_challenges import MfaChallenge
from core.sign_in.places import Place
from core.sign_in.proofs import Destination, MailedProof, UsedWay
from core.sign_in.reasons import ROWS_MAX, SignInReason, reason_of
from core.sign_in.risk import Habits, Risk

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPlace:
    """Where an attempt was to lead, by ids; without an organization where none exists or none may know of it.

    `through_organization_id` is the organization whose connection or custom domain was used; only an attempt that names
    no organization belongs to it. Or it is the organization of the customer `customer_id`, for which the user signed in
    to a service of another organization: such a sign-in belongs to both, and so does a refused one whose user had
    proved who they are.
    """

    organization_id: UUID | None = None
    service_id: UUID | None = None
    through_organization_id: UUID | None = None
    customer_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPlace:
    """Where a refused attempt was to lead, as it names it; a customer by its id or slug.

    With `is_for_known` an organization counts only where it knows the user.
    """

    organization_slug: str | None
    service_slug: str | None
    through_organization_id: UUID | None
    customer: UUID | str | None
    is_for_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedAttempt:
    """What the event of a refused attempt is made of, and whether the limit for its kind is reached."""

    habits: Habits
    place: EventPlace
    is_one_too_many: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginEvent:
    """One attempt to sign in; `risk_score` is 0 to 100, and the places are as in `EventPlace`.

    Without an organization it belongs to its person, whose id is `organization_id` then. `mailed_proof` is None where
    it is not known; the event of a sign-in that has waited keeps what was known of it.
    """

    id: UUID
    user_id: UUID
    organization_id: UUID
    service_id: UUID | None
    device_id: UUID | None
    connection_id: UUID | None
    through_organization_id: UUID | None
    customer_id: UUID | None
    provider: str
    mailed_proof: MailedProof | None
    success: bool
    reason: SignInReason | None
    ip_address: str | None
    user_agent: str | None
    request_id: str | None
    risk_score: int
    risk_factors: list[str]
    geo_country: str | None
    geo_city: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """An attempt to sign in, as it is assessed; `id` is the id of its event, which may be there already and wait."""

    id: UUID
    user_id: UUID
    way: UsedWay
    device_id: UUID | None
    risk: Risk
    has_waited: bool = False


def record(uow: UnitOfWork, attempt: Attempt, place: Place) -> None:
    """Record a sign-in with its origin; it replaces the event of one that has waited for a second factor.

    The place was read in this transaction, which keeps its organization from being deleted.
    """
    event_place = _event_place(uow, attempt, place, place.customer)
    uow.login_events.add(_event(uow, attempt, event_place, None), has_waited=attempt.has_waited)


def record_waiting(uow: UnitOfWork, attempt: Attempt, place: Place, habits: Habits, reason: SignInReason) -> None:
    """Record an attempt that waits for a second factor or a choice, unless as many have waited lately."""
    if habits.waiting < ROWS_MAX:
        # A customer must not learn of a user who has not confirmed the membership.
        customer = place.customer if place.customer is not None and place.customer.is_confirmed else None
        event = _event(uow, attempt, _event_place(uow, attempt, place, customer), reason)
        uow.login_events.add(event, has_waited=False)


def defer_refused(
    uow: UnitOfWork,
    user_id: UUID,
    way: UsedWay,
    destination: Destination,
    reason: SignInReason,
    *,
    has_waited: bool,
) -> Deferred[RefusedAttempt]:
    """Defer reading what the event of a refused attempt contains; its organization is not deleted in the meantime.

    It belongs to the organization that it names if a proof was given, as in every attempt that `has_waited`, and else
    only to one that knows the user: anyone who knows an address can name any organization, and a customer.
    """
    has_proof = reason.needs_proof or has_waited
    customer = destination.proved_for if has_proof else None
    named = NamedPlace(
        organization_slug=destination.organization_slug,
        service_slug=destination.service_slug,
        through_organization_id=_came_through(uow, way),
        customer=name_of(customer) if customer else None,
        is_for_known=not has_proof,
    )
    return uow.login_events.defer_refused(user_id, reason, named)


def record_refused(uow: UnitOfWork, attempt: Attempt, place: EventPlace, reason: SignInReason) -> None:
    """Record an attempt that is refused."""
    uow.login_events.add(_event(uow, attempt, place, reason), has_waited=attempt.has_waited)


def pass_over(uow: UnitOfWork, attempt: Attempt, place: EventPlace, reason: SignInReason) -> None:
    """Do the same work as `record_refused`, and record nothing."""
    uow.login_events.pass_over(_event(uow, attempt, place, reason))


def _came_through(uow: UnitOfWork, way: UsedWay) -> UUID | None:
    confined_to = way.confinement.organization_id if way.confinement is not None else None
    return confined_to or (uow.origin.custom_host.organization_id if uow.origin.custom_host else None)


def _event_place(uow: UnitOfWork, attempt: Attempt, place: Place, customer: CustomerStanding | None) -> EventPlace:
    if customer is not None:
        through = customer.organization_id
    else:
        through = _came_through(uow, attempt.way) if place.organization is None else None
    return EventPlace(
        organization_id=place.organization_id,
        service_id=place.service_id,
        through_organization_id=through,
        customer_id=customer.id if customer is not None else None,
    )


def _event(uow: UnitOfWork, attempt: Attempt, place: EventPlace, reason: SignInReason | None) -> LoginEvent:
    origin, risk, way = uow.origin, attempt.risk, attempt.way
    return LoginEvent(
        id=attempt.id,
        user_id=attempt.user_id,
        organization_id=place.organization_id or attempt.user_id,
        service_id=place.service_id,
        device_id=attempt.device_id,
        connection_id=way.confinement.connection_id if way.confinement is not None else None,
        through_organization_id=place.through_organization_id,
        customer_id=place.customer_id,
        provider=way.provider,
        mailed_proof=way.mailed_proof,
        success=reason is None,
        reason=reason,
        ip_address=origin.ip_address,
        user_agent=origin.user_agent,
        request_id=origin.request_id,
        risk_score=risk.percent,
        risk_factors=list(risk.factors),
        geo_country=risk.location.country if risk.location else None,
        geo_city=risk.location.city if risk.location else None,
        created_at=uow.now,
    )


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
    refused = defer_refused(uow, user_id, way, destination, reason, has_waited=waited is not None)

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
            record_refused(uow, attempt, read.place, reason)
        else:
            pass_over(uow, attempt, read.place, reason)
        return is_there

    return add

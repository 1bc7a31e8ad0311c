"""Reading the facts by which a sign-in is judged (`facts.py`), in as few round trips as its statements allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import single_sign_on
from core.accounts.single_sign_on import RequiredConnection
from core.events import person_events
from core.lazy_dataclasses import dataclass
from core.sign_in import places, recognition, risk
from core.sign_in.facts import Circumstances, KnownDevice, SignInFacts
from core.sign_in.places import Place
from core.sign_in.proofs import Destination, IdentityProof, Target
from core.sign_in.recognition import DeviceMatch
from core.sign_in.risk import Habits

if TYPE_CHECKING:
    from core.deferred import Deferred
    from core.sign_in.entitlement import ConnectionStanding
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredCircumstances:
    """The circumstances of a sign-in, all of them read in one round trip after the account was locked."""

    place: Deferred[Place]
    target: Deferred[Target]
    required_connection: Deferred[RequiredConnection | None]
    device_match: Deferred[DeviceMatch]
    habits: Deferred[Habits]
    receivers: Deferred[Sequence[UUID | None]]


def defer_circumstances(uow: UnitOfWork, user_id: UUID, destination: Destination) -> DeferredCircumstances:
    """Defer reading the circumstances of a sign-in; the statement that locks the account goes out before."""
    place = cache(
        uow.sign_in_places.defer(user_id, destination.organization_slug, destination.service_slug, holds=True)
    )
    binding = destination.browser.upstream_binding if destination.browser is not None else None
    return DeferredCircumstances(
        place=place,
        target=places.defer_target(uow, destination, place),
        required_connection=single_sign_on.defer_required_connection(uow, user_id, binding),
        device_match=recognition.defer_recognition(uow, user_id, destination.device_token),
        habits=risk.defer_habits(uow, user_id),
        receivers=person_events.defer_receivers(uow, user_id) if destination.organization_slug is None else tuple,
    )


def defer_circumstances_of_client(
    uow: UnitOfWork, user_id: UUID, client_id: UUID, device_token: str | None
) -> DeferredCircumstances:
    """Defer reading the circumstances of a sign-in to the service that has this client id."""
    place = cache(uow.sign_in_places.defer_of_client(user_id, client_id))
    return DeferredCircumstances(
        place=place,
        target=lambda: place().target,
        required_connection=single_sign_on.defer_required_connection(uow, user_id),
        device_match=recognition.defer_recognition(uow, user_id, device_token),
        habits=risk.defer_habits(uow, user_id),
        receivers=tuple,
    )


def with_circumstances(
    uow: UnitOfWork, facts: SignInFacts, deferred: DeferredCircumstances | None = None
) -> SignInFacts:
    """Return the facts with the circumstances, which may have been deferred before."""
    proof, destination = facts.proof, facts.destination
    deferred = deferred or defer_circumstances(uow, facts.account.id, destination)
    standing = _defer_standing(uow, proof)
    circumstances = Circumstances.of(
        proof, destination, deferred.place(), deferred.target(), deferred.required_connection(), standing()
    )
    match, habits = deferred.device_match(), deferred.habits()
    device = KnownDevice(match=match, habits=habits, risk=risk.assess(uow, habits, is_known_device=match.is_known))
    return replace(facts, circumstances=replace(circumstances, device=device, receivers=deferred.receivers()))


def with_unconfirmed_access(uow: UnitOfWork, facts: SignInFacts) -> SignInFacts:
    """Return the facts with whether the user has not confirmed yet what the organization gave."""
    slug = facts.destination.organization_slug
    assert slug is not None, "no organization is named that could have given anything"
    waits = uow.departures.is_waiting(facts.account.id, slug, facts.destination.service_slug)
    return replace(facts, has_unconfirmed_access=waits)


def _defer_standing(uow: UnitOfWork, proof: IdentityProof) -> Deferred[ConnectionStanding | None]:
    limits = proof.confinement
    if limits is None or limits.connection_id is None:
        return lambda: None
    return uow.identities.defer_standing(proof.user_id, limits.organization_id, limits.connection_id)

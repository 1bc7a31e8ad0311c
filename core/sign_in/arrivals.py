"""The assessment of an authenticated user who signs in: the destination, the device, and the risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import single_sign_on
from core.accounts.single_sign_on import RequiredConnection
from core.accounts.users import User
from core.errors import Refusal
from core.events import person_events
from core.lazy_dataclasses import dataclass
from core.organizations import session_strength
from core.organizations.organizations import DEVICE_TRUST_DEFAULT
from core.sessions.mfa_methods import MfaMethods
from core.sign_in import places, recognition, risk
from core.sign_in.customer_choices import CustomerStanding, Undecided
from core.sign_in.places import Place
from core.sign_in.proofs import Destination, IdentityProof, Target
from core.sign_in.reasons import SignInReason
from core.sign_in.recognition import DeviceMatch
from core.sign_in.risk import Habits, Risk

if TYPE_CHECKING:
    from core.deferred import Deferred
    from ports.unit_of_work import UnitOfWork

RISK_HIGH: Final = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedSignIn:
    """An authenticated user with the proof, the destination, the device, and the risk."""

    user: User
    proof: IdentityProof
    place: Place
    device_match: DeviceMatch
    habits: Habits
    risk: Risk
    # To which organizations its event belongs; None stands for no organization.
    receivers: Sequence[UUID | None]
    # What the user has to choose among before the session begins; None when it is clear for whom they come.
    undecided: Undecided | None = None

    @property
    def is_suspicious(self) -> bool:
        """Whether the risk is so high that a trusted device does not suffice, or the user is warned."""
        return self.risk.score > RISK_HIGH

    def has_trusted_device(self, at: datetime) -> bool:
        """Return whether the device is trusted in place of the second factor."""
        organization, customer = self.place.organization, self.place.customer
        if organization is not None and organization.mfa_required and organization.is_phishing_resistant:
            return False
        trust = organization.device_trust if organization is not None else DEVICE_TRUST_DEFAULT
        if customer is not None:
            # The rules of both hold, the stricter one each (decisions 15.5).
            if customer.requires_mfa and customer.mfa_methods is MfaMethods.PHISHING_RESISTANT:
                return False
            trust = min(trust, customer.device_trust)
        return self.device_match.is_trusted(trust, at=at) and not self.is_suspicious

    def with_methods(self, *methods: str) -> AssessedSignIn:
        """Return the sign-in with further authentication methods."""
        return replace(self, proof=self.proof.with_methods(*methods))

    def require_second_factor(self) -> None:
        """Raise `SecondFactorRequired` for a single factor where the organization requires two of its members."""
        refusal = refusal_of_single_factor(self.place, self.proof)
        if refusal is not None:
            raise refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a sign-in is judged by, all of it read in one round trip after the account was locked.

    `receivers` are those of the event of a sign-in that names no organization.
    """

    place: Deferred[Place]
    target: Deferred[Target]
    required_connection: Deferred[RequiredConnection | None]
    device_match: Deferred[DeviceMatch]
    habits: Deferred[Habits]
    receivers: Deferred[Sequence[UUID | None]]


def defer_circumstances(uow: UnitOfWork, user_id: UUID, destination: Destination) -> Circumstances:
    """Defer reading the circumstances of a sign-in; the statement that locks the account goes out before."""
    place = uow.sign_in_places.defer(user_id, destination.organization_slug, destination.service_slug, holds=True)
    return Circumstances(
        place=place,
        target=places.defer_target(uow, destination, place),
        required_connection=single_sign_on.defer_required_connection(uow, user_id),
        device_match=recognition.defer_recognition(uow, user_id, destination.device_token),
        habits=risk.defer_habits(uow, user_id),
        receivers=person_events.defer_receivers(uow, user_id) if destination.organization_slug is None else tuple,
    )


def assess(
    uow: UnitOfWork,
    user: User,
    proof: IdentityProof,
    place: Place,
    circumstances: Circumstances,
    undecided: Undecided | None = None,
) -> AssessedSignIn:
    """Return the assessment of a user who signs in at a place that is open to them."""
    device_match, habits = circumstances.device_match(), circumstances.habits()
    return AssessedSignIn(
        user=user,
        proof=proof,
        place=place,
        device_match=device_match,
        habits=habits,
        risk=risk.assess(uow, habits, is_known_device=device_match.is_known),
        receivers=circumstances.receivers() or (place.organization_id,),
        undecided=undecided,
    )


def asks_second_factor(user: User, proof: IdentityProof, destination: Destination) -> bool:
    """Return whether a sign-in waits for a second factor, unless its device is trusted."""
    return user.has_mfa and not proof.has_second_factor and not destination.continues_two_factors


def refusal_of_single_factor(place: Place, proof: IdentityProof) -> Refusal | None:
    """Refuse a single factor, or one that does not count, where the organization requires two of its members.

    It does so at its services too (decisions 5.1); their users who are no members are the services' matter. For a
    customer its own rule counts, and the vendor's is not that of a member.
    """
    organization = place.organization
    if place.customer is not None:
        return _refusal_by_customer(place.customer, proof)
    if organization is None or not organization.mfa_required:
        return None
    if organization.mfa_methods.are_met_by(proof.amr, proof.connection_id):
        return None
    if place.service is not None and not place.has_access:
        return None
    reason = (
        SignInReason.PASSKEY_REQUIRED if organization.is_phishing_resistant else SignInReason.SECOND_FACTOR_REQUIRED
    )
    return session_strength.refusal_of(organization.mfa_methods).because(reason)


def _refusal_by_customer(customer: CustomerStanding, proof: IdentityProof) -> Refusal | None:
    if not customer.requires_mfa or customer.mfa_methods.are_met_by(proof.amr, proof.connection_id):
        return None
    is_strict = customer.mfa_methods is MfaMethods.PHISHING_RESISTANT
    reason = SignInReason.PASSKEY_REQUIRED if is_strict else SignInReason.SECOND_FACTOR_REQUIRED
    return session_strength.refusal_of(customer.mfa_methods).because(reason)

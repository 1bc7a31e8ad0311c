"""The assessment of an authenticated user who signs in: the destination, the device, and the risk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from core.accounts import single_sign_on
from core.errors import Forbidden
from core.organizations.organizations import DEVICE_TRUST_DEFAULT
from core.organizations.session_strength import SecondFactorRequired
from core.sessions.callers import have_second_factor
from core.sign_in import recognition, risk
from core.sign_in.reasons import SignInReason

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from core.accounts.users import User
    from core.deferred import Deferred
    from core.sign_in.places import Place
    from core.sign_in.proofs import Destination, IdentityProof
    from core.sign_in.recognition import DeviceMatch
    from core.sign_in.risk import Habits, Risk
    from ports.unit_of_work import UnitOfWork

RISK_HIGH: Final = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedSignIn:
    """An authenticated user with the proof, the destination, the device, and the risk."""

    user: User
    proof: IdentityProof
    place: Place
    device_match: DeviceMatch
    risk: Risk

    @property
    def is_suspicious(self) -> bool:
        """Whether the risk is so high that a trusted device does not suffice, or the user is warned."""
        return self.risk.score > RISK_HIGH

    def has_trusted_device(self, at: datetime) -> bool:
        """Return whether the device is trusted in place of the second factor."""
        organization = self.place.organization
        trust = organization.device_trust if organization is not None else DEVICE_TRUST_DEFAULT
        return self.device_match.is_trusted(trust, at=at) and not self.is_suspicious

    def with_methods(self, *methods: str) -> AssessedSignIn:
        """Return the sign-in with further authentication methods."""
        return replace(self, proof=self.proof.with_methods(*methods))

    def require_second_factor(self) -> None:
        """Raise `SecondFactorRequired` for a single factor where the organization requires two of its members.

        It does so at its services too (decisions 5.1); their users who are no members are the services' matter.
        """
        organization = self.place.organization
        if organization is None or not organization.mfa_required or have_second_factor(self.proof.amr):
            return
        if self.place.service is None or self.place.has_access:
            raise SecondFactorRequired().because(SignInReason.SECOND_FACTOR_REQUIRED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a sign-in is judged by, all of it read in one round trip after the account was locked."""

    place: Deferred[Place]
    required_connection: Deferred[UUID | None]
    device_match: Deferred[DeviceMatch]
    habits: Deferred[Habits]


def defer_circumstances(uow: UnitOfWork, user_id: UUID, destination: Destination) -> Circumstances:
    """Defer reading the circumstances of a sign-in; the statement that locks the account goes out before."""
    return Circumstances(
        place=uow.sign_in_places.defer(user_id, destination.organization_slug, destination.service_slug),
        required_connection=single_sign_on.defer_required_connection(uow, user_id),
        device_match=recognition.defer_recognition(uow, user_id, destination.device_token),
        habits=risk.defer_habits(uow, user_id),
    )


def assess(
    uow: UnitOfWork, user: User, proof: IdentityProof, destination: Destination, circumstances: Circumstances
) -> AssessedSignIn:
    """Return the assessment of a user who signs in; refuse a destination that is not open to the user."""
    place, device_match = circumstances.place(), circumstances.device_match()
    place.require_open(destination)
    _require_allowed(proof, place)
    return AssessedSignIn(
        user=user,
        proof=proof,
        place=place,
        device_match=device_match,
        risk=risk.assess(uow, circumstances.habits(), is_known_device=device_match.is_known),
    )


def _require_allowed(proof: IdentityProof, place: Place) -> None:
    """Raise `Forbidden` when the user has signed in for another organization or service alone."""
    if proof.confinement is not None and not proof.confinement.allows(place.organization_id, place.service_id):
        raise Forbidden(
            "You have signed in for another organization alone. Sign out first, and sign in here in another way."
        ).because(SignInReason.CONFINED_ELSEWHERE)

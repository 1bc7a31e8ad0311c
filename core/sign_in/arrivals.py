"""The assessment of an authenticated user who signs in: the destination, the device, and the risk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from core.errors import Forbidden, NotFound, OrganizationNotActive
from core.organizations.access import MembershipSuspended, SecondFactorRequired
from core.organizations.organizations import DEVICE_TRUST_DEFAULT
from core.sessions.callers import have_second_factor
from core.sign_in import recognition, risk

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from core.accounts.users import User
    from core.organizations.organizations import Organization
    from core.services.services import Service
    from core.sign_in.proofs import Destination, Proof
    from core.sign_in.recognition import DeviceMatch
    from core.sign_in.risk import Risk
    from ports.unit_of_work import UnitOfWork

RISK_HIGH: Final = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessedSignIn:
    """An authenticated user with the proof, the destination, the device, and the risk."""

    user: User
    proof: Proof
    organization: Organization | None
    service: Service | None
    device_match: DeviceMatch
    risk: Risk

    @property
    def organization_id(self) -> UUID | None:
        """The organization of the session to begin."""
        return self.organization.id if self.organization is not None else None

    @property
    def service_id(self) -> UUID | None:
        """The service of the session to begin."""
        return self.service.id if self.service is not None else None

    @property
    def is_suspicious(self) -> bool:
        """Whether the risk is so high that a trusted device does not suffice, or the user is warned."""
        return self.risk.score > RISK_HIGH

    def has_trusted_device(self, at: datetime) -> bool:
        """Return whether the device is trusted in place of the second factor."""
        trust = self.organization.device_trust if self.organization is not None else DEVICE_TRUST_DEFAULT
        return self.device_match.is_trusted(trust, at=at) and not self.is_suspicious

    def with_methods(self, *methods: str) -> AssessedSignIn:
        """Return the sign-in with further authentication methods."""
        return replace(self, proof=self.proof.with_methods(*methods))

    def require_second_factor(self, uow: UnitOfWork) -> None:
        """Raise `SecondFactorRequired` for a single factor where the organization requires two of its members.

        It does so at its services too (decisions 5.1); their users who are no members are the services' matter.
        """
        organization = self.organization
        if organization is None or not organization.mfa_required or have_second_factor(self.proof.amr):
            return
        if self.service is None or uow.members.has_access(organization.id, self.user.id):
            raise SecondFactorRequired().because("second_factor_required")


def assess(uow: UnitOfWork, user: User, proof: Proof, destination: Destination) -> AssessedSignIn:
    """Return the assessment of a user who signs in; refuse a destination that is not open to the user."""
    organization, service = _resolve(uow, user, destination)
    _require_allowed(proof, organization, service)
    recognized, habits = (
        recognition.defer_recognition(uow, user.id, destination.device_token),
        risk.defer_habits(uow, user.id),
    )
    device_match = recognized()
    return AssessedSignIn(
        user=user,
        proof=proof,
        organization=organization,
        service=service,
        device_match=device_match,
        risk=risk.assess(uow, habits(), is_known_device=device_match.is_known),
    )


def _require_allowed(proof: Proof, organization: Organization | None, service: Service | None) -> None:
    """Raise `Forbidden` when the user has signed in for another organization or service alone."""
    organization_id = organization.id if organization is not None else None
    service_id = service.id if service is not None else None
    if proof.confinement is not None and not proof.confinement.allows(organization_id, service_id):
        raise Forbidden(
            "You have signed in for another organization alone. Sign out of Gatehouse, and sign in here in another way."
        ).because("confined_elsewhere")


def find_organization(uow: UnitOfWork, slug: str | None) -> Organization | None:
    """Return the organization that a sign-in names, None when it names none; raise `NotFound` for an unknown one."""
    if slug is None:
        return None
    organization = uow.organizations.by_slug(slug)
    if organization is None:
        raise NotFound("There is no such organization.").because("unknown_organization")
    return organization


def _resolve(uow: UnitOfWork, user: User, destination: Destination) -> tuple[Organization | None, Service | None]:
    """Return the named organization and service, checked in the order of decisions 1.6; any user may use a service."""
    organization = find_organization(uow, destination.organization_slug)
    if organization is None:
        return None, None
    if destination.service_slug is None and not uow.members.has_access(organization.id, user.id):
        raise Forbidden("You are not a member of this organization.").because("not_a_member")
    if not organization.is_active:
        raise OrganizationNotActive
    if destination.service_slug is None:
        return organization, None
    service = uow.services.by_slug(organization.id, destination.service_slug)
    if service is None:
        raise NotFound("This organization has no such service.").because("unknown_service")
    if uow.members.is_suspended(organization.id, user.id):
        # Who was deactivated by the directory has no access to the services either.
        raise MembershipSuspended().because("suspended")
    return organization, service

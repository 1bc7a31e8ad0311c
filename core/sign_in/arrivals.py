"""Somebody at the door who has proved who they are: where they want to, from which device, and how risky that looks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from core.errors import Forbidden, NotFound, OrganizationNotActive
from core.organizations.organizations import DEVICE_TRUST_DEFAULT
from core.sign_in import recognition, risk

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from core.accounts.users import User
    from core.organizations.organizations import Organization
    from core.services.services import Service
    from core.sign_in.proofs import Destination, Proof
    from core.sign_in.recognition import Sighting
    from core.sign_in.risk import Risk
    from ports.unit_of_work import UnitOfWork

RISK_HIGH: Final = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """Who, proved how, on the way to where, from which device, and how risky that looks."""

    user: User
    proof: Proof
    organization: Organization | None
    service: Service | None
    sighting: Sighting
    risk: Risk

    @property
    def organization_id(self) -> UUID | None:
        """The organization that the session will be in."""
        return self.organization.id if self.organization is not None else None

    @property
    def service_id(self) -> UUID | None:
        """The service that the session will be with."""
        return self.service.id if self.service is not None else None

    @property
    def is_suspicious(self) -> bool:
        """Whether so much speaks against it that more is asked, or the person warned."""
        return self.risk.score > RISK_HIGH

    def is_remembered(self, at: datetime) -> bool:
        """Say whether the device stands in for the second factor."""
        trust = self.organization.device_trust if self.organization is not None else DEVICE_TRUST_DEFAULT
        return self.sighting.is_trusted(trust, at=at) and not self.is_suspicious

    def with_methods(self, *methods: str) -> Arrival:
        """Add how else it was proved."""
        return replace(self, proof=self.proof.with_methods(*methods))

    def require_second_factor(self) -> None:
        """Refuse one factor where the organization asks its members for two; they set one up first (decisions 5.2)."""
        if self.organization is None or not self.organization.mfa_required or self.service is not None:
            return
        if not {"mfa", "trusted"} & set(self.proof.amr):
            raise Forbidden(
                "This organization asks for multi-factor authentication."
                " Sign in without naming it, set MFA up, and come back."
            )


def arrive(uow: UnitOfWork, user: User, proof: Proof, destination: Destination) -> Arrival:
    """Look at somebody who has proved who they are; refuse whoever wants to where they do not belong."""
    organization, service = _place(uow, user, destination)
    asked, habits = (
        recognition.defer_recognition(uow, user.id, destination.device_token),
        risk.defer_habits(uow, user.id),
    )
    sighting = asked()
    return Arrival(
        user=user,
        proof=proof,
        organization=organization,
        service=service,
        sighting=sighting,
        risk=risk.assess(uow, habits(), is_known_device=sighting.is_known),
    )


def find_organization(uow: UnitOfWork, slug: str | None) -> Organization | None:
    """Find the organization that a sign-in names; naming an unknown one is an error, naming none is not."""
    if slug is None:
        return None
    organization = uow.organizations.by_slug(slug)
    if organization is None:
        raise NotFound("There is no such organization.")
    return organization


def _place(uow: UnitOfWork, user: User, destination: Destination) -> tuple[Organization | None, Service | None]:
    """Find where somebody wants to, with the checks in the order of decisions 1.6; a service takes everybody."""
    organization = find_organization(uow, destination.organization_slug)
    if organization is None:
        return None, None
    if destination.service_slug is None and uow.members.of_user(organization.id, user.id) is None:
        raise Forbidden("You are not a member of this organization.")
    if not organization.is_active:
        raise OrganizationNotActive
    if destination.service_slug is None:
        return organization, None
    service = uow.services.by_slug(organization.id, destination.service_slug)
    if service is None:
        raise NotFound("This organization has no such service.")
    return organization, service

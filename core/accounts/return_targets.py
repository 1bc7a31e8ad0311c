"""Where somebody came from when they asked for a letter, and where the page behind its link leads them back to.

Naming an organization, one of its services and a registered address of it colours the letter and the page, and joins
nothing (decisions 3.2). An organization that is not active colours nothing either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from core.organizations.organizations import Organization
    from core.services.services import Service
    from ports.unit_of_work import UnitOfWork


class RedirectNotRegistered(BadRequest):
    """Nobody is led to an address that the service did not register."""

    default_message = "This address is not registered with the service. Register it there first, exactly as it is here."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnRequest:
    """What a request says about where it comes from: slugs, and an address to go back to."""

    organization_slug: str | None = None
    service_slug: str | None = None
    redirect_uri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnTarget:
    """What was found of it; nothing of it is nowhere in particular."""

    organization: Organization | None = None
    service: Service | None = None
    redirect_uri: str | None = None

    @property
    def name(self) -> str:
        """What a person calls the place: the service, else the organization, else nothing."""
        if self.service is not None:
            return self.service.name
        return self.organization.name if self.organization is not None else ""

    @property
    def organization_id(self) -> UUID | None:
        """Whose letter it is, and whose event."""
        return self.organization.id if self.organization is not None else None

    @property
    def service_id(self) -> UUID | None:
        """Which service somebody came from."""
        return self.service.id if self.service is not None else None

    def remembered(self) -> dict[str, Any]:
        """Write down what `recall` needs."""
        if self.organization is None:
            return {}
        return {
            "org_slug": self.organization.slug,
            "service_slug": self.service.slug if self.service is not None else None,
            "redirect_uri": self.redirect_uri,
        }


def find(uow: UnitOfWork, return_request: ReturnRequest) -> ReturnTarget:
    """Find what a request names; refuse an unknown organization or service, and an address that is not registered."""
    if return_request.organization_slug is None:
        if return_request.service_slug is not None or return_request.redirect_uri is not None:
            raise BadRequest.of_field("org_slug", "A service is named together with its organization.")
        return ReturnTarget()
    organization = uow.organizations.by_slug(return_request.organization_slug)
    if organization is None:
        raise NotFound("There is no such organization.")
    if not organization.is_active:
        return ReturnTarget()
    if return_request.service_slug is None:
        if return_request.redirect_uri is not None:
            raise BadRequest.of_field("service_slug", "An address to go back to is named together with its service.")
        return ReturnTarget(organization=organization)
    service = uow.services.by_slug(organization.id, return_request.service_slug)
    if service is None:
        raise NotFound("This organization has no such service.")
    if return_request.redirect_uri is not None and return_request.redirect_uri not in service.redirect_uris:
        raise RedirectNotRegistered
    return ReturnTarget(organization=organization, service=service, redirect_uri=return_request.redirect_uri)


def recall(uow: UnitOfWork, remembered: dict[str, Any]) -> ReturnTarget:
    """Find what was named when the letter was written, as far as it still is: what is gone leads nowhere."""
    slug, service_slug = remembered.get("org_slug"), remembered.get("service_slug")
    organization = uow.organizations.by_slug(slug) if slug is not None else None
    if organization is None or not organization.is_active:
        return ReturnTarget()
    service = uow.services.by_slug(organization.id, service_slug) if service_slug is not None else None
    redirect_uri = remembered.get("redirect_uri")
    is_registered = service is not None and redirect_uri in service.redirect_uris
    return ReturnTarget(
        organization=organization, service=service, redirect_uri=redirect_uri if is_registered else None
    )

"""Return targets: where a user was when requesting a mail, and where the page behind its link leads back to.

A request may name an organization, one of its services and a redirect URI that the service has registered. This affects
how the mail and the page look; it does not make the user a member (decisions 3.2). An organization that is not active
is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import BadRequest, FieldError, NotFound

if TYPE_CHECKING:
    from uuid import UUID

    from core.organizations.organizations import Organization
    from core.services.services import Service
    from ports.unit_of_work import UnitOfWork


class RedirectNotRegistered(BadRequest):
    """The service has not registered the redirect URI."""

    default_message = "This address is not registered with the service. Register exactly this address with it first."

    def __init__(self) -> None:
        super().__init__(details=(FieldError(field="redirect_uri", message=self.default_message),))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnRequest:
    """What a request states about its origin: slugs, and an address to return to."""

    organization_slug: str | None = None
    service_slug: str | None = None
    redirect_uri: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnTarget:
    """The organization, service and redirect URI that a request names; empty when it names none.

    A link that leads back somewhere else, to the browser that has requested it, only shows it in its mail.
    """

    organization: Organization | None = None
    service: Service | None = None
    redirect_uri: str | None = None
    is_shown_only: bool = False

    @property
    def name(self) -> str:
        """The name to display: the service's, else the organization's, else an empty text."""
        if self.service is not None:
            return self.service.name
        return self.organization.name if self.organization is not None else ""

    @property
    def organization_id(self) -> UUID | None:
        """The organization of the mail and of events."""
        return self.organization.id if self.organization is not None else None

    @property
    def service_id(self) -> UUID | None:
        """The service that the user came from."""
        return self.service.id if self.service is not None else None

    def stored(self) -> dict[str, Any]:
        """Return the target as data to store with a token, which `recall` reads."""
        if self.organization is None or self.is_shown_only:
            return {}
        return {
            "org_slug": self.organization.slug,
            "service_slug": self.service.slug if self.service is not None else None,
            "redirect_uri": self.redirect_uri,
        }


def find(uow: UnitOfWork, return_request: ReturnRequest) -> ReturnTarget:
    """Return the target that a request names.

    Raise `NotFound` for an unknown organization or service, `RedirectNotRegistered` for an unregistered address, and
    `BadRequest` for a service without its organization or an address without its service.
    """
    if return_request.redirect_uri is not None and return_request.service_slug is None:
        raise BadRequest.of_field(
            "redirect_uri", "Name the service that has registered this address too, in org_slug and service_slug."
        )
    if return_request.organization_slug is None:
        if return_request.service_slug is not None:
            raise BadRequest.of_field("org_slug", "Name the organization of the service too.")
        return ReturnTarget()
    organization = uow.organizations.by_slug(return_request.organization_slug)
    if organization is None:
        raise NotFound("There is no such organization.")
    if not organization.is_active:
        return ReturnTarget()
    if return_request.service_slug is None:
        return ReturnTarget(organization=organization)
    service = uow.services.by_slug(organization.id, return_request.service_slug)
    if service is None:
        raise NotFound("This organization has no such service.")
    if return_request.redirect_uri is not None and return_request.redirect_uri not in service.redirect_uris:
        raise RedirectNotRegistered
    return ReturnTarget(organization=organization, service=service, redirect_uri=return_request.redirect_uri)


def recall(uow: UnitOfWork, stored: dict[str, Any]) -> ReturnTarget:
    """Return the target of a stored token, without those parts that no longer exist or are no longer active."""
    slug, service_slug = stored.get("org_slug"), stored.get("service_slug")
    organization = uow.organizations.by_slug(slug) if slug is not None else None
    if organization is None or not organization.is_active:
        return ReturnTarget()
    service = uow.services.by_slug(organization.id, service_slug) if service_slug is not None else None
    redirect_uri = stored.get("redirect_uri")
    is_registered = service is not None and redirect_uri in service.redirect_uris
    return ReturnTarget(
        organization=organization, service=service, redirect_uri=redirect_uri if is_registered else None
    )

"""Where a mail was requested: the browser, and the organization and service to which its link leads back.

A link that is opened in the same browser goes on there: it signs in, or leads to the sign-in, on the way to the service
to which the sign-in was to lead. Any other browser has to prove more, and gets nothing of what waits in the first one:
otherwise a link that an attacker requested for their own account would sign its reader in there.

A request may name an organization, one of its services and a redirect URI that the service has registered. This affects
how the mail and the page look; it does not make the user a member. An organization that is not active is ignored.
"""

from __future__ import annotations

import hmac
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

from core.errors import BadRequest, FieldError, NotFound
from core.lazy_dataclasses import dataclass
from core.organizations.organizations import Organization
from core.secrets import hash_token
from core.services.services import Service, ServiceType

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class RedirectNotRegistered(BadRequest):
    """The service has not registered the redirect URI."""

    default_message = "This address is not registered with the service. Register exactly this address with it first."

    def __init__(self) -> None:
        super().__init__(details=(FieldError(field="redirect_uri", message=self.default_message),))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnRequest:
    """What a request states about its origin: slugs, an address to return to, and a customer of the service."""

    organization_slug: str | None = None
    service_slug: str | None = None
    redirect_uri: str | None = None
    customer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnTarget:
    """The organization, service and redirect URI that a request names; empty when it names none.

    `language` is the language in which its link was requested, as far as it is known. `customer` is kept for the
    sign-in, and never shown: before a sign-in, no one must learn whose customer an organization is.
    """

    organization: Organization | None = None
    service: Service | None = None
    redirect_uri: str | None = None
    language: str | None = None
    customer: str | None = None

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

    @property
    def start(self) -> str | None:
        """The first page of the service's site, where a sign-in begins anew; None when its addresses do not reveal it.

        All of its registered addresses have to be of one site.
        """
        service = self.service
        # A program on the user's device listens there only while it waits.
        if service is None or service.service_type is ServiceType.DESKTOP:
            return None
        sites = {(parts.scheme, parts.netloc) for parts in map(urlsplit, service.redirect_uris)}
        if len(sites) != 1:
            return None
        [(scheme, site)] = sites
        return f"{scheme}://{site}/" if scheme in {"https", "http"} else None

    def stored(self) -> dict[str, Any]:
        """Return the target as data to store with a token, which `recall` reads."""
        if self.organization is None:
            return {}
        return {
            "org_slug": self.organization.slug,
            "service_slug": self.service.slug if self.service is not None else None,
            "redirect_uri": self.redirect_uri,
            **({"customer": self.customer} if self.customer is not None else {}),
        }


def find(uow: UnitOfWork, return_request: ReturnRequest) -> ReturnTarget:
    """Return the target that a request names.

    Raise `NotFound` for an unknown organization or service, `RedirectNotRegistered` for an unregistered address, and
    `BadRequest` for a service without its organization, or an address or a customer without its service.
    """
    if return_request.customer is not None and return_request.service_slug is None:
        raise BadRequest.of_field("service_slug", "Name the service that the customer uses as well.")
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
    return ReturnTarget(
        organization=organization,
        service=service,
        redirect_uri=return_request.redirect_uri,
        customer=return_request.customer,
    )


def find_known(uow: UnitOfWork, return_request: ReturnRequest) -> ReturnTarget:
    """Return what `find` does, without what does not exist or is not registered; raise `BadRequest` as `find` does."""
    without_address = replace(return_request, redirect_uri=None, customer=None)
    for known in (return_request, without_address, replace(without_address, service_slug=None)):
        with suppress(NotFound, RedirectNotRegistered):
            return find(uow, known)
    return ReturnTarget()


def recall(uow: UnitOfWork, stored: dict[str, Any]) -> ReturnTarget:
    """Return the target of a stored token, without those parts that no longer exist or are no longer active."""
    return replace(_recall(uow, stored), language=stored.get("language"))


def _recall(uow: UnitOfWork, stored: dict[str, Any]) -> ReturnTarget:
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


def place_of(uow: UnitOfWork, back: ReturnTarget, browser: RequestingBrowser | None) -> ReturnTarget:
    """Return the place that mails and pages name: the target of a request, else where its browser's sign-in leads.

    It is empty without either. The browser's own slugs only name the place; what was kept for it says where it goes.
    """
    if back.organization is not None or browser is None:
        return back
    return recall(uow, {"org_slug": browser.organization_slug, "service_slug": browser.service_slug})


_BINDING_HASH = "browser"
_RETURN_TO, _RETURN_ID = "return_to", "return_id"
# Other names than a return target has: those say where a link of a program signs in.
_ORGANIZATION, _SERVICE = "way_org_slug", "way_service_slug"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestingBrowser:
    """The browser that requests a link on a page: the hash of what binds it, and where its sign-in leads.

    The slugs name the organization and the service to which the sign-in leads, if any; the mail names them.
    """

    binding_hash: str = field(repr=False)
    return_to: str
    return_id: str = field(repr=False)
    organization_slug: str | None = None
    service_slug: str | None = None

    def is_bound_to(self, binding: str | None) -> bool:
        """Return whether this is the browser with that binding."""
        return binding is not None and hmac.compare_digest(self.binding_hash, _hash_of(binding))

    def stored(self) -> dict[str, str]:
        """Return what is stored with a link, which `recall` reads."""
        slugs = {_ORGANIZATION: self.organization_slug, _SERVICE: self.service_slug}
        return {
            _BINDING_HASH: self.binding_hash,
            _RETURN_TO: self.return_to,
            _RETURN_ID: self.return_id,
            **{name: slug for name, slug in slugs.items() if slug is not None},
        }


def requesting(
    binding: str,
    *,
    return_to: str = "",
    return_id: str = "",
    organization_slug: str | None = None,
    service_slug: str | None = None,
) -> RequestingBrowser:
    """Return the browser with this binding; only its hash is stored."""
    return RequestingBrowser(
        binding_hash=_hash_of(binding),
        return_to=return_to,
        return_id=return_id,
        organization_slug=organization_slug,
        service_slug=service_slug,
    )


def recall_browser(data: dict[str, Any]) -> RequestingBrowser | None:
    """Return the browser that is stored with a link; None without one."""
    if _BINDING_HASH not in data:
        return None
    return RequestingBrowser(
        binding_hash=data[_BINDING_HASH],
        return_to=data[_RETURN_TO],
        return_id=data[_RETURN_ID],
        organization_slug=data.get(_ORGANIZATION),
        service_slug=data.get(_SERVICE),
    )


def _hash_of(binding: str) -> str:
    return hash_token(binding).hex()

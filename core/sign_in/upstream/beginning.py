"""Beginning a sign-in with an external provider: for the platform, or on behalf of a service.

A service's own sign-in begins here too. The browser comes back to Gatehouse, is signed in, and goes on to the
authorization endpoint with the service's request, which answers it with a code as any other request.

At a service with customers, that endpoint settles the customer after the sign-in. So such a sign-in is one to the
account: what only the service vouches for opens none of its customers, and the connection of any organization may lead
there, because before a sign-in nothing shows which of them is a customer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from core.accounts.return_targets import RedirectNotRegistered
from core.accounts.sign_in_methods import Provider
from core.errors import BadRequest, NotFound, OrganizationNotActive
from core.lazy_dataclasses import dataclass
from core.organizations.organizations import InternalPlace, Organization
from core.secrets import Secret
from core.services.services import Service, ServiceUnknown
from core.sessions import callers, security_profiles
from core.sessions.caller_limits import Act
from core.sign_in import browser_returns
from core.sign_in.browser_returns import BrowserReturn
from core.sign_in.identities import PLATFORM, IdentityContext, IdentityUnknown, context_of
from core.sign_in.upstream import flows
from core.sign_in.upstream.by_connection import OpenConnection
from core.sign_in.upstream.flows import Departure, ProviderClient, ProviderNotOffered, ReturnAddress, UpstreamSignIn
from core.sign_in.upstream.providers import ExternalProvider
from core.wording import Wording

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

STATE_CHARACTERS_MAX: Final = 2000
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
# The path for browsers that come from a form.
_CONTINUE: Final = "/auth/authorize/continue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a request for a sign-in names; texts that are empty name nothing."""

    org: str = ""
    service: str = ""
    redirect_uri: str = ""
    state: str = ""
    code_challenge: str = ""
    code_challenge_method: str = ""
    user_code: str = ""
    return_to: str = ""
    return_id: str = ""
    # The customer of the service, by its id or slug; empty for a user who signs in as an individual, None for neither.
    customer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A browser that is to go to the provider, and the scopes to ask for there."""

    departure: Departure
    scopes: Sequence[str]


def begin(uow: UnitOfWork, external: ExternalProvider, wanted: Wanted, *, browser: str) -> Begun:
    """Begin a sign-in with the organization's own credentials, else with the platform's.

    Raise `NotFound` for an organization or service that is unknown, and `ProviderNotOffered` without credentials.
    """
    organization = _organization(uow, wanted)
    service = _service(uow, organization, wanted)
    way = keep_way(uow, _way(service, wanted))
    own = uow.oauth_credentials.find(organization.id, external) if organization is not None else None
    client = own or external.client
    if client is None:
        raise ProviderNotOffered
    departure = flows.depart(
        uow,
        external.provider,
        browser=browser,
        client_id=client.client_id,
        way=way,
        context=_context(organization, service, own),
    )
    # The scopes that a service asks for belong to an identity of its own.
    of_service = service if departure.sign_in.context.service_id is not None else None
    return Begun(departure=departure, scopes=_scopes(external, of_service))


def way_to(uow: UnitOfWork, target: OpenConnection, wanted: Wanted) -> ReturnAddress | BrowserReturn:
    """Return where a sign-in by a connection of an organization leads, as `begin` does for a provider.

    Raise `NotFound` for another organization than the connection's: it signs in only there, and to services that the
    organization may use as a customer. What a vendor has made for a customer signs in to that service alone.
    """
    if target.made_for is not None:
        return _way_for(uow, target.made_for, wanted)
    organization_slug = target.organization_slug
    if wanted.org in {"", organization_slug}:
        named = replace(wanted, org=organization_slug)
        return _way(_service(uow, _organization(uow, named), named), named)
    vendor = uow.organizations.by_slug(wanted.org)
    service = uow.services.by_slug(vendor.id, wanted.service) if vendor is not None and vendor.is_active else None
    if service is None or not service.serves_customers:
        raise _elsewhere()
    security_profiles.require_pushed(service.security_profile, is_pushed=False)
    return _way(service, wanted)


def _way_for(uow: UnitOfWork, made_for: InternalPlace, wanted: Wanted) -> ReturnAddress | BrowserReturn:
    """Return where a sign-in leads by what a vendor has made for a customer; it names the customer."""
    if not wanted.org:
        kept = browser_returns.find(uow, wanted.return_id) if wanted.return_id else None
        if kept is None or (kept.organization_slug, kept.service_slug) != (made_for.vendor_slug, made_for.service_slug):
            raise _elsewhere()
        return ReturnAddress(return_to=wanted.return_to, return_id=wanted.return_id)
    if (wanted.org, wanted.service) != (made_for.vendor_slug, made_for.service_slug):
        raise _elsewhere()
    service = uow.services.by_slug(made_for.vendor_id, made_for.service_slug)
    if service is None or not service.serves_customers:
        raise _elsewhere()
    security_profiles.require_pushed(service.security_profile, is_pushed=False)
    return _way(service, replace(wanted, customer=wanted.customer or str(made_for.customer_id)))


def _elsewhere() -> NotFound:
    return NotFound("There is no such organization, or the connection belongs to another organization.")


def depart_by_connection(
    uow: UnitOfWork, target: OpenConnection, way: ReturnAddress | BrowserReturn, *, browser: str
) -> Departure:
    """Store that a browser goes to the provider of a connection, to come back to where `way_to` says."""
    return flows.depart(
        uow,
        Provider.UPSTREAM,
        browser=browser,
        client_id=target.connection.client_id,
        way=keep_way(uow, way),
        context=target.context,
    )


def begin_link(uow: UnitOfWork, external: ExternalProvider, link: UpstreamSignIn, *, browser: str) -> Begun:
    """Begin to link an account of a provider to a user's account, in the context in which the user asked for it."""
    assert link.user_id is not None, "a link is for no account"
    context = link.context
    own = service = None
    if context.organization_id is not None:
        own = uow.oauth_credentials.find(context.organization_id, external)
        if context.service_id is not None:
            service = uow.services.by_id(context.organization_id, context.service_id)
    client = own or external.client
    if client is None:
        raise ProviderNotOffered
    departure = flows.depart(
        uow,
        external.provider,
        browser=browser,
        client_id=client.client_id,
        way=ReturnAddress(),
        context=context,
        user_id=link.user_id,
    )
    return Begun(departure=departure, scopes=_scopes(external, service))


def client_of(uow: UnitOfWork, sign_in: UpstreamSignIn, external: ExternalProvider) -> ProviderClient:
    """Return the credentials with which a sign-in has begun; raise `SignInOver` when they were replaced since."""
    organization_id = sign_in.context.organization_id
    own = uow.oauth_credentials.find(organization_id, external) if organization_id is not None else None
    client = own or external.client
    if client is None or client.client_id != sign_in.client_id:
        raise flows.SignInOver().because("credentials_replaced")
    return client


def offered(
    uow: UnitOfWork, kept: BrowserReturn | None, platform: Sequence[Provider], providers: Sequence[Provider]
) -> list[Provider]:
    """Return which of these providers a sign-in may use that leads to a kept return."""
    return _offered(uow, _of_return(uow, kept), platform, providers)


def offered_by(
    uow: UnitOfWork, organization_slug: str | None, platform: Sequence[Provider], providers: Sequence[Provider]
) -> list[Provider]:
    """Return which of these providers a sign-in to an organization may use, or one to the platform."""
    return _offered(uow, _organization(uow, Wanted(org=organization_slug or "")), platform, providers)


def _offered(
    uow: UnitOfWork, organization: Organization | None, platform: Sequence[Provider], providers: Sequence[Provider]
) -> list[Provider]:
    own = uow.oauth_credentials.of_organization(organization.id) if organization is not None else ()
    named = {*platform, *(one.provider for one in own)}
    return [provider for provider in providers if provider in named]


def _organization(uow: UnitOfWork, wanted: Wanted) -> Organization | None:
    """Return the organization that a request names, or to which its sign-in leads; None for the platform."""
    slug = wanted.org
    if not slug:
        return _of_return(uow, browser_returns.find(uow, wanted.return_id) if wanted.return_id else None)
    organization = uow.organizations.by_slug(slug)
    if organization is None:
        raise NotFound("There is no such organization.")
    if not organization.is_active:
        raise OrganizationNotActive
    return organization


def _of_return(uow: UnitOfWork, kept: BrowserReturn | None) -> Organization | None:
    """Return the active organization to which a kept return leads; None without one."""
    if kept is None or kept.organization_slug is None:
        return None
    organization = uow.organizations.by_slug(kept.organization_slug)
    return organization if organization is not None and organization.is_active else None


def _service(uow: UnitOfWork, organization: Organization | None, wanted: Wanted) -> Service | None:
    if not wanted.service:
        if wanted.redirect_uri:
            raise BadRequest.of_field("redirect_uri", "Name the service that has registered this address too.")
        if wanted.customer is not None:
            raise BadRequest.of_field("service", "Name the service that the customer uses as well.")
        return None
    if organization is None or not wanted.org:
        raise BadRequest.of_field("org", "Name the organization of the service too.")
    service = uow.services.by_slug(organization.id, wanted.service)
    if service is None:
        raise ServiceUnknown
    security_profiles.require_pushed(service.security_profile, is_pushed=False)
    return service


def _context(organization: Organization | None, service: Service | None, own: ProviderClient | None) -> IdentityContext:
    if service is not None and (own is not None or not service.serves_customers):
        return IdentityContext(organization_id=service.organization_id, service_id=service.id)
    if organization is not None and own is not None:
        # The word of another party's credentials opens nothing else.
        return IdentityContext(organization_id=organization.id)
    return PLATFORM


def _way(service: Service | None, wanted: Wanted) -> ReturnAddress | BrowserReturn:
    if wanted.user_code:
        return ReturnAddress(target=f"/auth/device?{urlencode({'user_code': wanted.user_code})}")
    if service is not None:
        wanted = replace(wanted, redirect_uri=wanted.redirect_uri or _only_registered(service, wanted))
    if service is None or not wanted.redirect_uri:
        return ReturnAddress(return_to=wanted.return_to, return_id=wanted.return_id)
    _require_registered(service, wanted.redirect_uri)
    _require_challenge(service, wanted)
    if len(wanted.state) > STATE_CHARACTERS_MAX:
        raise BadRequest.of_field("state", Wording("At most %(maximum)s characters.", maximum=STATE_CHARACTERS_MAX))
    request: dict[str, Any] = {
        "response_type": "code",
        "client_id": service.client_id,
        "redirect_uri": wanted.redirect_uri,
        "state": wanted.state,
        "code_challenge": wanted.code_challenge,
        "code_challenge_method": wanted.code_challenge_method,
    }
    given = {name: value for name, value in request.items() if value}
    if not service.serves_customers:
        return ReturnAddress(target=f"{_CONTINUE}?{urlencode(given)}")
    if wanted.customer is not None:
        given["customer"] = wanted.customer
    # Where the sign-in leads decides, because its identity does not belong to the service.
    return BrowserReturn(
        target=f"{_CONTINUE}?{urlencode(given)}", organization_slug=wanted.org, service_slug=service.slug
    )


def keep_way(uow: UnitOfWork, way: ReturnAddress | BrowserReturn) -> ReturnAddress:
    """Return a way as a sign-in carries it; a return is kept for that."""
    if isinstance(way, ReturnAddress):
        return way
    return ReturnAddress(return_id=browser_returns.keep(uow, way).reveal())


def _only_registered(service: Service, wanted: Wanted) -> str:
    """Return the address of a service where none is named: its only one. Empty where the request names a page.

    For a service that has registered none the way leads to a page.
    """
    if wanted.return_to or wanted.return_id or not service.redirect_uris:
        return ""
    if len(service.redirect_uris) > 1:
        raise BadRequest.of_field("redirect_uri", "The service has registered several addresses. Name one of them.")
    return service.redirect_uris[0]


def _require_registered(service: Service, redirect_uri: str) -> None:
    """Raise `RedirectNotRegistered` for an address that the authorization endpoint would refuse."""
    if not service.has_registered(redirect_uri, among=service.redirect_uris):
        raise RedirectNotRegistered


def _require_challenge(service: Service, wanted: Wanted) -> None:
    if not wanted.code_challenge and service.service_type.is_confidential:
        return
    if not _CHALLENGE.fullmatch(wanted.code_challenge) or wanted.code_challenge_method != "S256":
        raise BadRequest.of_field("code_challenge", "Send a code_challenge with the code_challenge_method S256.")


def _scopes(external: ExternalProvider, service: Service | None) -> list[str]:
    chosen: Sequence[str] | None = None
    if service is not None and external.issuer is None:
        # Services have such a field for each of the documented providers.
        chosen = getattr(service, f"{external.provider}_scopes")
    return list(dict.fromkeys((*external.scopes, *(chosen or ()))))


def ask_to_link(uow: UnitOfWork, external: ExternalProvider | None) -> Secret:
    """Return the id with which the caller's browser begins to link, where it is signed in as the same user.

    Raise `IdentityUnknown` for a provider that does not exist, and `ProviderNotOffered` for one without credentials.
    """
    caller = callers.require_in_person(uow)
    caller.require(Act.PROVED)
    if external is None:
        raise IdentityUnknown
    context = context_of(caller)
    organization_id = context.organization_id
    own = uow.oauth_credentials.find(organization_id, external) if organization_id is not None else None
    if own is None and external.client is None:
        raise ProviderNotOffered
    return flows.invite_to_link(uow, external.provider, caller.account.id, context)

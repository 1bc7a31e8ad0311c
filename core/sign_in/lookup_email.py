"""Lookup of how an address signs in, by its domain alone and independent of accounts.

At a service with customers the answer may reveal that an organization is one of them, so one network learns it of few
domains.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from math import ceil
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.email_addresses import domain_of, normalize_email
from core.errors import RateLimitExceeded
from core.lazy_dataclasses import dataclass
from core.networks import throttled_network
from core.sign_in import places
from core.sign_in.upstream.domains.domain_routes import OpenRoute

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# How many domains a network may look up within an hour at services with customers.
DOMAINS_MAX: Final = 60
WINDOW: Final = timedelta(hours=1)
# How long a vendor's setup for a customer still signs in addresses of a domain that an organization has proved since.
MOVES_AFTER: Final = timedelta(days=7)


class AuthMethod(StrEnum):
    """Where the users of a domain authenticate."""

    PASSWORD = "password"  # noqa: S105 - the name of a method, not a secret
    UPSTREAM = "upstream"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailLookupResult:
    """How the addresses of a domain sign in; fields that do not apply are null."""

    domain: str
    auth_method: AuthMethod
    connection_id: UUID | None = None
    provider_name: str | None = None
    organization: str | None = None
    sso_required: bool = False
    login_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainLookup:
    """The domain of an address, and the route by which it signs in; None for one that signs in by password.

    `concerns_customers`: the service has customers, and the route belongs to another organization than the vendor. Then
    the lookup is counted (`count`), whether that organization is a customer or not.
    """

    domain: str
    route: OpenRoute | None
    concerns_customers: bool = False


def by_domain(
    uow: UnitOfWork,
    email: str,
    *,
    organization_slug: str | None = None,
    service_slug: str | None = None,
    is_checked: bool = False,
) -> DomainLookup:
    """Return how the domain of an address signs in; by password unless an organization has routed it.

    On the way to another organization the connection of a route is not named, because its session may not go on there.
    The connection of a customer of the service is, unless the customer hides that it is one. What the vendor has made
    for a customer goes first at its service, and leads nowhere else. With `is_checked`, raise `NotFound` for an
    organization that does not exist.
    """
    domain = domain_of(normalize_email(email, uow.domain_names.to_ascii))
    if is_checked:
        places.require_known(uow, organization_slug)
    if organization_slug is not None and service_slug is not None:
        made = uow.domain_routes.made_route(domain, organization_slug, service_slug, moved_before=uow.now - MOVES_AFTER)
        if made is not None:
            return DomainLookup(domain=domain, route=made, concerns_customers=True)
    route = uow.domain_routes.open_route(domain)
    if route is None or organization_slug in {None, route.organization_slug}:
        return DomainLookup(domain=domain, route=route)
    is_customer = None
    if service_slug is not None:
        is_customer = uow.domain_routes.is_of_customer(route.organization_slug, organization_slug or "", service_slug)
    return DomainLookup(domain=domain, route=route if is_customer else None, concerns_customers=is_customer is not None)


def count(uow: UnitOfWork, domain: str) -> None:
    """Count a domain that a network looks up at a service with customers, once in an hour.

    Raise `RateLimitExceeded` when the network has looked up as many others within an hour already.
    """
    if not uow.has_rate_limits:
        return
    network = throttled_network(uow.origin.ip_address).encode()
    of_domain = uow.pepper.mark("domain of a customer", network, domain.encode())
    if uow.mail_counts.add(of_domain, 1, WINDOW, at=uow.now) is not None:
        return
    # The rollback of a refusal undoes the count of the domain as well.
    free_at = uow.mail_counts.add(uow.pepper.mark("domains of customers", network), DOMAINS_MAX, WINDOW, at=uow.now)
    if free_at is not None:
        raise RateLimitExceeded(
            "Too many domains were looked up from your network. Sign in without the lookup, or try again later.",
            retry_after_seconds=max(1, ceil((free_at - uow.now).total_seconds())),
        ).of("customer_domains", counts="domains")


def result_of(found: DomainLookup, *, base_url: str) -> EmailLookupResult:
    """Return what the interface answers."""
    domain, route = found.domain, found.route
    if route is None:
        return EmailLookupResult(domain=domain, auth_method=AuthMethod.PASSWORD)
    return EmailLookupResult(
        domain=domain,
        auth_method=AuthMethod.UPSTREAM,
        connection_id=route.connection_id,
        provider_name=route.connection_name,
        organization=route.organization_slug,
        sso_required=route.enforced,
        login_url=f"{base_url}/auth/upstream?connection_id={route.connection_id}",
    )


def route_for(uow: UnitOfWork, domain: str, organization_slug: str | None) -> OpenRoute | None:
    """Return the route of a domain whose connection may go on to an organization, or to none; None without one."""
    route = uow.domain_routes.open_route(domain)
    return route if route is None or organization_slug in {None, route.organization_slug} else None

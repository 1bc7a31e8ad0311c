"""Lookup of how an address signs in, by its domain alone and independent of accounts (decisions 3.7)."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from core.email_addresses import domain_of, normalize_email
from core.lazy_dataclasses import dataclass
from core.sign_in import places
from core.sign_in.upstream.domain_routes import OpenRoute

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


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


def by_domain(
    uow: UnitOfWork, email: str, *, base_url: str, organization_slug: str | None = None, is_checked: bool = False
) -> EmailLookupResult:
    """Return how the domain of an address signs in; by password unless an organization has routed it.

    On the way to another organization the connection of a route is not named, because its session may not go on there.
    With `is_checked`, raise `NotFound` for an organization that does not exist.
    """
    domain = domain_of(normalize_email(email, uow.domain_names.to_ascii))
    if is_checked:
        places.require_known(uow, organization_slug)
    route = route_for(uow, domain, organization_slug)
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
    return route if route is not None and organization_slug in {None, route.organization_slug} else None

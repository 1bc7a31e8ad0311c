"""Storage of domain routes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from core.accounts.single_sign_on import RequiredConnection
from core.deferred import Deferred
from core.organizations.internal_places import MadeThrough
from core.sign_in.upstream.domain_routes import OpenRoute, RouteClaim


class DomainRoutes(Protocol):
    """The claims of organizations to mail domains, and where their addresses sign in."""

    def of_organization(self, organization_id: UUID) -> Sequence[RouteClaim]:
        """List the claims of an organization by their domains."""
        ...

    def lock(self, organization_id: UUID, route_id: UUID) -> RouteClaim | None:
        """Return a claim and lock it; None when it was given up."""
        ...

    def add(self, claim: RouteClaim, made_through: MadeThrough | None = None) -> bool:
        """Store a claim, and how a vendor made it for a customer; False when the organization has one to the domain."""
        ...

    def save(self, claim: RouteClaim) -> None:
        """Store the connection of a locked claim, and whether it is enforced."""
        ...

    def save_proof(self, claim: RouteClaim) -> bool:
        """Store a claim after a check; False when it is verified and another verified claim to the domain exists.

        Concurrent transactions that verify the same domain wait for each other.
        """
        ...

    def remove(self, organization_id: UUID, route_id: UUID) -> bool:
        """Delete a claim; False when there is none."""
        ...

    def claim_checks(self, limit: int, *, until: datetime) -> Sequence[RouteClaim]:
        """Return verified claims that are due to be checked, and postpone their next check until then."""
        ...

    def is_own_domain(self, organization_id: UUID, domain: str) -> bool:
        """Return whether the organization has proved a mail domain, and the proof is in force."""
        ...

    def proved_for_customers(self, domain: str, *, limit: int) -> Sequence[UUID]:
        """Return the internal organizations for which vendors have proved a mail domain, the first proof first."""
        ...

    def is_enforced(self, organization_id: UUID, connection_id: UUID) -> bool:
        """Return whether a route enforces a connection, also while its domain is not proved."""
        ...

    def enforced_to(self, organization_id: UUID, connection_id: UUID) -> Sequence[RouteClaim]:
        """Lock and list the claims in force that enforce a connection."""
        ...

    def open_route(self, domain: str) -> OpenRoute | None:
        """Return the route of a domain that is in force; None when it has none."""
        ...

    def made_route(
        self, domain: str, vendor_slug: str, service_slug: str, *, moved_before: datetime
    ) -> OpenRoute | None:
        """Return the route that a vendor has made for a customer of its service, with the vendor as its organization.

        None when another organization has proved the domain for itself before `moved_before`.
        """
        ...

    def is_of_customer(self, organization_slug: str, vendor_slug: str, service_slug: str) -> bool | None:
        """Return whether an organization is an active customer of a service, and does not hide it.

        None stands for a service without customers, and for one that does not exist.
        """
        ...

    def defer_enforced_on(
        self, user_id: UUID, browser_hash: bytes | None = None
    ) -> Deferred[RequiredConnection | None]:
        """Return the connection that a route in force enforces on a user; None for the owner of its organization.

        The result says whether the browser has brought an identity of the connection that waits to be linked to the
        user. The route is locked until this transaction ends, so that an enforcement meanwhile ends the session that
        this transaction begins.
        """
        ...

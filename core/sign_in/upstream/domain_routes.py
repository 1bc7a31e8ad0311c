"""Domain routes: which connection signs in the addresses of a mail domain that an organization has proved.

Any organization may claim a domain; only one claim to it can be verified. The proof is judged as that of every domain
(`core/organizations/domain_proofs.py`); that of the custom domain does not count here (decisions 13.3 and 13.6).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID  # noqa: TC003 - the reference is made from the fields of `DomainRoute`

from core.errors import BadRequest, Conflict, NotFound
from core.organizations import domain_proofs
from core.organizations.access import Operation, authorize, authorize_and_lock
from core.organizations.domain_proofs import Finding, ProofStatus
from core.organizations.settings.domain import DomainUnanswered, DomainUnproved, DomainVerifiedElsewhere

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.organizations.domain_proofs import DomainProof
    from ports.unit_of_work import UnitOfWork

ROUTES_MAX = 100


class RouteUnknown(NotFound):
    """The organization has no route with that id."""

    default_message = "This organization has no such domain route."


class DomainRoutedAlready(Conflict):
    """The organization has a route of the domain."""

    default_message = "This organization has a route of this domain already. Change that one."


class TooManyRoutes(BadRequest):
    """The organization has the maximum number of routes."""

    default_message = f"An organization can have at most {ROUTES_MAX} domain routes. Delete one that is not in use."


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteClaim:
    """A claim to a mail domain, and the connection to which it leads."""

    id: UUID
    organization_id: UUID
    connection_id: UUID
    enforced: bool
    proof: DomainProof


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainRoute:
    """A route, with the TXT record that proves the domain."""

    id: UUID
    domain: str
    provider_id: UUID
    enforced: bool
    status: ProofStatus
    txt_name: str
    txt_value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRoute:
    """A route in force: the domain is proved, the connection enabled, the organization active."""

    connection_id: UUID
    connection_name: str
    organization_slug: str
    enforced: bool


def list_all(uow: UnitOfWork, slug: str) -> Sequence[DomainRoute]:
    """List the routes of an organization by their domains."""
    organization = authorize(uow, slug, Operation.DOMAIN_ROUTES_READ).organization
    return [_shown(claim) for claim in uow.domain_routes.of_organization(organization.id)]


def create(uow: UnitOfWork, slug: str, text: str, connection_id: UUID, *, enforced: bool) -> DomainRoute:
    """Claim a mail domain; it routes nothing before it is verified."""
    organization = authorize_and_lock(uow, slug, Operation.DOMAIN_ROUTES_CHANGE).organization
    domain = domain_proofs.checked_domain(uow, text)
    _require_connection(uow, organization.id, connection_id)
    if len(uow.domain_routes.of_organization(organization.id)) >= ROUTES_MAX:
        raise TooManyRoutes
    claim = RouteClaim(
        id=uow.randomness.new_id(),
        organization_id=organization.id,
        connection_id=connection_id,
        enforced=enforced,
        proof=domain_proofs.claim(uow, domain),
    )
    if not uow.domain_routes.add(claim):
        raise DomainRoutedAlready
    return _shown(claim)


def change(
    uow: UnitOfWork, slug: str, route_id: UUID, *, connection_id: UUID | None, enforced: bool | None
) -> DomainRoute:
    """Change the given fields of a route."""
    organization = authorize_and_lock(uow, slug, Operation.DOMAIN_ROUTES_CHANGE).organization
    if connection_id is not None:
        _require_connection(uow, organization.id, connection_id)
    before = _locked(uow, organization.id, route_id)
    after = replace(
        before,
        connection_id=connection_id or before.connection_id,
        enforced=before.enforced if enforced is None else enforced,
    )
    uow.domain_routes.save(after)
    return _shown(after)


def delete(uow: UnitOfWork, slug: str, route_id: UUID) -> None:
    """Delete a route, and give the claim to its domain up."""
    organization = authorize_and_lock(uow, slug, Operation.DOMAIN_ROUTES_CHANGE).organization
    if not uow.domain_routes.remove(organization.id, route_id):
        raise RouteUnknown


def find_to_verify(uow: UnitOfWork, slug: str, route_id: UUID) -> RouteClaim:
    """Return the claim whose name servers are to be asked; raise `RouteUnknown`."""
    organization = authorize(uow, slug, Operation.DOMAIN_ROUTES_CHANGE).organization
    found = next((one for one in uow.domain_routes.of_organization(organization.id) if one.id == route_id), None)
    if found is None:
        raise RouteUnknown
    return found


def verify(uow: UnitOfWork, slug: str, route_id: UUID, records: Sequence[str] | None) -> DomainRoute:
    """Record what the name servers answered when the organization asked for it; raise what is missing."""
    organization = authorize_and_lock(uow, slug, Operation.DOMAIN_ROUTES_CHANGE).organization
    claim = _locked(uow, organization.id, route_id)
    finding = domain_proofs.finding(claim.proof, records)
    if finding is Finding.UNANSWERED:
        raise DomainUnanswered
    if finding is Finding.MISSING:
        raise DomainUnproved
    return _shown(_checked(uow, claim, finding))


def claim_checks(uow: UnitOfWork, limit: int) -> Sequence[RouteClaim]:
    """Return claims that are due to be checked again; no other replica gets them within the next hour."""
    return uow.domain_routes.claim_checks(limit, until=uow.now + domain_proofs.RECHECK_PERIOD)


def record_check(uow: UnitOfWork, asked: RouteClaim, records: Sequence[str] | None) -> ProofStatus | None:
    """Record what the name servers of a verified domain answered; None when the route was deleted meanwhile."""
    claim = uow.domain_routes.lock(asked.organization_id, asked.id)
    if claim is None or claim.proof.verified_at is None:
        return None
    return _checked(uow, claim, domain_proofs.finding(claim.proof, records)).proof.status


def _checked(uow: UnitOfWork, claim: RouteClaim, finding: Finding) -> RouteClaim:
    """Store a claim after a check; raise `DomainVerifiedElsewhere` when it would be the second verified one."""
    after = replace(claim, proof=claim.proof.checked(finding, at=uow.now))
    if not uow.domain_routes.save_proof(after):
        raise DomainVerifiedElsewhere
    return after


def _locked(uow: UnitOfWork, organization_id: UUID, route_id: UUID) -> RouteClaim:
    claim = uow.domain_routes.lock(organization_id, route_id)
    if claim is None:
        raise RouteUnknown
    return claim


def _require_connection(uow: UnitOfWork, organization_id: UUID, connection_id: UUID) -> None:
    if uow.upstream_connections.find(organization_id, connection_id) is None:
        raise BadRequest.of_field("provider_id", "This organization has no such connection.")


def _shown(claim: RouteClaim) -> DomainRoute:
    return DomainRoute(
        id=claim.id,
        domain=claim.proof.domain,
        provider_id=claim.connection_id,
        enforced=claim.enforced,
        status=claim.proof.status,
        txt_name=claim.proof.record_name,
        txt_value=claim.proof.value,
    )

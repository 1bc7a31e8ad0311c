"""Mail domains that a vendor has proved for a customer: they route sign-ins at the vendor's services.

They are domain routes of the customer's internal organization (`core/sign_in/upstream/domains/domain_routes.py`), and
prove nothing elsewhere: two vendors and the organization whose domain it is may all have proved the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.customers import setup_callers
from core.customers.setup_callers import CustomerPath, SetupAttempt
from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.organizations.domain_proofs import ProofStatus
from core.organizations.link_callers import Part
from core.organizations.settings.domain import DomainUnanswered, DomainUnproved
from core.sign_in.upstream.domains import domain_routes
from core.sign_in.upstream.domains.domain_routes import DomainRoute, RouteClaim, RouteUnknown

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerMailDomain:
    """A mail domain, the connection by which its addresses sign in, and the TXT record that proves it.

    `last_attempt` is when the name servers were asked last; None before.
    """

    id: UUID
    domain: str
    provider_id: UUID
    status: ProofStatus
    txt_name: str
    txt_value: str
    last_attempt: SetupAttempt | None

    @classmethod
    def of(cls, claim: RouteClaim) -> CustomerMailDomain:
        """Return a claim as the vendor sees it."""
        proof = claim.proof
        is_found = proof.status is ProofStatus.VERIFIED
        return cls(
            id=claim.id,
            domain=proof.domain,
            provider_id=claim.connection_id,
            status=proof.status,
            txt_name=proof.record_name,
            txt_value=proof.value,
            last_attempt=(
                SetupAttempt(at=proof.checked_at, succeeded=is_found, reason=None if is_found else "record_missing")
                if proof.checked_at is not None
                else None
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainSetup:
    """What the page of a setup link shows: the mail domains, and the connections by their ids."""

    domains: Sequence[DomainRoute]
    connections: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MailDomains:
    """What the vendor's page shows: the mail domains, and the connections by their ids."""

    domains: Sequence[CustomerMailDomain]
    connections: Sequence[tuple[str, str]]


def list_all(uow: UnitOfWork, path: CustomerPath) -> Sequence[CustomerMailDomain]:
    """List the mail domains of a customer by their names."""
    return setup_callers.read(uow, path, Part.MAIL_DOMAIN, _listed)


def show_all(uow: UnitOfWork, path: CustomerPath) -> MailDomains:
    """Return the mail domains of a customer, and the connections to which a domain can lead."""
    organization = setup_callers.enter_to_read(uow, path, Part.MAIL_DOMAIN).organization
    return MailDomains(
        domains=_listed(uow, organization.slug),
        connections=[(str(one.id), one.name) for one in uow.upstream_connections.of_organization(organization.id)],
    )


def show(uow: UnitOfWork, path: CustomerPath, domain_id: UUID) -> CustomerMailDomain:
    """Return a mail domain; raise `RouteUnknown`."""
    return _found(list_all(uow, path), domain_id)


def create(uow: UnitOfWork, path: CustomerPath, domain: str, provider_id: UUID) -> CustomerMailDomain:
    """Claim a mail domain for a customer; it routes nothing before it is verified."""
    slug = setup_callers.enter_to_change(uow, path, Part.MAIL_DOMAIN).organization.slug
    made = domain_routes.create(uow, slug, domain, provider_id, enforced=False)
    return _found(_listed(uow, slug), made.id)


def delete(uow: UnitOfWork, path: CustomerPath, domain_id: UUID) -> None:
    """Give a mail domain up."""
    setup_callers.change(uow, path, Part.MAIL_DOMAIN, domain_routes.delete, domain_id)


def find_to_verify(uow: UnitOfWork, path: CustomerPath, domain_id: UUID) -> RouteClaim:
    """Return the claim whose name servers are to be asked; raise `RouteUnknown`."""
    setup_callers.require_change(uow, path)
    return setup_callers.read(uow, path, Part.MAIL_DOMAIN, domain_routes.find_to_verify, domain_id)


def verify(
    uow: UnitOfWork, path: CustomerPath, domain_id: UUID, records: Sequence[str] | None
) -> CustomerMailDomain | DomainUnanswered | DomainUnproved:
    """Record what the name servers answered; return a missing proof, because raising it would undo the record."""
    slug = setup_callers.enter_to_change(uow, path, Part.MAIL_DOMAIN).organization.slug
    found = domain_routes.verify(uow, slug, domain_id, records)
    return found if isinstance(found, DomainUnanswered | DomainUnproved) else _found(_listed(uow, slug), domain_id)


def show_setup(uow: UnitOfWork, slug: str) -> DomainSetup:
    """Return the mail domains of a customer to the holder of a setup link, and the connections to lead them to."""
    organization = authorize(uow, slug, Operation.DOMAIN_ROUTES_READ).organization
    return DomainSetup(
        domains=domain_routes.list_all(uow, slug),
        connections=[(str(one.id), one.name) for one in uow.upstream_connections.of_organization(organization.id)],
    )


def _listed(uow: UnitOfWork, slug: str) -> Sequence[CustomerMailDomain]:
    organization = authorize(uow, slug, Operation.DOMAIN_ROUTES_READ).organization
    return [CustomerMailDomain.of(one) for one in uow.domain_routes.of_organization(organization.id)]


def _found(listed: Sequence[CustomerMailDomain], domain_id: UUID) -> CustomerMailDomain:
    found = next((one for one in listed if one.id == domain_id), None)
    if found is None:
        raise RouteUnknown("This customer has no such mail domain.")
    return found

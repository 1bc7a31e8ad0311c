"""The part of the vendor's setup in an explained sign-in: connections, mail domains and the directory for a customer.

Of the typed address it says only where its mail domain leads. Of an account it says only what the vendor knows already:
how its setup has admitted the person. For any other person the answer is the same, whether or not an account exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from core.customers import setup_callers
from core.customers.customers import ServiceCustomer
from core.customers.relations import CustomerState
from core.email_addresses import domain_of
from core.lazy_dataclasses import dataclass
from core.organizations.domain_proofs import ProofStatus
from core.organizations.link_callers import Part
from core.organizations.organizations import Organization, OrganizationStatus
from core.platform.explained_customers import CustomerOfUser
from core.services.services import Service
from core.sign_in.identities import IdentityContext
from core.sign_in.lookup_email import MOVES_AFTER
from core.sign_in.upstream.provider_problems import ProviderProblem

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class AdmittedBy(StrEnum):
    """What of the vendor's setup admits a person."""

    CONNECTION = "connection"
    DIRECTORY = "directory"


class MadeRoute(StrEnum):
    """Where the mail domain of an address leads by the vendor's proof."""

    LEADS = "leads"
    UNPROVED = "unproved"
    # The TXT record is gone; the domain counts for seven days more.
    FAILING = "failing"
    # An organization has proved the domain for itself, seven days ago or longer.
    TAKEN = "taken"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeConnection:
    """A connection that the vendor has made; `problem` is what the last check found, if anything."""

    id: UUID
    name: str
    is_enabled: bool
    problem: ProviderProblem | None
    failing_since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedSetup:
    """What the vendor has made for a customer, as far as it concerns the sign-in of an address.

    `parts` are the parts that the vendor may set up, and it sees only these. `internal_id` is the internal
    organization, None where nothing is made yet. `organization` is the status of an organization that the vendor has
    made and no person owns; None for any other. `route` is None where the vendor has no mail domain for the address,
    and `leads_to` is the connection to which it leads. `admitted_by` and `is_deactivated` concern a person that the
    vendor has admitted, None for any other. `takes_code` says whether a sign-in by an open connection needs a code that
    is mailed once; None without such a connection.
    """

    parts: Sequence[str]
    internal_id: UUID | None
    organization: OrganizationStatus | None
    connections: Sequence[MadeConnection]
    domain: str
    route: MadeRoute | None
    leads_to: UUID | None
    admitted_by: AdmittedBy | None
    is_deactivated: bool | None
    takes_code: bool | None


def explain(
    uow: UnitOfWork, service: Service, customer_id: UUID, address: str, *, user_id: UUID, told: CustomerOfUser | None
) -> ExplainedSetup | None:
    """Explain what the vendor has made for a customer, in the parts that it may set up; None where that is nothing.

    `told` is the relation of the person to the customer, where the vendor may know it.
    """
    customer = uow.service_customers.find(service, customer_id, at=uow.now)
    parts = setup_callers.open_parts(customer) if customer is not None else ()
    internal = uow.organizations.find_internal(customer_id) if parts else None
    if customer is None or (internal is None and not customer.is_unclaimed):
        return None
    status = _status(uow, customer)
    connections = _connections(uow, internal) if internal is not None and Part.UPSTREAM in parts else ()
    shows_domains = internal is not None and Part.MAIL_DOMAIN in parts
    route, leads_to = (
        _route(uow, service, internal, address) if internal is not None and shows_domains else (None, None)
    )
    is_admitted = told is not None and told.is_admitted
    by = _admitted_by(uow, internal, connections, user_id) if is_admitted and internal is not None else None
    works = customer.state is CustomerState.ACTIVE and status not in {
        OrganizationStatus.REJECTED,
        OrganizationStatus.SUSPENDED,
    }
    return ExplainedSetup(
        parts=[part.value for part in parts],
        internal_id=internal.id if internal is not None else None,
        organization=status,
        connections=connections,
        domain=domain_of(address),
        route=route,
        leads_to=leads_to,
        admitted_by=by,
        is_deactivated=told.is_suspended if told is not None and is_admitted else None,
        takes_code=by is not AdmittedBy.CONNECTION if works and _is_open(connections, leads_to) else None,
    )


def _status(uow: UnitOfWork, customer: ServiceCustomer) -> OrganizationStatus | None:
    if not customer.is_unclaimed or customer.organization_id is None:
        return None
    organization = uow.organizations.by_id(customer.organization_id)
    return organization.status if organization is not None else None


def _connections(uow: UnitOfWork, internal: Organization) -> Sequence[MadeConnection]:
    progress = {one.connection_id: one for one in uow.upstream_failures.progress(internal.id)}
    return [
        MadeConnection(
            id=one.id,
            name=one.name,
            is_enabled=one.enabled,
            problem=progress[one.id].problem,
            failing_since=progress[one.id].failing_since,
        )
        for one in uow.upstream_connections.of_organization(internal.id)
        # A connection that was made between the two statements is only in one of them.
        if one.id in progress
    ]


def _route(
    uow: UnitOfWork, service: Service, internal: Organization, address: str
) -> tuple[MadeRoute | None, UUID | None]:
    domain = domain_of(address)
    claim = next((one for one in uow.domain_routes.of_organization(internal.id) if one.proof.domain == domain), None)
    if claim is None:
        return None, None
    if claim.proof.status is ProofStatus.PENDING:
        return MadeRoute.UNPROVED, claim.connection_id
    if uow.domain_routes.open_route(domain) is not None and not _leads(uow, service, domain):
        return MadeRoute.TAKEN, claim.connection_id
    is_failing = claim.proof.status is ProofStatus.FAILING
    return MadeRoute.FAILING if is_failing else MadeRoute.LEADS, claim.connection_id


def _leads(uow: UnitOfWork, service: Service, domain: str) -> bool:
    """Return whether addresses still lead to the vendor's connection, as a sign-in decides it."""
    vendor = uow.organizations.by_id(service.organization_id)
    moved_before = uow.now - MOVES_AFTER
    return (
        vendor is not None
        and uow.domain_routes.made_route(domain, vendor.slug, service.slug, moved_before=moved_before) is not None
    )


def _admitted_by(
    uow: UnitOfWork, internal: Organization, connections: Sequence[MadeConnection], user_id: UUID
) -> AdmittedBy:
    contexts = (IdentityContext(organization_id=internal.id, connection_id=one.id) for one in connections)
    is_linked = any(uow.identities.of_user(user_id, context) for context in contexts)
    return AdmittedBy.CONNECTION if is_linked else AdmittedBy.DIRECTORY


def _is_open(connections: Sequence[MadeConnection], leads_to: UUID | None) -> bool:
    """Return whether a person can sign in by a connection: the one to which the address leads, if it leads anywhere."""
    return any(one.is_enabled and leads_to in {None, one.id} for one in connections)

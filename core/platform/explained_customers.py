"""The facts that explain a sign-in for a customer of a service: the customer record, and the user's relation to it.

Each side sees its half. The vendor sees people who have signed in for the customer and, where the customer shares its
directory, people who may; never memberships, groups, assignments or rules there. The customer sees its own members, and
nothing of the vendor's members or of other customers.

The vendor also sees what it has made for the customer: connections, mail domains and the directory. Of the typed
address that part says only where its mail domain leads. Of an account it says only what the vendor knows already: how
its setup has admitted the person. For any other person it is the same, whether or not an account exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.customers import setup_callers
from core.customers.customers import ServiceCustomer
from core.customers.relation_log import CustomerSide, CustomerState
from core.email_addresses import domain_of
from core.lazy_dataclasses import dataclass
from core.organizations.domain_proofs import ProofStatus
from core.organizations.link_callers import Part
from core.organizations.organizations import Organization, OrganizationStatus
from core.services.services import Service
from core.sessions.mfa_methods import MfaMethods
from core.sign_in.identities import IdentityContext
from core.sign_in.lookup_email import MOVES_AFTER
from core.sign_in.places import Place
from core.sign_in.rules import Rule
from core.sign_in.upstream.provider_problems import ProviderProblem

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# Hidden from the vendor: the customer's own requirements.
_OF_CUSTOMER: Final = frozenset({Rule.SINGLE_SIGN_ON, Rule.REQUIRED_SECOND_FACTOR})
# Hidden from the customer: the user's relation to the vendor, and the vendor's settings of its service.
_OF_VENDOR: Final = frozenset({Rule.ADDRESS_OWNED, Rule.NOT_SUSPENDED, Rule.SECURITY_PROFILE, Rule.ACCESS})


class CustomerMembership(StrEnum):
    """The relation of a user to the organization that is the customer."""

    NONE = "none"
    UNCONFIRMED = "unconfirmed"
    CONFIRMED = "confirmed"
    SUSPENDED = "suspended"
    # No member: something that the vendor has made admits the user.
    ADMITTED = "admitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerOfUser:
    """A customer of a service, active or paused, and the relation of a user to it.

    `is_assigned` says that the customer's settings of who may use the service include the user, and `is_admitted` that
    the user is no member of it, but admitted by something that the vendor has made.
    """

    id: UUID
    organization_id: UUID
    slug: str
    name: str
    is_paused_by_vendor: bool
    is_paused_by_customer: bool
    shares_directory: bool
    has_signed_in: bool
    is_member: bool
    is_admitted: bool
    is_confirmed: bool
    is_suspended: bool
    is_assigned: bool

    @property
    def membership(self) -> CustomerMembership:
        """The relation of the user to the organization."""
        if not self.is_member:
            return CustomerMembership.NONE
        if self.is_suspended:
            return CustomerMembership.SUSPENDED
        if self.is_admitted:
            return CustomerMembership.ADMITTED
        return CustomerMembership.CONFIRMED if self.is_confirmed else CustomerMembership.UNCONFIRMED

    @property
    def shows_user(self) -> bool:
        """Whether the vendor may know that the user belongs to the customer.

        Visits count only while the membership is confirmed, else they may be another person's with the same address.
        """
        may_use = not self.is_suspended and self.is_assigned
        if self.is_admitted:
            return True
        return self.is_confirmed and (self.has_signed_in or (self.shares_directory and may_use))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCustomer:
    """The customer of an explained sign-in; `membership` and `is_assigned` are None for the vendor."""

    id: UUID
    slug: str
    name: str
    state: CustomerState
    paused_by: Sequence[CustomerSide]
    has_signed_in: bool
    membership: CustomerMembership | None
    is_assigned: bool | None

    @classmethod
    def of(cls, customer: CustomerOfUser, side: CustomerSide | None) -> ExplainedCustomer:
        """Return what one side may see of a customer, or the platform for None."""
        pauses = {
            CustomerSide.VENDOR: customer.is_paused_by_vendor,
            CustomerSide.CUSTOMER: customer.is_paused_by_customer,
        }
        paused_by = [one for one, is_paused in pauses.items() if is_paused]
        is_vendor = side is CustomerSide.VENDOR
        return cls(
            id=customer.id,
            slug=customer.slug,
            name=customer.name,
            state=CustomerState.PAUSED if paused_by else CustomerState.ACTIVE,
            paused_by=paused_by,
            has_signed_in=customer.has_signed_in,
            membership=None if is_vendor else customer.membership,
            is_assigned=None if is_vendor else customer.is_assigned,
        )


def hidden_from(side: CustomerSide, customer: CustomerOfUser | None) -> frozenset[Rule]:
    """Return the rules that are hidden from one side.

    Without a customer, the vendor may also not know for which one a user would come, or whether they belong to one.
    """
    if side is CustomerSide.CUSTOMER:
        return _OF_VENDOR
    return _OF_CUSTOMER if customer is not None else frozenset({Rule.CUSTOMER})


def place_for(side: CustomerSide, place: Place, customer: CustomerOfUser | None) -> Place:
    """Return a place as one side may see it: for the vendor with this customer alone, or with none."""
    if place.customers is None:
        return place
    standings = [one for one in place.customers.standings if customer is not None and one.id == customer.id]
    if side is CustomerSide.CUSTOMER:
        return replace(
            place, is_member=False, is_suspended=False, customers=replace(place.customers, standings=standings)
        )
    if customer is None:
        return replace(place, customers=None)
    shown = [
        # What the customer requires, and whether the user has confirmed the membership, is the customer's.
        replace(one, is_confirmed=True, requires_mfa=False, mfa_methods=MfaMethods.ANY, connection_id=None)
        for one in standings
    ]
    return replace(place, customers=replace(place.customers, standings=shown))


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

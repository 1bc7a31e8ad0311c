"""A question about a sign-in, by people who help: the person, the place and the way (`why.py` answers it).

An organization chooses among its own members, end users, services and customers, and among the products that it uses;
the platform among all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts.support_access import Narrowing
from core.customers.choices import of_customers, of_products
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.networks import typed_network
from core.organizations.access import Capability, Operation
from core.organizations.authorization import authorize, authorize_support
from core.organizations.choices import CHOICES_FOUND_MAX, Choice, Choices, choices, searched
from core.platform import organization_records, users
from core.platform.organization_records import OrganizationFilter
from core.platform.sign_in_checks import SignInWay
from core.platform.users import UserPosition
from core.services import found_services
from core.services.found_services import people_choices

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInQuestion:
    """The person, the place and the way of a sign-in in question.

    An address or an id names the person. Without a way every way is walked; `connection_id` names a connection of the
    organization. `network` is the network of the attempt, None when it is not known. `by_saml` says whether the sign-in
    to the service is by SAML; None means that it is, if the service is set up for that.

    `customer` names a customer of the service by its id or slug, and is empty for a user without a customer. `product`
    is the client id of another organization's service that the asking organization uses as a customer.
    """

    email: str = ""
    user_id: UUID | None = None
    service_slug: str | None = None
    way: SignInWay | None = None
    connection_id: UUID | None = None
    network: str | None = None
    by_saml: bool | None = None
    customer: str | None = None
    product: UUID | None = None

    @property
    def names_user(self) -> bool:
        """Whether the question names the person."""
        return bool(self.email) or self.user_id is not None

    @property
    def narrowing(self) -> Narrowing:
        """The person of the question; the form is checked."""
        return Narrowing(text=self.email.strip().lower() or None, id=self.user_id, network=self.network)

    def checked(self) -> SignInQuestion:
        """Return the question with the typed network in the form of the counts.

        Raise `BadRequest` for a question without a user, a customer without its service, or an invalid network.
        """
        if not self.names_user:
            raise BadRequest.of_field("email", "Enter the email address of the user, or their id.")
        self.require_service()
        if self.network is None:
            return self
        network = typed_network(self.network)
        if network is None:
            raise BadRequest.of_field(
                "network", "This is no network address. Enter one like 192.0.2.7, or leave it out."
            )
        return replace(self, network=network)

    def require_service(self) -> None:
        """Raise `BadRequest` for a customer without its service, or for a service that is named twice."""
        if self.customer is not None and self.service_slug is None:
            raise BadRequest.of_field("service", "Name the service that the customer uses.")
        if self.product is not None and self.service_slug is not None:
            raise BadRequest.of_field("product", "Name either one of your services or a product that you use.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """The typed searches of a question, and the slugs of the chosen organization and service."""

    person: str = ""
    organization: str = ""
    service: str = ""
    customer: str = ""
    product: str = ""
    organization_slug: str | None = None
    service_slug: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionChoices:
    """The choices of a question; None where the reader may not see them, or has not chosen their parent yet.

    People are named by their addresses, customers by their ids, products by their client ids, and others by slugs.
    """

    people: Choices
    services: Choices | None
    customers: Choices | None
    products: Choices | None = None
    organizations: Choices | None = None


def for_organization(uow: UnitOfWork, slug: str, sought: Sought) -> QuestionChoices:
    """Return the choices for a question of an organization."""
    authorized = authorize(uow, slug, Operation.SIGN_INS_EXPLAIN)
    organization_id = authorized.organization.id
    sees_customers = Capability.SERVICES_MANAGE in authorized.capabilities
    service = uow.services.by_slug(organization_id, sought.service_slug) if sought.service_slug else None
    return QuestionChoices(
        people=people_choices(uow, authorized, sought.person),
        services=found_services.service_choices(uow, slug, Operation.SIGN_INS_EXPLAIN, sought.service),
        customers=of_customers(uow, service, sought.customer) if service is not None and sees_customers else None,
        products=of_products(uow, authorized, sought.product),
    )


def for_platform(uow: UnitOfWork, sought: Sought) -> QuestionChoices:
    """Return the choices for a question of the platform; searches of support are recorded."""
    authorize_support(uow)
    slug = sought.organization_slug
    organization = uow.organizations.by_slug(slug) if slug else None
    services, service = None, None
    if organization is not None:
        services = found_services.service_choices_of(uow, organization.id, sought.service)
        service = uow.services.by_slug(organization.id, sought.service_slug) if sought.service_slug else None
    return QuestionChoices(
        people=_users(uow, sought.person),
        services=services,
        customers=of_customers(uow, service, sought.customer) if service is not None else None,
        organizations=choices(lambda part, limit: _organizations(uow, part, limit), sought.organization),
    )


def _users(uow: UnitOfWork, search: str) -> Choices:
    if not search.strip():
        return searched(())
    found = users.browse(uow, search=search, after=UserPosition(), limit=CHOICES_FOUND_MAX + 1).found
    return searched([Choice(value=one.email, name=one.email, about=one.name or "") for one in found])


def _organizations(uow: UnitOfWork, part: str, limit: int) -> Sequence[Choice]:
    found = organization_records.listed(uow, OrganizationFilter(search=part), after=None, limit=limit)
    return [Choice(value=one.slug, name=one.name, about=one.slug) for one in found]

"""The choices for a question about a sign-in: people, services, their customers, products, organizations.

An organization chooses among its own members, end users, services and customers, and among the products that it uses;
the platform among all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.customers.choices import of_customers, of_products
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation, authorize, authorize_support
from core.organizations.choices import CHOICES_FOUND_MAX, Choice, Choices, choices, searched
from core.platform import found_users, organization_records
from core.platform.found_users import UserPosition
from core.platform.organization_records import OrganizationFilter
from core.services import found_services
from core.services.found_services import people_choices

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


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
    found = found_users.search(uow, search=search, after=UserPosition(), limit=CHOICES_FOUND_MAX + 1).found
    return searched([Choice(value=one.email, name=one.email, about=one.name or "") for one in found])


def _organizations(uow: UnitOfWork, part: str, limit: int) -> Sequence[Choice]:
    found = organization_records.listed(uow, OrganizationFilter(search=part), after=None, limit=limit)
    return [Choice(value=one.slug, name=one.name, about=one.slug) for one in found]

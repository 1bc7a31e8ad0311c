"""What the console finds of an organization: its services, what a deletion of one ends, and what forms choose from.

The choices are services by their slugs, and members and end users by a part of their addresses. Creating, changing and
deleting services is in `management.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.email_addresses import part_of_email
from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, Operation
from core.organizations.authorization import OrganizationAccess, authorize
from core.organizations.choices import CHOICES_FOUND_MAX, Choice, Choices, choices, searched
from core.positions import FoundRows, Position, found_rows
from core.services import management, service_access
from core.services.management import Usage
from core.services.services import Service, ServiceType
from core.text import checked_note

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The list counts so many end users of a service, because a page has many services.
USERS_COUNTED_MAX: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedService:
    """A service in the console; `users` is exact up to `USERS_COUNTED_MAX`, and one more than that beyond."""

    id: UUID
    slug: str
    name: str
    service_type: ServiceType
    created_at: datetime
    users: int

    @property
    def position(self) -> Position:
        """The place of the service in the list."""
        return Position(at=self.created_at, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundServices:
    """The services that were found, and how many the organization has and may have."""

    rows: FoundRows[ListedService]
    usage: Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceEnding:
    """What ends with a service; each number is exact up to `COUNTED_MAX`, and one more than that beyond."""

    end_users: int
    sessions: int
    api_keys: int
    plans: int
    subscriptions: int
    grants: int


def search(uow: UnitOfWork, slug: str, *, search: str, after: Position | None, limit: int) -> FoundServices:
    """Find services by a part of their name or slug or by the client id, the oldest first; an empty text finds all."""
    organization = authorize(uow, slug, Operation.SERVICES_LIST).organization
    part = search.strip().lower()
    found: Sequence[ListedService] = uow.elsewhere.found_services.page(
        organization.id, part=part, after=after, limit=limit + 1, users_max=USERS_COUNTED_MAX + 1
    )
    count = partial(uow.elsewhere.found_services.count, organization.id, part=part)
    rows = found_rows(found, after=after, limit=limit, count=count)
    return FoundServices(rows=rows, usage=uow.services.usage(organization))


def named(uow: UnitOfWork, slug: str, part: str, *, limit: int) -> Sequence[ListedService]:
    """Return the first services that `search` finds, without a count; at most one of their users is counted."""
    organization = authorize(uow, slug, Operation.SERVICES_LIST).organization
    part = part.strip().lower()
    return uow.elsewhere.found_services.page(organization.id, part=part, after=None, limit=limit, users_max=1)


def usage(uow: UnitOfWork, slug: str) -> Usage:
    """Return how many services the organization has and may have, for the page that creates one."""
    return uow.services.usage(authorize(uow, slug, Operation.SERVICE_CREATE).organization)


def show_removal(uow: UnitOfWork, slug: str, service_slug: str) -> ServiceEnding:
    """Return what ends when a service is deleted."""
    service = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_DELETE).service
    return uow.found_services.figures(service.organization_id, service.id)


def remove(uow: UnitOfWork, slug: str, service_slug: str, *, typed_slug: str, note: str) -> Service:
    """Delete a service after its slug was typed; raise `BadRequest` for another text, and as `management.delete`."""
    service = service_access.authorize(uow, slug, service_slug, Operation.SERVICE_DELETE).service
    if typed_slug.strip() != service.slug:
        raise BadRequest.of_field("slug", "This is not the slug of the service. Type the slug exactly as shown.")
    management.delete(uow, slug, service_slug, note=checked_note(note))
    return service


def service_choices(uow: UnitOfWork, slug: str, operation: Operation, search: str = "") -> Choices | None:
    """Return the services to a caller who may do the operation; None for one who does not see the services.

    A search takes a part of the name or the slug.
    """
    authorized = authorize(uow, slug, operation)
    if Capability.SERVICES_VIEW not in authorized.capabilities:
        return None
    return service_choices_of(uow, authorized.organization.id, search)


def service_choices_of(uow: UnitOfWork, organization_id: UUID, search: str) -> Choices:
    """Return the services of an organization to an authorized caller."""

    def read(part: str, limit: int) -> Sequence[Choice]:
        if not part:
            every = uow.services.names(organization_id, limit=limit)
            return [Choice(value=one, name=name, about=one) for one, name in every.items()]
        found = uow.elsewhere.found_services.page(
            organization_id, part=part.lower(), after=None, limit=limit, users_max=1
        )
        return [Choice(value=one.slug, name=one.name, about=one.slug) for one in found]

    return choices(read, search)


def people_choices(uow: UnitOfWork, authorized: OrganizationAccess, search: str) -> Choices:
    """Return the people that a search finds, by their addresses, as far as the caller may see them; else none."""
    organization_id, limit = authorized.organization.id, CHOICES_FOUND_MAX + 1
    part = part_of_email(search, uow.domain_names.to_ascii)
    found = dict[str, Choice]()
    if part and Capability.ORG_MEMBERS_VIEW in authorized.capabilities:
        members = uow.elsewhere.found_members.page(organization_id, part=part, role="", after=None, limit=limit)
        found |= {one.email: Choice(value=one.email, name=one.email, about=one.name or "") for one in members}
    if part and Capability.END_USERS_VIEW in authorized.capabilities:
        users = uow.elsewhere.found_end_users.page(organization_id, part=part, service="", after=None, limit=limit)
        found |= {one.email: Choice(value=one.email, name=one.email, about=one.name or "") for one in users}
    return searched(list(found.values()))

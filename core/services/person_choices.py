"""The people of an organization to choose from, by a part of their addresses: its members and its end users."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.email_addresses import part_of_email
from core.organizations.access import Capability, OrganizationAccess
from core.organizations.choices import CHOICES_FOUND_MAX, Choice, Choices, searched

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


def of_people(uow: UnitOfWork, authorized: OrganizationAccess, search: str) -> Choices:
    """Return the people that a search finds, by their addresses, as far as the caller may see them; else none."""
    organization_id, limit = authorized.organization.id, CHOICES_FOUND_MAX + 1
    part = part_of_email(search, uow.domain_names.to_ascii)
    found = dict[str, Choice]()
    if part and Capability.ORG_MEMBERS_VIEW in authorized.capabilities:
        members = uow.elsewhere.people.page(organization_id, part=part, role="", after=None, limit=limit)
        found |= {one.email: Choice(value=one.email, name=one.email, about=one.name or "") for one in members}
    if part and Capability.END_USERS_VIEW in authorized.capabilities:
        users = uow.elsewhere.found_end_users.page(organization_id, part=part, service="", after=None, limit=limit)
        found |= {one.email: Choice(value=one.email, name=one.email, about=one.name or "") for one in users}
    return searched(list(found.values()))

"""The members of one organization, as platform owners and support find them.

Support finds no platform owner among them. What the organization itself sees and changes is in
`core/organizations/found_members.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from core.accounts import support_access
from core.accounts.support_access import NarrowedList, Narrowing
from core.email_addresses import part_of_email
from core.lazy_dataclasses import dataclass
from core.organizations.authorization import authorize_platform
from core.organizations.found_members import ListedMember
from core.platform.organizations import OrganizationUnknown
from core.positions import FoundRows, Position, found_rows

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersOfOrganization:
    """The name of an organization, and a part of its members."""

    organization: str
    members: FoundRows[ListedMember]


def search(
    uow: UnitOfWork, organization_id: UUID, *, search: str, after: Position | None, limit: int
) -> MembersOfOrganization:
    """Find members by a part of their address, the oldest membership first; raise `OrganizationUnknown`.

    Searches of support are recorded.
    """
    caller = support_access.open_list(uow, NarrowedList.MEMBERS, Narrowing.of(search), organization_id=organization_id)
    name = _name_of(uow, organization_id)
    without = () if caller.acts_as_platform_owner else uow.platform_owners.ids()
    part = part_of_email(search, uow.domain_names.to_ascii)
    found = _page(uow, organization_id, part, after=after, limit=limit + 1, without=without)
    count = partial(uow.elsewhere.found_members.count, organization_id, part=part, role="", without=without)
    return MembersOfOrganization(organization=name, members=found_rows(found, after=after, limit=limit, count=count))


def listed(
    uow: UnitOfWork, organization_id: UUID, *, search: str, after: Position | None, limit: int
) -> Sequence[ListedMember]:
    """Return a part of what `search` finds, without a count, to a platform owner; for files."""
    authorize_platform(uow)
    _name_of(uow, organization_id)
    part = part_of_email(search, uow.domain_names.to_ascii)
    return _page(uow, organization_id, part, after=after, limit=limit)


def _name_of(uow: UnitOfWork, organization_id: UUID) -> str:
    found = uow.organization_records.names([organization_id])
    if not found:
        raise OrganizationUnknown
    return found[organization_id][0]


def _page(
    uow: UnitOfWork,
    organization_id: UUID,
    part: str,
    *,
    after: Position | None,
    limit: int,
    without: Collection[UUID] = (),
) -> Sequence[ListedMember]:
    return uow.elsewhere.found_members.page(
        organization_id, part=part, role="", after=after, limit=limit, without=without
    )

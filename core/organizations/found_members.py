"""The members of an organization for the console: a search by address, one member in detail, and what a removal ends.

Changing and removing them is in `members.py`, as for the JSON interface.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from core.email_addresses import part_of_email
from core.lazy_dataclasses import dataclass
from core.limits import COUNTED_MAX
from core.organizations import bulk_jobs
from core.organizations.access import Operation
from core.organizations.authorization import OrganizationAccess, authorize
from core.organizations.bulk_jobs import JobKind, ListChanged, WantedRow
from core.organizations.members import MemberUnknown
from core.organizations.organizations import OWNER
from core.positions import Listing, Position, listing

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class MemberSource(StrEnum):
    """How a member came to the organization."""

    FOUNDER = "founder"
    DIRECTORY = "directory"
    CONNECTION = "connection"
    INVITATION = "invitation"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedMember:
    """A member in the console.

    Until the person has confirmed the membership, `has_second_factor` and `last_sign_in_at` are None: the organization
    sees nothing of the account before. `last_sign_in_at` is the last sign-in to this organization. For a role that a
    rule gave, `role_source` is the directory or the name of the connection, and `role_group` the name of the group;
    both are None for a role that was given by hand.
    """

    id: UUID
    user_id: UUID
    email: str
    name: str | None
    role: str
    created_at: datetime
    is_confirmed: bool
    is_suspended: bool
    has_second_factor: bool | None
    last_sign_in_at: datetime | None
    source: MemberSource
    role_source: str | None = None
    role_group: str | None = None

    @property
    def position(self) -> Position:
        """The place of the member in the list."""
        return Position(at=self.created_at, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberDeparture:
    """What ends when members are removed, in numbers."""

    sessions: int
    services: int
    subscriptions: int
    grants: int
    invitations: int
    keys: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedMembers:
    """Members who were chosen together, and what would end with all of their memberships.

    `has_more` says that the search that chose them finds more, and `total` how many it finds in all: exact up to
    `COUNTED_MAX`, and one more than that beyond; 0 without a search.
    """

    members: Sequence[ListedMember]
    has_more: bool
    total: int
    departure: MemberDeparture


def found(uow: UnitOfWork, slug: str, *, search: str, role: str) -> Listing[ListedMember]:
    """Find members by a part of their address and by role, the oldest membership first; empty texts find all."""
    organization_id = authorize(uow, slug, Operation.MEMBERS_LIST).organization.id
    part = part_of_email(search, uow.domain_names.to_ascii)
    return listing(
        uow.elsewhere.found_members.page, uow.elsewhere.found_members.count, organization_id, part=part, role=role
    )


def show_departure(uow: UnitOfWork, slug: str, user_id: UUID) -> tuple[ListedMember, MemberDeparture]:
    """Return a member and what would end with the membership; raise `MemberUnknown` when the user is none."""
    organization = authorize(uow, slug, Operation.MEMBER_REMOVE).organization
    member = member_of(uow, organization.id, user_id)
    return member, uow.found_members.departure(organization.id, [user_id])


def show_leaving(uow: UnitOfWork, slug: str) -> MemberDeparture:
    """Return what would end if the caller left the organization."""
    authorized = authorize(uow, slug, Operation.ORGANIZATION_LEAVE)
    return uow.found_members.departure(authorized.organization.id, [authorized.membership.user_id])


def select(
    uow: UnitOfWork,
    slug: str,
    operation: Operation,
    user_ids: Sequence[UUID],
    *,
    search: str | None,
    role: str,
    limit: int,
) -> SelectedMembers:
    """Return these members or, with a search, the first that it finds, and what would end with their memberships.

    `operation` changes or removes members. The owner, the caller, and users who are no members are left out.
    """
    authorized = authorize(uow, slug, operation)
    organization_id = authorized.organization.id
    total = 0
    if search is None:
        found = uow.found_members.among(organization_id, user_ids)
    else:
        part = part_of_email(search, uow.domain_names.to_ascii)
        # The owner and the caller, who are left out, may be among them.
        found = uow.found_members.page(organization_id, part=part, role=role, after=None, limit=limit + 3)
        total = uow.found_members.count(organization_id, part=part, role=role, counted_max=COUNTED_MAX + 1)
    changeable = _changeable(authorized, found)
    chosen = changeable[:limit]
    return SelectedMembers(
        members=chosen,
        has_more=len(changeable) > limit,
        total=total,
        departure=uow.found_members.departure(organization_id, [one.user_id for one in chosen]),
    )


def begin_job(
    uow: UnitOfWork, slug: str, kind: JobKind, *, search: str, role: str, seen_total: int, details: Mapping[str, str]
) -> UUID:
    """Begin a job for all members that a search finds, and return its id; the owner and the caller are left out.

    Raise `ListChanged` when the search no longer finds as many as the page had shown.
    """
    assert kind.operation is not None, "a job of an organization takes a right there"
    authorized = authorize(uow, slug, kind.operation)
    part = part_of_email(search, uow.domain_names.to_ascii)
    found = uow.found_members.page(authorized.organization.id, part=part, role=role, after=None, limit=COUNTED_MAX + 1)
    if len(found) != seen_total:
        raise ListChanged
    rows = [WantedRow(label=one.email, subject_id=one.user_id, seen=one.role) for one in _changeable(authorized, found)]
    return bulk_jobs.begin(uow, slug, kind, rows, details)


def _changeable(authorized: OrganizationAccess, found: Sequence[ListedMember]) -> Sequence[ListedMember]:
    """Return the members without the owner and the caller, because no list changes these."""
    return [one for one in found if one.role != OWNER and one.user_id != authorized.membership.user_id]


def member_of(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> ListedMember:
    """Return a member of an organization; raise `MemberUnknown` when the user is none."""
    member = uow.found_members.find(organization_id, user_id)
    if member is None:
        raise MemberUnknown
    return member

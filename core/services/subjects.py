"""The subjects of assignments as the console shows them: with names in place of ids, and the choices of a form.

A reader who sees no members sees neither addresses nor groups. What is stored is in `assignments.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.directory_texts import stored_form
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability, OrganizationAccess
from core.organizations.choices import Choice, Choices, choices, of_members
from core.organizations.organizations import BUILT_IN_ROLES
from core.services.assignments import Assignment, SubjectKind

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# The form of a new assignment offers so many roles of the organization; programs name more by their slugs.
ROLES_OFFERED_MAX: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAssignment:
    """An assignment with the name of its group or the address of its person; None where the reader may not see it."""

    assignment: Assignment
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignable:
    """The roles of an organization by slug, its people and its groups; both are None if the reader sees no members."""

    roles: Sequence[str]
    people: Choices | None
    groups: Choices | None


def named(assigned: Iterable[Assignment], name_of: Mapping[str, str]) -> list[NamedAssignment]:
    """Return assignments with their names, by the ids of groups and people as texts."""
    return [NamedAssignment(assignment=one, name=name_of.get(one.named)) for one in assigned]


def names(
    uow: UnitOfWork, authorized: OrganizationAccess, assigned: Sequence[Assignment], *, group_ids: Sequence[UUID] = ()
) -> Mapping[str, str]:
    """Return the names of the assigned and of these groups, and the addresses of people, by their ids as texts."""
    if Capability.ORG_MEMBERS_VIEW not in authorized.capabilities:
        return {}
    groups = [UUID(one.named) for one in assigned if one.kind is SubjectKind.GROUP]
    people = [UUID(one.named) for one in assigned if one.kind is SubjectKind.USER]
    found = uow.service_assignments.names(authorized.organization.id, group_ids=[*groups, *group_ids], user_ids=people)
    return {str(one): name for one, name in found.items()}


def assignable(uow: UnitOfWork, authorized: OrganizationAccess, find: str) -> Assignable:
    """Return what an assignment can name; `find` is a part of an address or name."""
    return Assignable(
        roles=[
            *BUILT_IN_ROLES,
            *(role.slug for role in uow.roles.of_organization(authorized.organization.id)[:ROLES_OFFERED_MAX]),
        ],
        people=of_members(uow, authorized, find),
        groups=of_groups(uow, authorized, find),
    )


def of_groups(uow: UnitOfWork, authorized: OrganizationAccess, search: str) -> Choices | None:
    """Return the groups of the organization's directory by their ids; None for a caller who sees no members."""
    if Capability.ORG_MEMBERS_VIEW not in authorized.capabilities:
        return None

    def read(part: str, limit: int) -> Sequence[Choice]:
        found = uow.elsewhere.directory_groups.found(
            authorized.organization.id, part=stored_form(part), after=None, limit=limit
        )
        return [Choice(value=str(one.id), name=one.display_name) for one in found]

    return choices(read, search)

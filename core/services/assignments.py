"""Assignments: an organization gives people a service, its own or one that it uses, with roles of the service.

The roles of all assignments that fit a member add up. Where only assigned members have access, an assignment without
roles gives it too. Roles are stored by their ids, so that a role that is deleted and made again inherits nothing. The
console shows the subjects with names in place of ids; a reader who sees no members sees neither addresses nor groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.errors import BadRequest
from core.lazy_dataclasses import dataclass
from core.organizations.access import Capability
from core.organizations.authorization import OrganizationAccess
from core.organizations.choices import Choice, Choices, choices, of_members
from core.organizations.organizations import BUILT_IN_ROLES
from core.text import stored_form
from core.wording import Wording

if TYPE_CHECKING:
    from core.services.services import Service
    from ports.unit_of_work import UnitOfWork

ASSIGNMENTS_MAX: Final = 200
_FIELD: Final = "assignments"
_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class SubjectKind(StrEnum):
    """The subject of an assignment: everyone, the members with a role or in a group, or one member."""

    EVERYONE = "everyone"
    ROLE = "role"
    GROUP = "group"
    USER = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A subject, `everyone`, `role:<slug>`, `group:<id>` or `user:<id>`, and the sorted names of its roles."""

    subject: str
    roles: list[str]

    @property
    def kind(self) -> SubjectKind:
        """The kind of its subject."""
        return SubjectKind(self.subject.partition(":")[0])

    @property
    def named(self) -> str:
        """The slug of a role, or the id of a group or user; empty for everyone."""
        return self.subject.partition(":")[2]


def checked(wanted: Sequence[Assignment]) -> list[Assignment]:
    """Return the stored form of assignments; raise `BadRequest` for any that no organization can make."""
    made = added_up(wanted)
    if len(made) < len(wanted):
        raise BadRequest.of_field(_FIELD, "Name each subject once, with all of its roles.")
    return made


def added_up(wanted: Sequence[Assignment]) -> list[Assignment]:
    """Do what `checked` does, and give a repeated subject the roles of all assignments that name it."""
    if len(wanted) > ASSIGNMENTS_MAX:
        raise BadRequest.of_field(_FIELD, Wording("At most %(maximum)s assignments.", maximum=ASSIGNMENTS_MAX))
    roles: dict[str, set[str]] = {}
    for one in wanted:
        roles.setdefault(checked_subject(one.subject), set()).update(one.roles)
    return [Assignment(subject=subject, roles=sorted(given)) for subject, given in roles.items()]


def require_known(
    uow: UnitOfWork,
    organization_id: UUID,
    service: Service,
    wanted: Sequence[Assignment],
    *,
    before: Sequence[Assignment],
) -> None:
    """Raise `BadRequest` for a subject that the organization does not have, and for a role that the service lacks.

    A member who has been suspended since keeps an earlier assignment.
    """
    known = {one.subject for one in before}
    new = [one for one in wanted if one.subject not in known]
    unknown = uow.service_assignments.unknown_subjects(
        organization_id,
        roles=[one.named for one in new if one.kind is SubjectKind.ROLE and one.named not in BUILT_IN_ROLES],
        group_ids=[UUID(one.named) for one in new if one.kind is SubjectKind.GROUP],
        user_ids=[UUID(one.named) for one in new if one.kind is SubjectKind.USER],
    )
    if unknown:
        raise BadRequest.of_field(
            _FIELD,
            Wording(
                "%(subject)s is no role or group of your organization, and no active member.", subject=min(unknown)
            ),
        )
    missing = {role for one in wanted for role in one.roles} - {role.name for role in service.roles}
    if missing:
        raise BadRequest.of_field(_FIELD, Wording("The service has no role %(role)s.", role=min(missing)))


def with_one(assigned: Sequence[Assignment], subject: str, roles: Sequence[str]) -> list[Assignment]:
    """Return assignments with these roles alone for a subject, last."""
    return [*without(assigned, subject), Assignment(subject=subject, roles=list(roles))]


def without(assigned: Sequence[Assignment], subject: str) -> list[Assignment]:
    """Return assignments without the one of a subject."""
    return [one for one in assigned if one.subject != subject]


def are_within(assigned: Sequence[Assignment], others: Sequence[Assignment]) -> bool:
    """Return whether assignments assign nothing that others do not assign to the same subjects."""
    given = {one.subject: set(one.roles) for one in others}
    return all(one.subject in given and given[one.subject].issuperset(one.roles) for one in assigned)


def checked_subject(text: str) -> str:
    """Return the stored form of a subject; raise `BadRequest` for a text of another form."""
    kind, _, named = text.partition(":")
    if text == SubjectKind.EVERYONE or (kind == SubjectKind.ROLE and named):
        return text
    if kind in {SubjectKind.GROUP, SubjectKind.USER} and _ID.fullmatch(named):
        return text.lower()
    raise BadRequest.of_field(_FIELD, "A subject is everyone, role: and a slug, group: and an id, or user: and an id.")


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

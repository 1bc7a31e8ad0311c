"""What an organization knows of one of its people: services, sessions, the last sign-ins, and the last audit entries.

The pages of a member and of an end user show it. They tell no more than the JSON interface does: each part requires the
capability of its route, and sessions and sign-ins are only those in the context of the organization, of people who have
confirmed that they belong to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.audit import browser
from core.audit.audit_log import FoundEntry
from core.audit.browser import EntryNames
from core.credentials import user_agents
from core.credentials.user_agents import Description
from core.lazy_dataclasses import dataclass
from core.organizations import found_members
from core.organizations.access import Operation
from core.organizations.authorization import OrganizationAccess, authorize
from core.organizations.found_members import ListedMember
from core.services.end_users import EndUserUnknown, ListedEndUser
from core.services.subscriptions import SubscriptionStatus
from core.sign_in.sign_ins import Scope, SignIn, SignInConnection, SignInOrganization, SignInService

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

SESSIONS_MAX: Final = 5
SIGN_INS_MAX: Final = 10
ENTRIES_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonService:
    """A service that a person is linked to, with the live subscription there; without one, `plan` is None.

    `is_billed` means that the payment provider bills it. `last_sign_in_at` is None until the person has signed in.
    """

    slug: str
    name: str
    linked_at: datetime
    last_sign_in_at: datetime | None
    plan: str | None
    subscription_status: SubscriptionStatus | None
    current_period_end: datetime | None
    is_billed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSession:
    """A live session in the context of the organization; `service` is None for one to the organization itself."""

    id: UUID
    provider: str
    created_at: datetime
    last_used_at: datetime
    ip_address: str | None
    user_agent: str | None
    organization: SignInOrganization
    service: SignInService | None
    connection: SignInConnection | None

    @property
    def client(self) -> Description:
        """The browser or program, by its own description."""
        return user_agents.describe(self.user_agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonEntries:
    """The newest audit entries about a person or by them, with names for the ids in them."""

    entries: Sequence[FoundEntry]
    names: EntryNames


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRecord:
    """What an organization knows of a person; a part that the role of the reader does not include is None.

    `is_told` is false until the person has confirmed that they belong to the organization: before, it sees neither
    sessions nor sign-ins. For an account that the organization has made it is true from the beginning; its data
    `may_be_exported` once the person has used it here, as for other accounts. `sessions` has the ones used last, and
    `sessions_total` counts all.
    """

    is_member: bool
    is_told: bool
    may_be_exported: bool
    services: Sequence[PersonService] | None
    sessions: Sequence[PersonSession] | None
    sessions_total: int
    sign_ins: Sequence[SignIn] | None
    entries: PersonEntries | None

    @property
    def is_end_user(self) -> bool:
        """Whether the reader sees services that the person is linked to."""
        return bool(self.services)


def show_member(uow: UnitOfWork, slug: str, user_id: UUID) -> tuple[ListedMember, PersonRecord]:
    """Return a member with what the organization knows of them; raise `MemberUnknown` when the user is none."""
    access = authorize(uow, slug, Operation.MEMBERS_LIST)
    member = found_members.member_of(uow, access.organization.id, user_id)
    return member, _record(uow, access, user_id, member)


def show_end_user(uow: UnitOfWork, slug: str, user_id: UUID) -> tuple[ListedEndUser, PersonRecord]:
    """Return an end user with what the organization knows of them; raise `EndUserUnknown` when the user is none."""
    access = authorize(uow, slug, Operation.END_USERS_READ)
    end_user = uow.found_end_users.find(access.organization.id, user_id)
    if end_user is None:
        raise EndUserUnknown
    return end_user, _record(uow, access, user_id, uow.found_members.find(access.organization.id, user_id))


def _record(uow: UnitOfWork, access: OrganizationAccess, user_id: UUID, member: ListedMember | None) -> PersonRecord:
    organization_id = access.organization.id

    def may(operation: Operation) -> bool:
        return operation.capabilities <= access.capabilities

    affiliation = uow.sign_ins.affiliation(organization_id, user_id)
    assert affiliation is not None, "the record is of a user who is neither a member nor an end user"
    services = uow.elsewhere.person_records.services(organization_id, user_id)
    sessions, total, sign_ins = None, 0, None
    if may(Operation.SIGN_INS_READ):
        sessions, total, sign_ins = _signed_in(uow, organization_id, user_id, affiliation.since)
    return PersonRecord(
        is_member=may(Operation.MEMBERS_LIST) and member is not None,
        is_told=affiliation.since is not None,
        may_be_exported=(member is not None and member.is_confirmed)
        or any(service.last_sign_in_at is not None for service in services),
        services=services if may(Operation.END_USERS_READ) else None,
        sessions=sessions,
        sessions_total=total,
        sign_ins=sign_ins,
        entries=_entries(uow, organization_id, user_id) if may(Operation.AUDIT_LOG_READ) else None,
    )


def _entries(uow: UnitOfWork, organization_id: UUID, user_id: UUID) -> PersonEntries:
    found = uow.elsewhere.person_records.entries(organization_id, user_id, limit=ENTRIES_MAX)
    return PersonEntries(entries=found, names=browser.names_of(uow, organization_id, found))


def _signed_in(
    uow: UnitOfWork, organization_id: UUID, user_id: UUID, since: datetime | None
) -> tuple[Sequence[PersonSession], int, Sequence[SignIn]]:
    """Return the sessions, their number, and the last sign-ins of a person since the moment of their confirmation."""
    if since is None:
        return (), 0, ()
    sessions, total = uow.elsewhere.person_records.sessions(organization_id, user_id, limit=SESSIONS_MAX)
    scope = Scope(organization_id=organization_id, since=since)
    return sessions, total, uow.elsewhere.sign_ins.following(user_id, scope, after=None, limit=SIGN_INS_MAX)

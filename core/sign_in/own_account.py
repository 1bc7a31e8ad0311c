"""What a person sees of their own account: their sessions, how they sign in, and how much there is in its sections.

A session that began from a browser's is listed with it, since it ends with it. Ending one session, and all others, is
in `core/sessions/sessions.py`.

An organization may require its own sign-in of the addresses of its mail domain, and a session that began with the word
of an organization is confined to it. The pages of the account say so, rather than offer what is refused afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Final
from uuid import UUID

from core.accounts import profile
from core.accounts.profile import SignInMethods
from core.accounts.single_sign_on import RequiredConnection
from core.credentials import user_agents
from core.credentials.user_agents import Description
from core.errors import NotFound
from core.lazy_dataclasses import dataclass
from core.sessions import sessions
from core.sessions.caller_limits import Act
from core.sessions.callers import Caller
from core.sign_in import identities
from core.sign_in.risk import Location
from core.sign_in.sign_ins import SignInConnection, SignInCustomer, SignInOrganization, SignInService

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork

# More than a person looks through; the others are counted, and end with "all other sessions".
OWN_SESSIONS_MAX: Final = 200
SUPPORT_SESSIONS_MAX: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSession:
    """A live session of the caller. `device` is the name that they gave the device, None without one.

    `expires_at` is when it ends if it is not used before. `host` is the custom domain to which a browser's session
    belongs; None for the address of Gatehouse. `customer` is the one for which the caller acts at the service.
    """

    id: UUID
    parent_id: UUID | None
    provider: str
    amr: list[str]
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime
    ip_address: str | None
    user_agent: str | None
    device: str | None
    host: str | None
    is_browser: bool
    is_impersonation: bool
    organization: SignInOrganization | None
    service: SignInService | None
    connection: SignInConnection | None
    customer: SignInCustomer | None = None

    @property
    def client(self) -> Description:
        """The browser or program, by its own description."""
        return user_agents.describe(self.user_agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSession:
    """A session with its place, None where it is not known, and the sessions that began from it."""

    session: OwnSession
    location: Location | None
    is_current: bool
    children: Sequence[ShownSession]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSessions:
    """The sessions at one service: their number, and those that no listed session has begun."""

    organization: SignInOrganization
    service: SignInService
    total: int
    apart: Sequence[ShownSession]


@dataclass(frozen=True, slots=True, kw_only=True)
class SupportSession:
    """When a session began in which a platform owner acted as the caller, and its organization, if it has one."""

    began_at: datetime
    organization_name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnSessions:
    """The caller's sessions by what they are, each group with the most recently used first.

    `current` holds only the session of the request. `support` are those in which a platform owner acts as the caller.
    `total` is the number of all sessions; only the most recently used are listed.
    """

    current: Sequence[ShownSession]
    browsers: Sequence[ShownSession]
    services: Sequence[ServiceSessions]
    programs: Sequence[ShownSession]
    support: Sequence[ShownSession]
    listed: int
    total: int


def list_sessions(uow: UnitOfWork) -> OwnSessions:
    """Return the caller's live sessions, as far as the session of this request shows them."""
    caller = uow.caller
    found, total = uow.own_sessions.alive_of(
        caller.account.id, limits=caller.shown_within, current_id=caller.session.id, limit=OWN_SESSIONS_MAX
    )
    return _grouped(uow, found, caller.session.id, total)


def past_support(uow: UnitOfWork) -> Sequence[SupportSession]:
    """Return the newest sessions in which a platform owner acted as the caller, also those that are over.

    They are no sign-ins of the caller, so nothing else shows them once they are over. A session with limits shows
    those in its organization.
    """
    caller = uow.caller
    return uow.own_sessions.support_of(
        caller.account.id,
        only_organization_id=caller.only_organization_id,
        since=uow.now - sessions.ABSOLUTE_LIFETIME,
        limit=SUPPORT_SESSIONS_MAX,
    )


def end_of_service(uow: UnitOfWork, service_id: UUID) -> int:
    """End the caller's sessions at a service, and return how many; raise `NotFound` when they have none there."""
    caller = uow.caller
    caller.require(Act.IN_PERSON)
    organization_id = uow.own_sessions.organization_of(caller.account.id, service_id, limits=caller.shown_within)
    if organization_id is None:
        raise NotFound("You are not signed in to this application.")
    return sessions.end_at_service(uow, organization_id, service_id, caller.account.id, caller.account.email)


def _grouped(uow: UnitOfWork, found: Sequence[OwnSession], current_id: UUID, total: int) -> OwnSessions:
    listed = {one.id for one in found}
    begun_by: dict[UUID, list[OwnSession]] = {}
    apart: list[OwnSession] = []
    for one in found:
        if one.parent_id is not None and one.parent_id in listed and one.id != current_id:
            begun_by.setdefault(one.parent_id, []).append(one)
        else:
            apart.append(one)

    def shown(one: OwnSession) -> ShownSession:
        return ShownSession(
            session=one,
            location=uow.locations.find(one.ip_address),
            is_current=one.id == current_id,
            children=[shown(child) for child in begun_by.get(one.id, ())],
        )

    groups: dict[str, list[ShownSession]] = {}
    for one in apart:
        groups.setdefault(_kind_of(one, current_id), []).append(shown(one))
    return OwnSessions(
        current=groups.get("current", ()),
        browsers=groups.get("browser", ()),
        services=_by_service(found, groups.get("service", ())),
        programs=groups.get("program", ()),
        support=groups.get("support", ()),
        listed=len(found),
        total=total,
    )


def _kind_of(one: OwnSession, current_id: UUID) -> str:
    if one.id == current_id:
        return "current"
    if one.is_impersonation:
        return "support"
    if one.service is not None:
        return "service"
    return "browser" if one.is_browser else "program"


def _by_service(found: Iterable[OwnSession], apart: Sequence[ShownSession]) -> list[ServiceSessions]:
    at: dict[UUID, tuple[SignInOrganization, SignInService, int]] = {}
    for one in found:
        if one.service is not None and one.organization is not None and not one.is_impersonation:
            _, _, before = at.get(one.service.id, (None, None, 0))
            at[one.service.id] = (one.organization, one.service, before + 1)
    return [
        ServiceSessions(
            organization=organization,
            service=service,
            total=number,
            apart=[one for one in apart if one.session.service == service],
        )
        for organization, service, number in at.values()
    ]


class AccountLimit(StrEnum):
    """Why this session changes nothing of the whole account."""

    # The session is for one organization alone, and the account is used elsewhere too, or the session began by a
    # vendor's setup for a customer.
    USED_ELSEWHERE = "used_elsewhere"
    # Nothing but the word of an organization's connection says whose the session is.
    NOT_CONFIRMED = "not_confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedConnection:
    """A connection of an organization, by its name and the organization's."""

    id: UUID
    organization_id: UUID
    name: str
    organization_name: str

    @property
    def standing(self) -> RequiredConnection:
        """The connection as one that is required."""
        return RequiredConnection(connection_id=self.id, organization_id=self.organization_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWays:
    """How the caller signs in.

    `providers` are those of the linked accounts. `connection` is the one by which this session began, None if it began
    otherwise, and `required` the one by which the caller has to sign in, None when every way is open. `limit` is why
    this session changes nothing of the account; None when it may.
    """

    methods: SignInMethods
    providers: list[str]
    connection: NamedConnection | None
    required: NamedConnection | None
    limit: AccountLimit | None


def read_ways(uow: UnitOfWork) -> OwnWays:
    """Return how the caller signs in."""
    caller = uow.caller
    required = uow.own_ways.defer_required(caller.account.id)
    connection = uow.own_ways.defer_connection_of(caller.session.id)
    linked = {identity.provider for identity in identities.list_mine(uow)}
    return OwnWays(
        methods=profile.sign_in_methods(uow),
        providers=sorted(linked),
        connection=connection(),
        required=required(),
        limit=limit_of(caller),
    )


def limit_of(caller: Caller) -> AccountLimit | None:
    """Return why the caller's session changes nothing of the whole account; None when it may."""
    if caller.is_limited and (caller.account.has_platform_role or caller.account.belongs_elsewhere):
        return AccountLimit.USED_ELSEWHERE
    return AccountLimit.NOT_CONFIRMED if caller.limits.is_unproved else None


# Counting stops here.
FIGURE_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountFigures:
    """The numbers of a person's live sessions, applications, live subscriptions and organizations."""

    sessions: int
    applications: int
    subscriptions: int
    organizations: int


def read_figures(uow: UnitOfWork) -> AccountFigures:
    """Return the figures of the caller's account, as far as their session shows it."""
    caller = uow.caller
    return uow.account_figures.of_user(
        caller.account.id,
        limits=caller.shown_within,
        only_organization_id=caller.only_organization_id,
        current_id=caller.session.id,
        figure_max=FIGURE_MAX,
    )

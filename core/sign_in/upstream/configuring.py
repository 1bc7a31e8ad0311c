"""Configuring the sign-in of an organization in the console: its connections, mail domains, and rules of its own.

A connection that is made here is off until a member switches it on after a trial sign-in (`trials.py`, `enabling.py`).
Its provider is asked before it is saved, as with a setup link (`checks.py`). A change names the state that the caller
has seen, and is refused with a conflict on any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import Conflict
from core.key_certificates import SamlCertificate
from core.lazy_dataclasses import dataclass
from core.organizations import management
from core.organizations.access import Operation, authorize, authorize_and_lock
from core.organizations.management import OrganizationSettings
from core.organizations.memberships import MEMBER
from core.outbound import Network
from core.sign_in.upstream import checks, connections, domain_routes
from core.sign_in.upstream.checks import CheckedChange, ConnectionToCheck
from core.sign_in.upstream.connection_wishes import ConnectionRecord, ConnectionWishes
from core.sign_in.upstream.domain_routes import DomainRoute
from core.sign_in.upstream.editors import Editor
from core.sign_in.upstream.failures import SHOWN_MAX, ConnectionProgress, UpstreamFailure
from core.sign_in.upstream.oauth_credentials import StoredCredentials
from core.sign_in.upstream.provider_problems import Finding
from core.sign_in.upstream.providers import ExternalProvider
from core.sign_in.upstream.trial_judgements import TrialJudgement, judged
from core.sign_in.upstream.trials import TrialResult

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class RulesSeenOtherwise(Conflict):
    """The rules of an organization are not as the caller has seen them."""

    default_message = (
        "Another person has changed these rules meanwhile. This page shows them as they are now, with what you have"
        " chosen: save again if it is still right."
    )


class RouteSeenOtherwise(Conflict):
    """The route of a mail domain is not as the caller has seen it."""

    default_message = (
        "Another person has changed this mail domain meanwhile. This page shows it as it is now, with what you have"
        " chosen: save again if it is still right."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenRoute:
    """What a caller has seen of the route of a mail domain; an empty connection was not seen."""

    connection_id: str
    enforced: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionState:
    """A connection, how far it is, and its last trial; None for one that was never tried."""

    connection: ConnectionRecord
    progress: ConnectionProgress
    trial: TrialResult | None

    @property
    def is_tried(self) -> bool:
        """Whether the last trial has succeeded with the connection as it is."""
        return self.trial is not None and self.trial.has_succeeded(self.connection)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInSetup:
    """How an organization signs people in; `credentials` are its own at the external providers, without secrets."""

    connections: Sequence[ConnectionState]
    domains: Sequence[DomainRoute]
    credentials: Sequence[StoredCredentials]

    def client_id_at(self, external: ExternalProvider) -> str | None:
        """Return the organization's own client id at a provider; None without one."""
        return next((one.client_id for one in self.credentials if one.are_for(external)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredConnection:
    """All of one connection; `judgement` says what becomes of the person of the last trial, None without a person.

    `roles` are those with which it may let people join, and `certificates` those of its key, the active one first.
    """

    state: ConnectionState
    judgement: TrialJudgement | None
    failures: Sequence[UpstreamFailure]
    domains: Sequence[DomainRoute]
    certificates: Sequence[SamlCertificate]
    roles: Sequence[str]


def overview(uow: UnitOfWork, slug: str, operation: Operation = Operation.CONNECTIONS_READ) -> SignInSetup:
    """Return how an organization signs people in."""
    organization_id = authorize(uow, slug, operation).organization.id
    progress = {one.connection_id: one for one in uow.upstream_failures.progress(organization_id)}
    trials = {one.connection_id: one for one in uow.trial_sign_ins.last_of_each(organization_id)}
    return SignInSetup(
        connections=[
            ConnectionState(connection=one, progress=progress[one.id], trial=trials.get(one.id))
            for one in uow.upstream_connections.of_organization(organization_id)
            # One that was made between the two statements is in one of them alone.
            if one.id in progress
        ],
        domains=domain_routes.list_all(uow, slug),
        credentials=uow.oauth_credentials.of_organization(organization_id),
    )


def show(uow: UnitOfWork, slug: str, connection_id: UUID) -> ConfiguredConnection:
    """Return all of a connection; raise `ConnectionUnknown`."""
    organization = authorize(uow, slug, Operation.CONNECTIONS_READ).organization
    connection = connections.found(uow.upstream_connections.find(organization.id, connection_id))
    progress = {one.connection_id: one for one in uow.upstream_failures.progress(organization.id)}
    trial = uow.trial_sign_ins.last(organization.id, connection_id)
    answer = trial.answer if trial is not None else None
    return ConfiguredConnection(
        state=ConnectionState(
            connection=connection, progress=connections.found(progress.get(connection_id)), trial=trial
        ),
        judgement=judged(uow, organization, connection, answer) if answer is not None else None,
        failures=uow.upstream_failures.of_connection(organization.id, connection_id, limit=SHOWN_MAX),
        domains=[one for one in domain_routes.list_all(uow, slug) if one.provider_id == connection_id],
        certificates=uow.connection_keys.published(organization.id, connection_id, at=uow.now),
        roles=[MEMBER, *(role.slug for role in uow.roles.of_organization(organization.id))],
    )


def change_rules(uow: UnitOfWork, slug: str, settings: OrganizationSettings, *, seen: OrganizationSettings) -> None:
    """Change the rules of an organization; raise `RulesSeenOtherwise` when they are not as the caller has seen them."""
    before = authorize_and_lock(uow, slug, Operation.ORGANIZATION_UPDATE).organization
    if seen.applied_to(before) != before:
        raise RulesSeenOtherwise
    management.change(uow, slug, settings)


def change_route(
    uow: UnitOfWork, slug: str, route_id: UUID, *, connection_id: UUID, enforced: bool, seen: SeenRoute
) -> None:
    """Change the route of a mail domain; raise `RouteSeenOtherwise` when it is not as the caller has seen it."""
    _require_seen_route(uow, slug, route_id, seen)
    domain_routes.change(uow, slug, route_id, connection_id=connection_id, enforced=enforced)


def remove_route(uow: UnitOfWork, slug: str, route_id: UUID, *, seen: SeenRoute) -> None:
    """Give a mail domain up; raise `RouteSeenOtherwise` when its route is not as the caller has seen it."""
    _require_seen_route(uow, slug, route_id, seen)
    domain_routes.delete(uow, slug, route_id)


def _require_seen_route(uow: UnitOfWork, slug: str, route_id: UUID, seen: SeenRoute) -> None:
    organization_id = authorize_and_lock(uow, slug, Operation.DOMAIN_ROUTES_CHANGE).organization.id
    claim = uow.domain_routes.lock(organization_id, route_id)
    # One that is gone is refused by what follows.
    now = (str(claim.connection_id), claim.enforced) if claim is not None else None
    if seen.connection_id and now not in {None, (seen.connection_id, seen.enforced)}:
        raise RouteSeenOtherwise


def prepare_new(
    uow: UnitOfWork, slug: str, kind: str, wishes: ConnectionWishes, *, allowed: Iterable[Network]
) -> ConnectionToCheck:
    """Return the connection that a member wants to make, for a check of its provider; raise as `connections.create`."""
    editor = Editor.of_reader(uow, slug, Operation.CONNECTION_CONFIGURE)
    connection = connections.checked(uow, editor, kind, wishes, None, tuple(allowed))
    return checks.to_check(uow, editor, connection, wishes)


def create(
    uow: UnitOfWork,
    slug: str,
    kind: str,
    wishes: ConnectionWishes,
    finding: Finding | None,
    *,
    allowed: Iterable[Network],
) -> ConnectionRecord:
    """Create a connection that is switched off, with what a check of it has found; None without one."""
    made = connections.create(uow, slug, kind, replace(wishes, enabled=False), described=None, allowed=allowed)
    if finding is not None:
        organization_id = authorize(uow, slug, Operation.CONNECTION_CONFIGURE).organization.id
        uow.upstream_failures.save_check(organization_id, made.id, finding.problem, at=uow.now)
    return made


def prepare_change(
    uow: UnitOfWork,
    slug: str,
    connection_id: UUID,
    wishes: ConnectionWishes,
    *,
    allowed: Iterable[Network],
    seen: datetime | None,
) -> ConnectionToCheck:
    """Return a connection as a member wants it to be, for a check; raise as `connections.change`."""
    editor = Editor.of_reader(uow, slug, Operation.CONNECTION_CONFIGURE)
    before = connections.found(uow.upstream_connections.find(editor.organization_id, connection_id))
    connections.require_seen(before, seen)
    return checks.changed(uow, editor, before, wishes, allowed=allowed)


def change(
    uow: UnitOfWork,
    slug: str,
    connection_id: UUID,
    wishes: ConnectionWishes,
    checked: CheckedChange | None,
    *,
    allowed: Iterable[Network],
    seen: datetime | None,
) -> ConnectionRecord:
    """Change a connection, with what a check of the change has found; None without one."""
    organization_id = authorize(uow, slug, Operation.CONNECTION_CONFIGURE).organization.id
    described = checked.described if checked is not None else None
    after = connections.change(uow, slug, connection_id, wishes, described=described, allowed=allowed, seen=seen)
    if checked is not None:
        uow.upstream_failures.save_check(organization_id, connection_id, checked.finding.problem, at=uow.now)
    return after

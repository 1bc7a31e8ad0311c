"""Configuring the sign-in of an organization on pages: its connections, mail domains, and rules of its own.

A connection that is made here is off until it is switched on after a trial sign-in (`trials.py`, `enabling.py`). Its
provider is asked before it is saved (`checks.py`). A change names the state that the caller has seen, and is refused
with a conflict on any other. The holder of a setup link sees the same without persons: neither who has tested a
connection, nor what a person has here.
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
from core.organizations.access import Operation
from core.organizations.authorization import authorize, authorize_and_lock
from core.organizations.management import OrganizationSettings
from core.organizations.organizations import MEMBER
from core.outbound import Network
from core.sign_in.upstream.connections import checks, connections
from core.sign_in.upstream.connections.checks import CheckedChange, ConnectionChangedMeanwhile, ConnectionToCheck
from core.sign_in.upstream.connections.connection_fields import ConnectionFields, ConnectionRecord
from core.sign_in.upstream.connections.editors import Editor
from core.sign_in.upstream.connections.failures import SHOWN_MAX, ConnectionProgress, UpstreamFailure
from core.sign_in.upstream.connections.oauth_credentials import StoredCredentials
from core.sign_in.upstream.domains import domain_routes
from core.sign_in.upstream.domains.domain_routes import DomainRoute
from core.sign_in.upstream.provider_problems import Finding
from core.sign_in.upstream.providers import ExternalProvider
from core.sign_in.upstream.trials.trial_judgements import TrialJudgement, judged
from core.sign_in.upstream.trials.trials import TrialResult

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class RulesChangedSince(Conflict):
    """The rules of an organization are not as the caller has seen them."""

    default_message = (
        "Another person has changed these rules meanwhile. This page shows them as they are now, with what you have"
        " chosen: save again if it is still right."
    )


class RouteChangedSince(Conflict):
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
    """A connection, its progress, and its last trial; None for one that was never tried."""

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
    """All of one connection; `judgement` is the judgement on the person of the last trial, None without a person.

    `roles` are those with which it may let people join, and `certificates` those of its key, the active one first.
    For the holder of a setup link, `was_on` says that it was switched on before, and `is_beside` that people already
    sign in by another connection of the organization (`enabling.py`).
    """

    state: ConnectionState
    judgement: TrialJudgement | None
    failures: Sequence[UpstreamFailure]
    domains: Sequence[DomainRoute]
    certificates: Sequence[SamlCertificate]
    roles: Sequence[str]
    was_on: bool = False
    is_beside: bool = False

    @property
    def can_be_switched_on(self) -> bool:
        """Whether the caller may switch it on once it was tested."""
        return not (self.state.connection.enabled or self.was_on or self.is_beside)


def overview(uow: UnitOfWork, slug: str, operation: Operation = Operation.CONNECTIONS_READ) -> SignInSetup:
    """Return how an organization signs people in."""
    organization_id = authorize(uow, slug, operation).organization.id
    return SignInSetup(
        connections=list_states(uow, slug),
        domains=domain_routes.list_all(uow, slug),
        credentials=uow.oauth_credentials.of_organization(organization_id),
    )


def list_states(uow: UnitOfWork, slug: str) -> Sequence[ConnectionState]:
    """List the connections of an organization with their progress, the oldest first."""
    authorized = authorize(uow, slug, Operation.CONNECTIONS_READ)
    organization_id, is_for_link = authorized.organization.id, authorized.caller.limits.link is not None
    progress = {one.connection_id: one for one in uow.upstream_failures.progress(organization_id)}
    trials = {
        one.connection_id: one.for_link() if is_for_link else one
        for one in uow.trial_sign_ins.last_of_each(organization_id)
    }
    return [
        ConnectionState(connection=one, progress=progress[one.id], trial=trials.get(one.id))
        for one in uow.upstream_connections.of_organization(organization_id)
        # A connection that was made between the two statements is only in one of them.
        if one.id in progress
    ]


def show_next(uow: UnitOfWork, slug: str) -> ConfiguredConnection | None:
    """Return the connection to go on with: the last one that is off, else the last one; None without any."""
    listed = [one.connection for one in list_states(uow, slug)]
    off = [one for one in listed if not one.enabled]
    return show(uow, slug, (off or listed)[-1].id) if listed else None


def show(uow: UnitOfWork, slug: str, connection_id: UUID) -> ConfiguredConnection:
    """Return all of a connection; raise `ConnectionUnknown`."""
    authorized = authorize(uow, slug, Operation.CONNECTIONS_READ)
    organization, is_for_link = authorized.organization, authorized.caller.limits.link is not None
    connection = connections.found(uow.upstream_connections.find(organization.id, connection_id))
    progress = {one.connection_id: one for one in uow.upstream_failures.progress(organization.id)}
    trial = uow.trial_sign_ins.last(organization.id, connection_id)
    if is_for_link and trial is not None:
        trial = trial.for_link()
    answer = trial.answer if trial is not None else None
    return ConfiguredConnection(
        state=ConnectionState(
            connection=connection, progress=connections.found(progress.get(connection_id)), trial=trial
        ),
        judgement=(
            judged(uow, organization, connection, answer, is_for_link=is_for_link)
            # A vendor's setup for a customer makes no members, and admits everyone that the provider vouches for.
            if answer is not None and not organization.is_internal
            else None
        ),
        failures=uow.upstream_failures.of_connection(organization.id, connection_id, limit=SHOWN_MAX),
        domains=[one for one in domain_routes.list_all(uow, slug) if one.provider_id == connection_id],
        certificates=uow.connection_keys.published(organization.id, connection_id, at=uow.now),
        roles=[MEMBER, *(role.slug for role in uow.roles.of_organization(organization.id))],
        was_on=is_for_link and connection.id in uow.upstream_connections.were_on(organization.id),
        is_beside=is_for_link and uow.upstream_connections.have_identities(organization.id),
    )


def change_rules(uow: UnitOfWork, slug: str, settings: OrganizationSettings, *, seen: OrganizationSettings) -> None:
    """Change the rules of an organization; raise `RulesChangedSince` when they are not as the caller has seen them."""
    before = authorize_and_lock(uow, slug, Operation.ORGANIZATION_UPDATE).organization
    if seen.applied_to(before) != before:
        raise RulesChangedSince
    management.change(uow, slug, settings)


def change_route(
    uow: UnitOfWork, slug: str, route_id: UUID, *, connection_id: UUID, enforced: bool, seen: SeenRoute
) -> None:
    """Change the route of a mail domain; raise `RouteChangedSince` when it is not as the caller has seen it."""
    _require_seen_route(uow, slug, route_id, seen)
    domain_routes.change(uow, slug, route_id, connection_id=connection_id, enforced=enforced)


def remove_route(uow: UnitOfWork, slug: str, route_id: UUID, *, seen: SeenRoute) -> None:
    """Give a mail domain up; raise `RouteChangedSince` when its route is not as the caller has seen it."""
    _require_seen_route(uow, slug, route_id, seen)
    domain_routes.delete(uow, slug, route_id)


def _require_seen_route(uow: UnitOfWork, slug: str, route_id: UUID, seen: SeenRoute) -> None:
    organization_id = authorize_and_lock(uow, slug, Operation.DOMAIN_ROUTES_CHANGE).organization.id
    claim = uow.domain_routes.lock(organization_id, route_id)
    # The following call refuses a route that is gone.
    now = (str(claim.connection_id), claim.enforced) if claim is not None else None
    if seen.connection_id and now not in {None, (seen.connection_id, seen.enforced)}:
        raise RouteChangedSince


def prepare_new(
    uow: UnitOfWork, slug: str, kind: str, given: ConnectionFields, *, allowed: Iterable[Network]
) -> ConnectionToCheck:
    """Return the connection that the caller wants to make, for a check of its provider.

    Raise as `connections.create`.
    """
    editor = Editor.of_reader(uow, slug, Operation.CONNECTION_CONFIGURE)
    connections.require_may_make(uow, editor)
    connection = connections.checked(uow, editor, kind, given, None, tuple(allowed))
    return checks.to_check(uow, editor, connection, given)


def create(
    uow: UnitOfWork,
    slug: str,
    kind: str,
    given: ConnectionFields,
    finding: Finding | None,
    *,
    allowed: Iterable[Network],
) -> ConnectionRecord:
    """Create a connection that is switched off, with what a check of it has found; None without one."""
    made = connections.create(uow, slug, kind, replace(given, enabled=False), described=None, allowed=allowed)
    if finding is not None:
        organization_id = authorize(uow, slug, Operation.CONNECTION_CONFIGURE).organization.id
        uow.upstream_failures.save_check(organization_id, made.id, finding.problem, at=uow.now)
    return made


def prepare_change(
    uow: UnitOfWork,
    slug: str,
    connection_id: UUID,
    given: ConnectionFields,
    *,
    allowed: Iterable[Network],
    seen: datetime | None = None,
) -> ConnectionToCheck:
    """Return a connection as the caller wants it to be, for a check; raise as `connections.change`."""
    editor = Editor.of_reader(uow, slug, Operation.CONNECTION_CONFIGURE)
    before = connections.found(uow.upstream_connections.find(editor.organization_id, connection_id))
    connections.require_seen(before, seen)
    connections.require_may_change_it(uow, editor, before)
    return checks.changed(uow, editor, before, given, allowed=allowed)


def change(
    uow: UnitOfWork,
    slug: str,
    connection_id: UUID,
    given: ConnectionFields,
    checked: CheckedChange | None,
    *,
    allowed: Iterable[Network],
    seen: datetime | None = None,
) -> ConnectionRecord:
    """Change a connection, with what a check of the change has found; None without one.

    Raise `ConnectionChangedMeanwhile` when fields that the change leaves alone may no longer be as they were checked.
    """
    organization_id = authorize(uow, slug, Operation.CONNECTION_CONFIGURE).organization.id
    if checked is not None and checked.connection is not None and seen is None:
        _require_as_checked(uow, slug, checked.connection)
    described = checked.described if checked is not None else None
    after = connections.change(uow, slug, connection_id, given, described=described, allowed=allowed, seen=seen)
    if checked is not None:
        uow.upstream_failures.save_check(organization_id, connection_id, checked.finding.problem, at=uow.now)
    return after


def _require_as_checked(uow: UnitOfWork, slug: str, checked: ConnectionRecord) -> None:
    organization_id = authorize_and_lock(uow, slug, Operation.CONNECTION_CONFIGURE).organization.id
    stored = uow.upstream_connections.find(organization_id, checked.id)
    if stored is not None and stored.updated_at != checked.updated_at:
        raise ConnectionChangedMeanwhile

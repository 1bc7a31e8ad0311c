"""What the holder of a setup link sees of connections: how far they are, tests, and mail domains (decisions 13.7).

It is what a member sees (`configuring.py`), without persons: neither who has tested it, nor what a person has here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations import setup_links
from core.organizations.setup_links import OpenSetup, Part
from core.sign_in.upstream import connections, domain_routes
from core.sign_in.upstream.configuring import ConnectionState
from core.sign_in.upstream.domain_routes import DomainRoute
from core.sign_in.upstream.failures import SHOWN_MAX, UpstreamFailure
from core.sign_in.upstream.trial_judgements import TrialJudgement, judged_for_link

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupConnection:
    """A connection and the mail domains that lead to it.

    `was_on` says that it was switched on before, and `is_beside` that people sign in by a connection of the
    organization already. `judgement` is of the last trial of one that is shown alone; None without a person.
    """

    state: ConnectionState
    domains: Sequence[DomainRoute]
    was_on: bool
    is_beside: bool
    judgement: TrialJudgement | None = None

    @property
    def can_be_switched_on(self) -> bool:
        """Whether the holder of a setup link may switch it on once it was tested (`enabling.py`)."""
        return not (self.state.connection.enabled or self.was_on or self.is_beside)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownConnection:
    """A connection on a page of its own: in which setup, and why sign-ins failed lately."""

    setup: OpenSetup
    found: SetupConnection
    failures: Sequence[UpstreamFailure]


def list_all(uow: UnitOfWork, cookie: str) -> Sequence[SetupConnection]:
    """List the connections of the organization, the oldest first."""
    organization_id = setup_links.present(uow, cookie, Part.UPSTREAM).organization_id
    progress = {one.connection_id: one for one in uow.upstream_failures.progress(organization_id)}
    trials = {one.connection_id: one.for_link() for one in uow.trial_sign_ins.last_of_each(organization_id)}
    domains = domain_routes.list_by_link(uow, cookie)
    were_on = uow.upstream_connections.were_on(organization_id)
    have_identities = uow.upstream_connections.have_identities(organization_id)
    return [
        SetupConnection(
            state=ConnectionState(connection=one, progress=progress[one.id], trial=trials.get(one.id)),
            domains=[route for route in domains if route.provider_id == one.id],
            was_on=one.id in were_on,
            is_beside=have_identities,
        )
        for one in uow.upstream_connections.of_organization(organization_id)
        # One that was made between the two statements is in one of them alone.
        if one.id in progress
    ]


def find_next(uow: UnitOfWork, cookie: str) -> SetupConnection | None:
    """Return the connection to go on with: the last one that is off, else the last one; None without any."""
    organization_id = setup_links.present(uow, cookie, Part.UPSTREAM).organization_id
    listed = list_all(uow, cookie)
    off = [one for one in listed if not one.state.connection.enabled]
    return _judged(uow, organization_id, (off or listed)[-1]) if listed else None


def show(uow: UnitOfWork, cookie: str, connection_id: UUID) -> ShownConnection:
    """Return a connection; raise `ConnectionUnknown`."""
    setup = setup_links.present(uow, cookie, Part.UPSTREAM)
    found = next((one for one in list_all(uow, cookie) if one.state.connection.id == connection_id), None)
    return ShownConnection(
        setup=setup,
        found=_judged(uow, setup.organization_id, connections.found(found)),
        failures=uow.upstream_failures.of_connection(setup.organization_id, connection_id, limit=SHOWN_MAX),
    )


def _judged(uow: UnitOfWork, organization_id: UUID, found: SetupConnection) -> SetupConnection:
    trial = found.state.trial
    return found if trial is None else replace(found, judgement=judged_for_link(uow, organization_id, trial.answer))

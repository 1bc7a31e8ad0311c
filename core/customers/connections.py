"""Connections that a vendor makes for a customer, with their state, which its program reads back.

They are connections of the customer's internal organization, by the same rules as everywhere (`sign_in/upstream/`).
They make no members, replace no second factor and accept no agents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from core.customers import setup_callers
from core.customers.customers import ServiceCustomer
from core.customers.setup_callers import CustomerPath, SetupAttempt, SetupCaller, last_of
from core.lazy_dataclasses import dataclass
from core.organizations.link_callers import Part
from core.outbound import Network
from core.sign_in.upstream import configuring
from core.sign_in.upstream.configuring import ConfiguredConnection, ConnectionState
from core.sign_in.upstream.connections import connections
from core.sign_in.upstream.connections.checks import ConnectionToCheck
from core.sign_in.upstream.connections.connection_fields import ConnectionFields, ConnectionRecord
from core.sign_in.upstream.connections.failures import UpstreamFailure
from core.sign_in.upstream.provider_problems import ProviderProblem
from core.sign_in.upstream.saml import SamlDescription

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class CustomerConnectionState(StrEnum):
    """The state of the setup of a connection."""

    CONFIGURED = "configured"
    TESTED = "tested"
    IN_USE = "in_use"
    FAILING = "failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerConnection:
    """A connection of a customer, its state, and the last sign-in, test or check by it."""

    connection: ConnectionRecord
    state: CustomerConnectionState
    last_attempt: SetupAttempt | None

    @classmethod
    def of(cls, found: ConnectionState, failure: UpstreamFailure | None) -> CustomerConnection:
        """Return what is known of a connection and its last failure, if there was one."""
        progress, trial = found.progress, found.trial
        attempts = [
            _attempt(progress.checked_at, progress.problem if _prevents(found) else None),
            _attempt(progress.last_sign_in_at, None),
            _attempt(failure.last_at, failure.problem) if failure is not None else None,
            _attempt(trial.concluded_at, trial.answer.problem) if trial is not None else None,
        ]
        return cls(connection=found.connection, state=_state(found), last_attempt=last_of(*attempts))


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerConnectionInDetail:
    """A connection of a customer, with its last errors and its mail domains."""

    shown: CustomerConnection
    configured: ConfiguredConnection


def list_all(uow: UnitOfWork, path: CustomerPath) -> Sequence[CustomerConnection]:
    """List the connections of a customer, the oldest first."""
    return _shown(uow, setup_callers.enter_to_read(uow, path, Part.UPSTREAM))


def show(uow: UnitOfWork, path: CustomerPath, connection_id: UUID) -> CustomerConnection:
    """Return a connection; raise `ConnectionUnknown`."""
    return _found(list_all(uow, path), connection_id)


def show_in_detail(uow: UnitOfWork, path: CustomerPath, connection_id: UUID) -> CustomerConnectionInDetail:
    """Return a connection with its last errors and its mail domains; raise `ConnectionUnknown`."""
    setup = setup_callers.enter_to_read(uow, path, Part.UPSTREAM)
    return CustomerConnectionInDetail(
        shown=_found(_shown(uow, setup), connection_id),
        configured=configuring.show(uow, setup.organization.slug, connection_id),
    )


def require_may_make(uow: UnitOfWork, path: CustomerPath) -> ServiceCustomer:
    """Return the customer for which the caller may make a connection."""
    return setup_callers.enter_to_read(uow, path, Part.UPSTREAM).customer


def prepare_new(
    uow: UnitOfWork, path: CustomerPath, kind: str, given: ConnectionFields, *, allowed: Iterable[Network]
) -> ConnectionToCheck:
    """Return the connection that the caller wants to make, for a check of its provider."""
    return setup_callers.read(uow, path, Part.UPSTREAM, configuring.prepare_new, kind, given, allowed=allowed)


def prepare_change(
    uow: UnitOfWork, path: CustomerPath, connection_id: UUID, given: ConnectionFields, *, allowed: Iterable[Network]
) -> ConnectionToCheck:
    """Return a connection as the caller wants it to be, for a check of its provider; raise `ConnectionUnknown`."""
    return setup_callers.read(
        uow, path, Part.UPSTREAM, configuring.prepare_change, connection_id, given, allowed=allowed
    )


def find_vendor(uow: UnitOfWork, path: CustomerPath) -> UUID:
    """Authorize a caller who names metadata before they are fetched; return the vendor's organization."""
    return setup_callers.enter_to_read(uow, path, Part.UPSTREAM).vendor.organization.id


def create(
    uow: UnitOfWork,
    path: CustomerPath,
    kind: str,
    given: ConnectionFields,
    *,
    described: SamlDescription | None,
    allowed: Iterable[Network],
) -> CustomerConnection:
    """Make a connection as `connections.create` says."""
    setup = setup_callers.enter_to_change(uow, path, Part.UPSTREAM)
    made = connections.create(uow, setup.organization.slug, kind, given, described=described, allowed=allowed)
    return _found(_shown(uow, setup), made.id)


def change(
    uow: UnitOfWork,
    path: CustomerPath,
    connection_id: UUID,
    given: ConnectionFields,
    *,
    described: SamlDescription | None,
    allowed: Iterable[Network],
) -> CustomerConnection:
    """Change the given fields of a connection as `connections.change` says."""
    setup = setup_callers.enter_to_change(uow, path, Part.UPSTREAM)
    slug = setup.organization.slug
    connections.change(uow, slug, connection_id, given, described=described, allowed=allowed)
    return _found(_shown(uow, setup), connection_id)


def delete(uow: UnitOfWork, path: CustomerPath, connection_id: UUID) -> None:
    """Delete a connection with its identities and mail domains; the sessions that began by it end."""
    setup_callers.change(uow, path, Part.UPSTREAM, connections.delete, connection_id)


def _shown(uow: UnitOfWork, setup: SetupCaller) -> Sequence[CustomerConnection]:
    states = configuring.list_states(uow, setup.organization.slug)
    failures = uow.upstream_failures.last_of_each(setup.organization.id)
    return [CustomerConnection.of(one, failures.get(one.connection.id)) for one in states]


def _found(listed: Sequence[CustomerConnection], connection_id: UUID) -> CustomerConnection:
    return connections.found(next((one for one in listed if one.connection.id == connection_id), None))


def _attempt(at: datetime | None, problem: ProviderProblem | None) -> SetupAttempt | None:
    return SetupAttempt(at=at, succeeded=problem is None, reason=problem) if at is not None else None


def _state(found: ConnectionState) -> CustomerConnectionState:
    if found.progress.failing_since is not None or _prevents(found):
        return CustomerConnectionState.FAILING
    if found.progress.last_sign_in_at is not None:
        return CustomerConnectionState.IN_USE
    return CustomerConnectionState.TESTED if found.is_tried else CustomerConnectionState.CONFIGURED


def _prevents(found: ConnectionState) -> bool:
    """Return whether the last check found a problem that prevents every sign-in."""
    return found.progress.problem is not None and found.progress.problem.prevents

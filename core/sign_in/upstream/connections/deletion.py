"""What ends with a connection, before it is deleted or switched off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from core.lazy_dataclasses import dataclass
from core.organizations.access import Operation, authorize
from core.sign_in.upstream.connections import connections
from core.sign_in.upstream.connections.connection_fields import ConnectionRecord

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionEnds:
    """A connection with what ends when it is deleted: accounts that it signs in, sessions, and mail domains.

    `without_other_way` is how many of the accounts have no password, no passkey and no other provider, so that only a
    mailed link signs them in afterwards. `is_open`: the holder of a setup link may delete it, because no one has signed
    in by it and the organization does not rely on it.
    """

    connection: ConnectionRecord
    identities: int
    without_other_way: int
    sessions: int
    domains: Sequence[str]
    is_open: bool


def show(uow: UnitOfWork, slug: str, connection_id: UUID) -> ConnectionEnds:
    """Return what ends with a connection; raise `ConnectionUnknown`."""
    organization_id = authorize(uow, slug, Operation.CONNECTIONS_CHANGE).organization.id
    connection = connections.found(uow.upstream_connections.find(organization_id, connection_id))
    identities, sessions = uow.upstream_connections.count_uses(organization_id, connection_id, at=uow.now)
    routes = uow.domain_routes.of_organization(organization_id)
    return ConnectionEnds(
        connection=connection,
        identities=identities,
        without_other_way=uow.upstream_connections.count_without_other_way(organization_id, connection_id),
        sessions=sessions,
        domains=[one.proof.domain for one in routes if one.connection_id == connection_id],
        is_open=identities == 0 and not connections.is_in_force(uow, organization_id, connection),
    )

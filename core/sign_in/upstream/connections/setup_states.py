"""The setup state of a connection that a vendor has made for a customer; the vendor is told when it changes.

Connections of an organization of its own have no such state: pages show their progress to the person who sets them up.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from core.events.events import EventType

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class ConnectionSetupState(StrEnum):
    """The setup state of a connection that exists."""

    CONFIGURED = "configured"
    TESTED = "tested"
    FAILING = "failing"


def begin(uow: UnitOfWork, internal_id: UUID, connection_id: UUID) -> None:
    """Store that the vendor follows the state of a connection from now on, and tell it that it is configured."""
    uow.upstream_connections.begin_setup(internal_id, connection_id, ConnectionSetupState.CONFIGURED, uow.made_through)
    _tell(uow, internal_id, connection_id, ConnectionSetupState.CONFIGURED)


def change(
    uow: UnitOfWork,
    organization_id: UUID,
    connection_id: UUID,
    state: ConnectionSetupState,
    *,
    reason: str | None = None,
) -> None:
    """Tell the vendor of a new state of a connection; nothing for one already in it, or one that is no vendor's."""
    if uow.upstream_connections.change_setup(organization_id, connection_id, state):
        _tell(uow, organization_id, connection_id, state, **({"reason": reason} if reason is not None else {}))


def end(uow: UnitOfWork, internal_id: UUID, connection_id: UUID) -> None:
    """Tell the vendor that a connection was removed."""
    _tell(uow, internal_id, connection_id, "removed")


def _tell(uow: UnitOfWork, internal_id: UUID, connection_id: UUID, state: str, **why: str) -> None:
    uow.tell_vendor(
        EventType.CUSTOMER_CONNECTION_CHANGED, internal_id, provider_id=str(connection_id), state=state, **why
    )

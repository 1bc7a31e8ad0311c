"""Switching a connection on and off on pages: only one that was tested as it is begins to sign people in.

This is the rule of the console and of setup links alike. The JSON interface switches connections without a test, and a
connection that is on stays on when it is changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import Conflict
from core.organizations.access import Operation
from core.outbound import Network
from core.sign_in.upstream.connections import connections
from core.sign_in.upstream.connections.connection_fields import ConnectionRecord
from core.sign_in.upstream.connections.connections import ConnectionInForce
from core.sign_in.upstream.connections.editors import Editor
from core.sign_in.upstream.trials.trials import NothingToTry

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class ConnectionUntested(Conflict):
    """No test sign-in has succeeded with the connection as it is."""

    default_message = (
        "No test sign-in has succeeded with the connection as it is now. Test it by a real sign-in first; after that it"
        " can be switched on."
    )


class ConnectionWasOn(Conflict):
    """The connection was on before, so the holder of a setup link does not switch it on again."""

    default_message = (
        "This connection was on before, and a member of the organization has switched it off. Ask the person who sent"
        " you the link to switch it on again."
    )


def switch(
    uow: UnitOfWork,
    slug: str,
    connection_id: UUID,
    *,
    is_on: bool,
    allowed: Iterable[Network],
    seen: datetime | None = None,
) -> ConnectionRecord:
    """Switch a connection on or off; raise `ConnectionChangedSince`, and `ConnectionUntested` before a test.

    The holder of a setup link switches on only what never was on, where no one signs in by another connection: raise
    `ConnectionWasOn`, and as `connections.create`.
    """
    editor = Editor.of_caller(uow, slug, Operation.CONNECTION_CONFIGURE)
    before = connections.found(uow.upstream_connections.find(editor.organization_id, connection_id))
    connections.require_seen(before, seen)
    if editor.is_link and is_on and before.enabled:
        return before
    if editor.is_link:
        _require_may_switch(uow, editor, before, is_on=is_on)
    if is_on and not before.enabled:
        _require_tested(uow, editor.organization_id, before)
    return connections.switch(uow, editor, before, is_on=is_on, allowed=allowed)


def _require_may_switch(uow: UnitOfWork, editor: Editor, connection: ConnectionRecord, *, is_on: bool) -> None:
    if not is_on:
        raise ConnectionInForce
    connections.require_may_change_it(uow, editor, connection)
    connections.require_may_make(uow, editor)
    if connection.id in uow.upstream_connections.were_on(editor.organization_id):
        raise ConnectionWasOn


def _require_tested(uow: UnitOfWork, organization_id: UUID, connection: ConnectionRecord) -> None:
    if connection.issuer is None:
        raise NothingToTry
    trial = uow.trial_sign_ins.last(organization_id, connection.id)
    if trial is None or not trial.has_succeeded(connection):
        raise ConnectionUntested

"""Checking a connection before it is saved on a page, and whenever a test is asked for.

The provider is asked between two transactions: the first says what to ask it with, the second stores the connection
together with the finding. So a page never saves a connection by which no one can sign in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from uuid import UUID

from core.errors import Conflict
from core.lazy_dataclasses import dataclass
from core.outbound import Network
from core.secrets import Secret
from core.sign_in.upstream.connections import changes, connection_fields, connections
from core.sign_in.upstream.connections.connection_fields import ConnectionFields, ConnectionRecord
from core.sign_in.upstream.connections.editors import Editor
from core.sign_in.upstream.flows import ProviderClient
from core.sign_in.upstream.provider_problems import Finding
from core.sign_in.upstream.saml import SamlDescription

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class ConnectionChangedMeanwhile(Conflict):
    """The connection that was checked is no longer the one that is stored."""

    default_message = (
        "The connection was changed while its provider was asked. Look at it again, and repeat the change."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionToCheck:
    """A connection as it is, or as it is to be, and our credentials at its provider; None for one by SAML."""

    organization_id: UUID
    connection: ConnectionRecord
    client: ProviderClient | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedChange:
    """The finding for a change: of a connection by OpenID Connect as it is to be, or of metadata.

    `connection` is the one that was checked, None for metadata, which are stored as they were read: `described`.
    """

    finding: Finding
    connection: ConnectionRecord | None = None
    described: SamlDescription | None = None


def prepare_test(uow: UnitOfWork, slug: str, connection_id: UUID) -> ConnectionToCheck:
    """Return a connection that the caller tests; raise `ConnectionUnknown`."""
    organization_id, connection = connections.find_to_test(uow, slug, connection_id)
    return to_check(uow, Editor(organization_id=organization_id), connection)


def record(uow: UnitOfWork, checked: ConnectionToCheck, finding: Finding) -> None:
    """Store the finding of a test, unless the connection was changed or deleted in the meantime."""
    uow.organizations.lock(checked.organization_id)
    now = uow.upstream_connections.find(checked.organization_id, checked.connection.id)
    if now is not None and now.updated_at == checked.connection.updated_at:
        uow.upstream_failures.save_check(checked.organization_id, now.id, finding.problem, at=uow.now)


def changed(
    uow: UnitOfWork,
    editor: Editor,
    before: ConnectionRecord,
    given: ConnectionFields,
    *,
    allowed: Iterable[Network],
) -> ConnectionToCheck:
    """Return a connection as its editor wants it to be, to be checked before it is saved; raise what refuses that."""
    after = connection_fields.applied(uow, editor, before, given, None, tuple(allowed))
    if changes.leads_elsewhere(before, after, known=None, named=None):
        # The secret for one issuer must never be sent to another.
        changes.require_allowed(uow, editor, before, after, given, keeps_people=False)
    return to_check(uow, editor, after, given)


def to_check(
    uow: UnitOfWork, editor: Editor, connection: ConnectionRecord, given: ConnectionFields | None = None
) -> ConnectionToCheck:
    """Return a connection with what is asked of its provider: the secret of the given, else the one that is stored."""
    client = None
    if not connection.is_saml:
        assert connection.client_id is not None, "an OpenID connection has no client id"
        secret = connection_fields.secret(given) if given is not None else None
        client = ProviderClient(
            client_id=connection.client_id,
            client_secret=secret if secret is not None else _stored_secret(uow, editor, connection),
        )
    return ConnectionToCheck(organization_id=editor.organization_id, connection=connection, client=client)


def _stored_secret(uow: UnitOfWork, editor: Editor, connection: ConnectionRecord) -> Secret | None:
    assert connection.issuer is not None, "an OpenID connection has no issuer"
    # It may have got another issuer since it was read, or be gone.
    stored = uow.upstream_connections.client_of(
        editor.organization_id, connection.id, connection.issuer, is_to_be_tested=True
    )
    return connections.found(stored).client_secret

"""The key of a SAML connection: Gatehouse signs its requests with it, and opens what is encrypted for it.

A connection gets its key when it is first needed, because those of earlier versions have none. The active key signs;
for some days after a change, the previous one is published and opens assertions too. The key pair is made outside the
transaction. The part that it shares with the keys of services is in `core/key_certificates.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from core import key_certificates
from core.errors import BadRequest
from core.events.actions import AuditAction
from core.key_certificates import OVERLAP, WARNING, MadeCertificate, SamlCertificate, SamlSigningKey
from core.mail.mail import MailTemplate
from core.organizations.access import Operation
from core.organizations.authorization import authorize
from core.sign_in.upstream.connections import changes, connections
from core.sign_in.upstream.connections.connection_fields import ConnectionRecord
from core.sign_in.upstream.connections.editors import Editor

if TYPE_CHECKING:
    from ports.unit_of_work import UnitOfWork


class NoKeyOfConnection(BadRequest):
    """A connection by OpenID Connect has no key."""

    default_message = "Only a connection by SAML has a key. One by OpenID Connect has a client secret."


def active(uow: UnitOfWork, organization_id: UUID, connection_id: UUID) -> SamlSigningKey | None:
    """Return the key with which we sign for a connection; None while it has none."""
    return uow.connection_keys.defer_signing_key(organization_id, connection_id)()


def usable(uow: UnitOfWork, organization_id: UUID, connection_id: UUID) -> Sequence[SamlSigningKey]:
    """Return the keys to which an identity provider may encrypt: the active one, then the previous for some days."""
    return uow.connection_keys.published_keys(organization_id, connection_id, at=uow.now)


def published(uow: UnitOfWork, organization_id: UUID, connection_id: UUID) -> Sequence[SamlCertificate]:
    """Return the certificates that our metadata for a connection contain, the active one first."""
    return uow.connection_keys.published(organization_id, connection_id, at=uow.now)


def metadata_valid_until(certificates: Sequence[SamlCertificate], *, at: datetime) -> datetime:
    """Return the end of our metadata with these certificates, the active one first.

    It is the active certificate's end: an identity provider that got a file, and reads no address, goes on as long as
    our key does. Some identity providers refuse metadata without an end. A certificate that has ended is still
    published, because most do not check its end; then each reading counts for as long as an overlap.
    """
    return max(certificates[0].valid_until, at + OVERLAP)


def add_first(
    uow: UnitOfWork, organization_id: UUID, connection_id: UUID, made: MadeCertificate, *, valid_from: datetime
) -> None:
    """Give a connection its first key, unless it has one by now or is gone."""
    # So that the connection is not deleted in the meantime, and no other key comes in between.
    uow.organizations.lock(organization_id)
    connection = uow.upstream_connections.find(organization_id, connection_id)
    if connection is None or uow.connection_keys.active(organization_id, connection_id) is not None:
        return
    _make_active(uow, organization_id, connection_id, made, valid_from)


def require_rotatable(uow: UnitOfWork, slug: str, connection_id: UUID) -> None:
    """Authorize the change of a key before it is made; raise `ConnectionUnknown` or `NoKeyOfConnection`."""
    organization = authorize(uow, slug, Operation.CONNECTION_CONFIGURE).organization
    _require_saml(connections.found(uow.upstream_connections.find(organization.id, connection_id)))


def rotate(
    uow: UnitOfWork, slug: str, connection_id: UUID, made: MadeCertificate, *, valid_from: datetime
) -> SamlCertificate:
    """Make a new key the active one; the previous one no longer signs, and is published for some days more.

    Raise `ConnectionInForce` as a change does.
    """
    editor = Editor.of_caller(uow, slug, Operation.CONNECTION_CONFIGURE)
    connection = connections.found(uow.upstream_connections.find(editor.organization_id, connection_id))
    connections.require_may_change_it(uow, editor, connection)
    _require_saml(connection)
    certificate = _make_active(uow, editor.organization_id, connection.id, made, valid_from)
    changes.record(
        uow,
        editor,
        AuditAction.UPSTREAM_CONNECTION_UPDATED,
        connection,
        cause="key_rotated",
        certificate_id=str(certificate.id),
    )
    return certificate


def warn(uow: UnitOfWork, limit: int) -> int:
    """Mail the owners of at most `limit` connections whose key ends soon, once each; return how many."""
    ending = uow.connection_keys.claim_ending(before=uow.now + WARNING, at=uow.now, limit=limit)
    return key_certificates.warn(uow, ending, MailTemplate.CONNECTION_KEY_ENDING, kind="connection")


def _make_active(
    uow: UnitOfWork, organization_id: UUID, connection_id: UUID, made: MadeCertificate, valid_from: datetime
) -> SamlCertificate:
    certificate = SamlCertificate.of(made, uow.randomness.new_id(), valid_from=valid_from, at=uow.now)
    uow.connection_keys.replace_active(
        organization_id,
        connection_id,
        certificate,
        private_pem=made.private_pem,
        previous_published_until=uow.now + OVERLAP,
    )
    return certificate


def _require_saml(connection: ConnectionRecord) -> None:
    if not connection.is_saml:
        raise NoKeyOfConnection

"""The present metadata of a SAML connection's identity provider, and the request for a sign-in there."""

from datetime import datetime
from uuid import UUID

from core.key_certificates import MadeCertificate, SamlSigningKey
from core.saml.messages import OutgoingMessage
from core.sign_in.upstream.by_connection import ConnectionClosed
from core.sign_in.upstream.connections import connection_fields, connection_keys, metadata_validity
from core.sign_in.upstream.connections.connections import ConnectionRecord
from core.sign_in.upstream.saml import (
    MetadataExpired,
    MetadataUnusable,
    OwnMetadata,
    OwnSide,
    SamlDescription,
    SamlRequest,
    ServiceProvider,
)
from entrypoints.web.serving.calls import Call


async def current_description(call: Call, organization_id: UUID, connection: ConnectionRecord) -> SamlDescription:
    """Return the description in the metadata of a connection; raise `MetadataExpired` when they have ended.

    Metadata at an address are read again before that, because newer ones may be there. Their end is stored with the
    connection, for the warning before it.
    """
    gateway, metadata = call.installation.saml_connections, connection.metadata
    found = await gateway.describe(organization_id, metadata)
    if found.is_expired(call.installation.clock()) and metadata.url is not None:
        found = await gateway.describe(organization_id, metadata, is_fresh=True)
    if not connection_fields.is_protected(found.sso_url):
        raise MetadataUnusable("The SingleSignOnService of these metadata must have an https address.")
    if metadata_validity.differs(connection, found):
        await call.transact(metadata_validity.follow, organization_id, connection.id, found)
    if found.is_expired(call.installation.clock()):
        raise MetadataExpired
    return found


async def request_to(
    call: Call,
    organization_id: UUID,
    connection: ConnectionRecord,
    described: SamlDescription,
    *,
    request_id: str,
    relay_state: str,
) -> OutgoingMessage:
    """Return the request for a sign-in as a browser carries it to the identity provider of a connection.

    It is signed with the key of the connection if the identity provider wants that. Sign-ins, trials and checks all
    send this one.
    """
    key = await ensure_key(call, organization_id, connection.id) if described.wants_signed_requests else None
    content = SamlRequest(
        id=request_id,
        issued_at=call.installation.clock(),
        destination=described.sso_url,
        relay_state=relay_state,
        provider=ServiceProvider.of(call.installation.settings.base_url, connection.id),
        name_id_format=connection.asked_format,
        is_posted=described.takes_posts_alone,
    )
    return await call.installation.saml_connections.request(content, key)


async def make_key(call: Call, connection_id: UUID) -> tuple[MadeCertificate, datetime]:
    """Return a new key for a connection, and the time from which its certificate is valid."""
    # A certificate has whole seconds.
    valid_from = call.installation.clock().replace(microsecond=0)
    made = await call.installation.saml.make_certificate(f"connection {connection_id}", valid_from=valid_from)
    return made, valid_from


async def ensure_key(call: Call, organization_id: UUID, connection_id: UUID) -> SamlSigningKey:
    """Return the active key of a connection, which is made now if it has none; raise `ConnectionClosed`."""
    key = await call.read(connection_keys.active, organization_id, connection_id)
    if key is None:
        made, valid_from = await make_key(call, connection_id)
        await call.transact(connection_keys.add_first, organization_id, connection_id, made, valid_from=valid_from)
        # Another request may have made one at the same time.
        key = await call.read(connection_keys.active, organization_id, connection_id)
    if key is None:
        raise ConnectionClosed
    return key


async def own_metadata(call: Call, connection_id: UUID, side: OwnSide) -> bytes:
    """Return our metadata for the identity provider of a connection."""
    await ensure_key(call, side.organization_id, connection_id)
    certificates = await call.read(connection_keys.published, side.organization_id, connection_id)
    content = OwnMetadata(
        provider=ServiceProvider.of(call.installation.settings.base_url, connection_id),
        certificates=[one.public_key for one in certificates],
        signs_requests=side.signs_requests,
        valid_until=connection_keys.metadata_valid_until(certificates, at=call.installation.clock()),
    )
    return await call.installation.saml_connections.own_metadata(content)

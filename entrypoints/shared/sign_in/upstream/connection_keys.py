"""Making the key of a SAML connection, which takes a tenth of a second of a processor, outside the transaction."""

from datetime import datetime
from uuid import UUID

from core.key_certificates import MadeCertificate, SamlSigningKey
from core.sign_in.upstream import connection_keys
from core.sign_in.upstream.by_connection import ConnectionClosed
from core.sign_in.upstream.saml import OwnMetadata, OwnSide, ServiceProvider
from entrypoints.web.serving.calls import Call


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

"""The present metadata of a SAML connection's identity provider, and the request for a sign-in there."""

from uuid import UUID

from core.saml.messages import OutgoingMessage
from core.sign_in.upstream import connection_fields, metadata_validity
from core.sign_in.upstream.connections import ConnectionRecord
from core.sign_in.upstream.saml import (
    MetadataExpired,
    MetadataUnusable,
    SamlDescription,
    SamlRequest,
    ServiceProvider,
)
from entrypoints.shared.sign_in.upstream.connection_keys import ensure_key
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

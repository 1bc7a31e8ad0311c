"""What the identity provider of a SAML connection says of itself now, for a sign-in."""

from uuid import UUID

from core.sign_in.upstream import connection_wishes, metadata_validity
from core.sign_in.upstream.connections import ConnectionRecord
from core.sign_in.upstream.saml import MetadataExpired, MetadataUnusable, SamlDescription
from entrypoints.web.serving.calls import Call


async def current_description(call: Call, organization_id: UUID, connection: ConnectionRecord) -> SamlDescription:
    """Return what the metadata of a connection say; raise `MetadataExpired` when they have ended.

    Those at an address are read again before that, because newer ones may be there. What they say is stored with the
    connection, for the warning before they end.
    """
    gateway, metadata = call.installation.saml_connections, connection.metadata
    found = await gateway.describe(organization_id, metadata)
    if found.is_expired(call.installation.clock()) and metadata.url is not None:
        found = await gateway.describe(organization_id, metadata, is_fresh=True)
    if not connection_wishes.is_protected(found.sso_url):
        raise MetadataUnusable("The SingleSignOnService of these metadata must have an https address.")
    if metadata_validity.differs(connection, found):
        await call.transact(metadata_validity.follow, organization_id, connection.id, found)
    if found.is_expired(call.installation.clock()):
        raise MetadataExpired
    return found

"""What the provider of a connection says of itself."""

from uuid import UUID

import msgspec

from core.errors import BadRequest
from core.sign_in.upstream import connection_wishes
from core.sign_in.upstream.answers import UpstreamFailed
from core.sign_in.upstream.connections import ConnectionRecord, ConnectionWishes
from core.sign_in.upstream.saml import MetadataUnusable, SamlDescription, SamlMetadata, require_current
from core.wording import Wording
from entrypoints.web.serving.calls import Call


class ConnectionTested(msgspec.Struct, kw_only=True):
    """Whether the provider can be reached and describes itself as it should."""

    success: bool
    message: str


async def tested(call: Call, organization_id: UUID, connection: ConnectionRecord) -> ConnectionTested:
    """Ask the provider of a connection what it says of itself now."""
    if connection.issuer is None:
        return ConnectionTested(success=False, message="Set the metadata of the identity provider first.")
    try:
        if connection.is_saml:
            metadata = connection.metadata
            found = await call.installation.saml_connections.describe(organization_id, metadata, is_fresh=True)
            require_current(found, at=call.installation.clock())
        else:
            await call.installation.upstream_connections.discover(organization_id, connection.issuer, is_fresh=True)
    except MetadataUnusable as unusable:
        return ConnectionTested(success=False, message=unusable.problem)
    except UpstreamFailed as failed:
        return ConnectionTested(
            success=False,
            message=Wording(
                "%(problem)s Check that its address is right and can be reached, and try again.",
                problem=failed.problem or Wording("The provider did not answer as it should."),
            ),
        )
    return ConnectionTested(success=True, message="The provider can be reached, and describes itself as it should.")


async def described(call: Call, organization_id: UUID, wishes: ConnectionWishes) -> SamlDescription | None:
    """Return what the metadata of a wish say; raise `BadRequest` of its field when they cannot be used."""
    url, xml = connection_wishes.metadata_of(wishes, call.installation.settings.outbound_allowed)
    try:
        metadata = SamlMetadata(url=url, xml=xml)
        found = await call.installation.saml_connections.describe(organization_id, metadata, is_fresh=True)
        return require_current(found, at=call.installation.clock())
    except MetadataUnusable as unusable:
        raise BadRequest.of_field("metadata_xml" if url is None else "metadata_url", unusable.problem) from None
    except UpstreamFailed as failed:
        problem = failed.problem or Wording("Check the address.")
        explained = Wording("The metadata cannot be read there. %(problem)s", problem=problem)
        raise BadRequest.of_field("metadata_url", explained) from None

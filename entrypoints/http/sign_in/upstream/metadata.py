"""Our SAML metadata for the identity provider of a connection."""

from typing import Annotated
from uuid import UUID

from quart import Response

from core.rate_limits import RateLimit
from core.sign_in.upstream import by_connection
from core.sign_in.upstream.by_connection import ConnectionClosed
from core.sign_in.upstream.saml import ServiceProvider
from entrypoints.http.sign_in.upstream import upstream_providers
from entrypoints.web.serving.answers import EXAMPLE_URL, Media
from entrypoints.web.serving.calls import Call
from entrypoints.web.serving.credentials import public
from entrypoints.web.serving.routes import Routes

routes = Routes("upstream connections", upstream_providers.routes.description)

METADATA_TYPE = "application/samlmetadata+xml"
METADATA_EXAMPLE = f'<EntityDescriptor entityID="{EXAMPLE_URL}/auth/upstream/1/metadata">…</EntityDescriptor>'


@routes.get("/auth/upstream/:connection_id/metadata", limits=(RateLimit.SAML,), refuses=(ConnectionClosed,))
@public
async def show_own_metadata(
    call: Call, connection_id: UUID
) -> Annotated[Response, Media(METADATA_TYPE, example=METADATA_EXAMPLE)]:
    """Return the metadata of Gatehouse as the service provider of a connection, for its identity provider."""
    await call.read(by_connection.require_saml, connection_id)
    provider = ServiceProvider.of(call.installation.settings.base_url, connection_id)
    content = await call.installation.saml_connections.own_metadata(provider)
    return Response(content, content_type=METADATA_TYPE)
